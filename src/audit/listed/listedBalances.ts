/**
 * Derives balances from block access lists alone (EIP-7928). A list states the new balance of each account that the
 * block changed; other accounts keep theirs. No endpoint is asked about an address.
 */

import { type Movements, still } from '../../core/ledger/books.js'
import { closingIn } from '../../core/ledger/txDifferences.js'
import { RpcError } from '../../errors.js'
import type { Accounts, Balances, Posting } from '../../model/books.js'
import type { BlockRef, Part, TxTrace } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Chain } from '../../model/ports.js'
import type { BlockLists } from '../accessLists.js'
import type { AskedBalances } from '../asked/askBalances.js'

/** Postings of blocks, for all watches; null: they are unknown. */
export type BlockPostings = ReadonlyMap<bigint, readonly Posting[] | null>

export interface ListedBalances {
	readonly asked: AskedBalances
	/** Answers balances and postings from the lists; endpoints are asked only for witnesses of whole blocks. */
	readonly accounts: Accounts
	readonly chain: Pick<Chain, 'walk' | 'block'>
}

export interface ListedMovements {
	readonly lists: BlockLists
	readonly movements: Movements
	/** Known balances before the part. */
	readonly openings: Balances
	readonly postings: BlockPostings
}

/** Balances after each block of what its list or frames move; an address is left out until its balance is known. */
export function listedBalances(
	part: Part,
	{ lists, movements, openings, postings }: ListedMovements,
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
					const why = `no endpoint gives the fees of the transactions of block ${number}`
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

/** Adds fees to the transactions, as far as the postings contain them. */
export function withFees(transactions: readonly TxTrace[], postings: BlockPostings): readonly TxTrace[] {
	return transactions.map((tx) => {
		if (tx.fee !== undefined || tx.txHash === null) return tx
		const fee = postings.get(tx.block.number)?.find(({ kind, txHash }) => kind === 'fee' && txHash === tx.txHash)
		return fee === undefined ? tx : { ...tx, fee: { payer: fee.address, wei: [-fee.wei[0], -fee.wei[1]] } }
	})
}

/** Adds the addresses of postings to the movements, so that their balances are checked, too. */
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
