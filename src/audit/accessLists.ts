import { type Movements, still } from '../core/ledger/books.js'
import { closingIn, type TracedBlock, type TxDifference, txDifferences } from '../core/ledger/txDifferences.js'
import type { Announced, Proof } from '../core/reconcile/refuted.js'
import { lengthOf, numbersOf } from '../core/spans.js'
import { RpcError } from '../errors.js'
import type { Unexplained } from '../kinds/unexplained.js'
import type { Accounts, BlockChanges, Posting } from '../model/books.js'
import type { AddressSet, Block, Part, TxTrace } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'
import { headerIn } from './blocks.js'
import { type ClosedBlock, keyOf } from './closeBooks.js'
import type { CodeChange } from './delegations/delegations.js'

/** Access lists of a part's blocks, in order; each is verified against the block's header. */
export type BlockLists = readonly { readonly block: Block; readonly changes: BlockChanges }[]

/** Longer parts are far from the head, and their lists are not read. */
const MOST_BLOCKS = 16n

export interface ListPorts {
	readonly accounts: Accounts
	readonly chain: Chain
}

/** The access lists of a part. Blocks without an obtainable list are left out; empty where the chain has no lists. */
export async function listsOf(part: Part, { accounts, chain }: ListPorts, signal: AbortSignal): Promise<BlockLists> {
	if (part.last.accessListHash === undefined || lengthOf(part.span) > MOST_BLOCKS) return []
	const lists: { block: Block; changes: BlockChanges }[] = []
	for (const number of numbersOf(part.span)) {
		const block = await headerIn(part, number, chain, signal)
		const changes = block === null ? null : await changesOf(block, accounts, signal)
		if (block !== null && changes !== null) lists.push({ block, changes })
	}
	return lists
}

/** Null: no endpoint gives the list, or none gives the one of the header. */
export async function changesOf(
	block: Block,
	accounts: Pick<Accounts, 'changes'>,
	signal: AbortSignal,
): Promise<BlockChanges | null> {
	try {
		return await accounts.changes(block, signal)
	} catch (error) {
		if (!(error instanceof RpcError)) throw error
		return null
	}
}

/** Adds the watches that a list names but no frame moves: their books are closed at that block, too. */
export function withListed(movements: Movements, lists: BlockLists, kept: AddressSet): Movements {
	const all = new Map([...movements].map(([number, moved]) => [number, new Map(moved)]))
	for (const { block, changes } of lists) {
		for (const address of changes.balances.keys()) {
			if (!kept.has(address)) continue
			const moved = all.get(block.number) ?? new Map()
			if (!moved.has(address)) moved.set(address, still)
			all.set(block.number, moved)
		}
	}
	return all
}

/** Adds the lists' blocks, so that balances in a block without frames are read there, not at the end of the part. */
export function withBlocks(part: Part, lists: BlockLists): Part {
	if (lists.length === 0) return part
	return { ...part, blocks: new Map([...part.blocks, ...lists.map(({ block }) => [block.number, block] as const)]) }
}

/** Code changes of watches according to the lists, without those already known. */
export function listedCodes(lists: BlockLists, kept: AddressSet, known: readonly CodeChange[]): readonly CodeChange[] {
	return lists.flatMap(({ block, changes }) =>
		[...changes.codes].flatMap(([address, codes]): CodeChange[] => {
			const isKnown = known.some(
				(one) => one.address === address && one.from < block.number && block.number <= one.to.number,
			)
			if (isKnown || !kept.has(address)) return []
			return [{ address, from: block.number - 1n, to: block, listed: { block, codes } }]
		}),
	)
}

export interface Compensation {
	readonly findings: readonly Unexplained[]
	readonly witnessed: readonly Proof[]
}

export interface ClosedLists {
	readonly lists: BlockLists
	readonly kept: AddressSet
	/** The blocks that closed, by `keyOf`. */
	readonly closed: ReadonlyMap<string, ClosedBlock>
	/** What receipts say of these blocks, of all watches. Null: they were not read, or need not say what was paid. */
	readonly postings: ReadonlyMap<bigint, readonly Posting[] | null> | null
	readonly announced: Announced
}

/** Finds what a sum hides: transactions whose effects on a watch differ from the frames, but sum to zero. */
export async function compensations(
	part: Part,
	{ lists, kept, closed, postings, announced }: ClosedLists,
	accounts: Accounts,
	signal: AbortSignal,
): Promise<Compensation> {
	const findings: Unexplained[] = []
	const witnessed: Proof[] = []
	for (const { block, changes } of lists) {
		const transactions = part.transactions.filter((tx) => tx.block.number === block.number)
		for (const address of changes.balances.keys()) {
			const one = closed.get(keyOf(address, block.number))
			if (one === undefined || !kept.has(address)) continue
			const { openingWei } = one
			const paid = one.postings ?? postings?.get(block.number) ?? null
			const hiddenBy = (by: readonly TxTrace[]) =>
				txDifferences(address, changes, openingWei, tracedBlockOf(block, by, address, paid))
			const differences = hiddenBy(transactions)
			if (differences.length === 0) continue
			const witness = await witnessOf(block, address, hiddenBy)
			if (witness !== null) {
				witnessed.push(witness)
				continue
			}
			const closingWei = closingIn(changes, address) ?? openingWei
			findings.push({
				kind: 'unexplained',
				address,
				block,
				span: { from: block.number, to: block.number },
				openingWei,
				closingWei,
				explainedWei: closingWei - openingWei,
				endpoints: accounts.endpoints,
				reason: differencesInWords(differences),
			})
		}
	}
	return { findings, witnessed }

	async function witnessOf(
		block: Block,
		address: Address,
		hiddenBy: (by: readonly TxTrace[]) => readonly TxDifference[],
	) {
		const span = { from: block.number, to: block.number }
		try {
			for await (const witness of accounts.witnesses(span, announced.parties(address, block.number), signal)) {
				if (witness.part.last.hash !== block.hash) continue
				if (hiddenBy(witness.part.transactions).length > 0) continue
				return { ...witness, address, refutes: true }
			}
		} catch (error) {
			// Without a witness in time, the finding is announced.
			if (!(error instanceof RpcError) && !signal.aborted) throw error
		}
		return null
	}
}

/** The given transactions of one block, in the form compared with its access list. */
export function tracedBlockOf(
	block: Block,
	transactions: readonly TxTrace[],
	address: Address,
	postings: TracedBlock['postings'],
): TracedBlock {
	const { withdrawals = [], txHashes, author = null } = block
	const paidWei = withdrawals.reduce((sum, one) => (one.address === address ? sum + one.wei : sum), 0n)
	return { transactions, txHashes, author, paidWei, postings }
}

const MOST_NAMED = 5

export function differencesInWords(differences: readonly TxDifference[]): string {
	const each = differences.slice(0, MOST_NAMED).map(({ txIndex, txHash, movedWei, seenWei }) => {
		return `transaction ${txIndex}${txHash === null ? '' : ` (${txHash})`} moved ${movedWei} wei, reported: ${seenWei}`
	})
	const more = differences.length - each.length
	const all = `${each.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
	return `the block's access list contradicts the reported movements: ${all}`
}
