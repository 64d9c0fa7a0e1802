/**
 * Balances by block access lists alone (EIP-7928): a list tells what each account that the block changed has
 * afterwards, and of whom it does not name, that he has what he had. So nobody is asked about an address.
 */

import { closingIn } from '../core/accessList.js'
import { type Movements, still } from '../core/books.js'
import { RpcError } from '../errors.js'
import type { Accounts, Balances, Posting } from '../model/books.js'
import type { BlockRef, Part, TxTrace } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'
import type { BlockLists } from './accessLists.js'
import type { AskedBalances } from './askBalances.js'

/** What blocks pay without a frame, for all watches; null: it is not known. */
export type BlockPostings = ReadonlyMap<bigint, readonly Posting[] | null>

export interface ListedBalances {
	readonly asked: AskedBalances
	/** As these lists tell it: nobody else is asked but for witnesses of whole blocks. */
	readonly accounts: Accounts
	readonly chain: Pick<Chain, 'walk' | 'block'>
}

/**
 * Balances after each block for those whom it moves, by its list or by its frames. `openings`: of those whose balance
 * before the part is known; who is in neither is left out.
 */
export function listedBalances(
	part: Part,
	lists: BlockLists,
	movements: Movements,
	openings: Balances,
	postings: BlockPostings,
	ports: { readonly accounts: Accounts; readonly chain: Pick<Chain, 'walk' | 'block'> },
): ListedBalances {
	const points = new Map<Address, { readonly number: bigint; readonly wei: bigint }[]>()
	for (const [address, wei] of openings) points.set(address, [{ number: part.span.from - 1n, wei }])
	const blocks: AskedBalances['blocks'][number][] = []
	for (const { block, changes } of lists) {
		const moved = movements.get(block.number) ?? new Map()
		const balances = new Map<Address, bigint>()
		for (const address of moved.keys()) {
			const own = points.get(address) ?? []
			const wei = closingIn(changes, address) ?? own.at(-1)?.wei
			if (wei === undefined) continue
			own.push({ number: block.number, wei })
			points.set(address, own)
			balances.set(address, wei)
		}
		blocks.push({ ref: { number: block.number, hash: block.hash }, movements: moved, balances })
	}

	const balanceAt = (address: Address, { number }: BlockRef) =>
		points.get(address)?.findLast((point) => point.number <= number)?.wei
	const headers = new Map(lists.map(({ block }) => [block.number, block]))
	return {
		asked: { blocks, openings: new Map(), all: movements },
		accounts: {
			...ports.accounts,
			async balances(addresses, ref) {
				return new Map(
					addresses.flatMap((address) => {
						const wei = balanceAt(address, ref)
						return wei === undefined ? [] : [[address, wei] as const]
					}),
				)
			},
			balanceByEach: async () => [],
			async postings({ number }, addresses) {
				const all = postings.get(number) ?? null
				if (all === null) {
					const why = `nobody tells what transactions of block ${number} cost`
					throw new RpcError(why, { kind: 'no-data', endpoint: '' })
				}
				return all.filter(({ address }) => addresses.has(address))
			},
		},
		chain: {
			walk: ports.chain.walk,
			block: async (number, signal) => headers.get(number) ?? ports.chain.block(number, signal),
		},
	}
}

/** Transactions with their fees, as far as these postings tell them. */
export function withFees(transactions: readonly TxTrace[], postings: BlockPostings): readonly TxTrace[] {
	return transactions.map((tx) => {
		if (tx.fee !== undefined || tx.txHash === null) return tx
		const fee = postings.get(tx.block.number)?.find(({ kind, txHash }) => kind === 'fee' && txHash === tx.txHash)
		return fee === undefined ? tx : { ...tx, fee: { payer: fee.address, wei: [-fee.wei[0], -fee.wei[1]] } }
	})
}

/** Those whom these blocks cost or pay something besides their frames are looked at, too. */
export function withPosted(movements: Movements, postings: BlockPostings): Movements {
	const all = new Map([...movements].map(([number, moved]) => [number, new Map(moved)]))
	for (const [number, list] of postings) {
		for (const { address } of list ?? []) {
			const moved = all.get(number) ?? new Map()
			if (!moved.has(address)) moved.set(address, still)
			all.set(number, moved)
		}
	}
	return all
}
