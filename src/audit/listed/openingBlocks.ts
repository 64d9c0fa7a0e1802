/**
 * Checks the block that opens a book of a private network. The watch's balance before it is unknown. But each
 * transaction after the first one that the list names is compared with the frames, and a first transaction without
 * frames for the watch hid something.
 */

import { still } from '../../core/ledger/books.js'
import { movementsByIndex, type TxDifference, txDifferences } from '../../core/ledger/txDifferences.js'
import type { Announced, Proof } from '../../core/reconcile/refuted.js'
import { RpcError } from '../../errors.js'
import type { Unexplained } from '../../kinds/unexplained.js'
import type { Accounts, BlockChanges, Posting, Unproved } from '../../model/books.js'
import type { AddressSet, Block, TxTrace } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import { type BlockLists, differencesInWords, tracedBlockOf } from '../accessLists.js'
import type { BooksDraft } from '../booksDraft.js'
import type { BlockPostings } from './listedBalances.js'

/** The first access list that names a watch without a book. */
export interface Opening {
	readonly address: Address
	readonly block: Block
	readonly changes: BlockChanges
}

export interface OpeningFacts {
	readonly transactions: readonly TxTrace[]
	readonly postings: BlockPostings
	readonly feesAreKnown: boolean
	/** First block of an address that is watched without `from_block`. */
	readonly since: (address: Address) => bigint
	readonly announced: Announced
}

export interface OpeningNews {
	readonly findings: readonly Unexplained[]
	readonly witnessed: readonly Proof[]
	readonly unproved: readonly Unproved[]
}

const NOTHING_TOLD =
	'its balance changed without a reported movement; the amount is not known, since its book begins in this block'

export function openingsIn(lists: BlockLists, kept: AddressSet, draft: BooksDraft): readonly Opening[] {
	const openings = new Map<Address, Opening>()
	for (const { block, changes } of lists) {
		for (const address of changes.balances.keys()) {
			if (!kept.has(address) || openings.has(address) || draft.get(address) !== null) continue
			openings.set(address, { address, block, changes })
		}
	}
	return [...openings.values()]
}

/** Finds movements that blocks hide in which books are opened. */
export async function hiddenInOpenings(
	openings: readonly Opening[],
	{ transactions, postings, feesAreKnown, since, announced }: OpeningFacts,
	accounts: Accounts,
	signal: AbortSignal,
): Promise<OpeningNews> {
	const findings: Unexplained[] = []
	const witnessed: Proof[] = []
	const unproved: Unproved[] = []
	for (const opening of openings) {
		const { address, block, changes } = opening
		const posted = postings.get(block.number) ?? null
		const own = posted?.filter((one) => one.address === address)
		// What the chain itself pays cannot be attributed to a transaction.
		if (own === undefined || own.some(({ kind }) => kind !== 'fee') || (own.length > 0 && !feesAreKnown)) continue
		const seen = heldAgainst(opening, transactions, own)
		if (seen === null || (seen.isTold && seen.differences.length === 0)) continue
		const witness = await witnessOf(opening, own)
		if (witness !== null) {
			witnessed.push(witness)
			continue
		}
		const number = Number(block.number)
		if (!seen.isTold && since(address) <= block.number) {
			unproved.push({ fromBlock: number, toBlock: number, count: 1, addresses: [address], why: NOTHING_TOLD })
		}
		const { openingWei, differences } = seen
		if (differences.length === 0) continue
		const closingWei = changes.balances.get(address)?.at(-1)?.wei ?? openingWei
		const hiddenWei = differences.reduce((sum, { movedWei, seenWei }) => sum + movedWei - seenWei, 0n)
		findings.push({
			...{ kind: 'unexplained', address, block, span: { from: block.number, to: block.number } },
			...{ openingWei, closingWei, explainedWei: closingWei - openingWei - hiddenWei },
			endpoints: accounts.endpoints,
			reason: differencesInWords(differences),
		})
	}
	return { findings, witnessed, unproved }

	async function witnessOf(opening: Opening, own: readonly Posting[]): Promise<Proof | null> {
		const { address, block } = opening
		try {
			const span = { from: block.number, to: block.number }
			for await (const witness of accounts.witnesses(span, announced.parties(address, block.number), signal)) {
				if (witness.part.last.hash !== block.hash) continue
				const seen = heldAgainst(opening, witness.part.transactions, own)
				if (seen?.isTold !== true || seen.differences.length > 0) continue
				return { ...witness, address, refutes: true }
			}
		} catch (error) {
			// Without a witness in time, the finding is announced.
			if (!(error instanceof RpcError) && !signal.aborted) throw error
		}
		return null
	}
}

interface Seen {
	/** Balance before the block, provided the frames of the first listed transaction are complete. */
	readonly openingWei: bigint
	/** Whether any frame or fee of the first listed transaction moves the watch. */
	readonly isTold: boolean
	readonly differences: readonly TxDifference[]
}

/** Compares an opening list with the frames. Null: no conclusion is possible. */
function heldAgainst(
	{ address, block, changes }: Opening,
	all: readonly TxTrace[],
	own: readonly Posting[],
): Seen | null {
	const first = changes.balances.get(address)?.[0]
	if (first === undefined || first.index === 0) return null
	if (block.author === address) return null
	const transactions = all.filter((tx) => tx.block.number === block.number)
	const traced = tracedBlockOf(block, transactions, address, own)
	const { tx = null, movement = still } = movementsByIndex(address, traced).get(first.index - 1) ?? {}
	if (movement.burnsWei.length > 0 || movement.posted[0] !== movement.posted[1]) return null
	const toldWei = movement.wei + movement.posted[0]
	const openingWei = first.wei - toldWei
	const isTold = toldWei !== 0n && openingWei >= 0n
	const basis = isTold ? openingWei : first.wei
	const hash = block.txHashes[first.index - 1]
	const rest = {
		...traced,
		transactions: transactions.filter((one) => one !== tx),
		postings: own.filter(({ txHash }) => txHash !== hash),
	}
	return {
		openingWei: basis,
		isTold,
		differences: txDifferences(address, changes, basis, isTold ? traced : rest),
	}
}
