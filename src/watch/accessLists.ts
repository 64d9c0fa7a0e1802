import { closingIn, type TracedBlock, type TxDifference, txDifferences } from '../core/accessList.js'
import { type Movements, still } from '../core/books.js'
import type { Unexplained } from '../core/findings.js'
import { lengthOf, numbersOf } from '../core/spans.js'
import { RpcError } from '../errors.js'
import type { Accounts, BlockChanges, Witness } from '../model/books.js'
import type { AddressSet, Block, Part, TxTrace } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'
import type { CodeChange } from './delegations.js'
import { keyOf } from './settle.js'

/** Blocks of a part with what each changes, proved by its header; in order. */
export type BlockLists = readonly { readonly block: Block; readonly changes: BlockChanges }[]

/** Longer parts are not read block by block: they are far from the head. */
const MOST_BLOCKS = 16n

export interface ListPorts {
	readonly accounts: Accounts
	readonly chain: Chain
}

/** Empty where the chain has no access lists, or nobody gives them. */
export async function listsOf(part: Part, { accounts, chain }: ListPorts, signal: AbortSignal): Promise<BlockLists> {
	if (part.last.accessListHash === undefined || lengthOf(part.span) > MOST_BLOCKS) return []
	const lists: { block: Block; changes: BlockChanges }[] = []
	for (const number of numbersOf(part.span)) {
		const block =
			number === part.last.number ? part.last : (part.blocks.get(number) ?? (await chain.block(number, signal)))
		const changes = block === null ? null : await accounts.changes(block, signal)
		if (block !== null && changes !== null) lists.push({ block, changes })
	}
	return lists
}

/** With those whom a block moves although no frame says so: their books are closed at that block, too. */
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

/** With the blocks of lists: one in which no frame was seen is asked about at itself, not at the end of the part. */
export function withBlocks(part: Part, lists: BlockLists): Part {
	if (lists.length === 0) return part
	return { ...part, blocks: new Map([...part.blocks, ...lists.map(({ block }) => [block.number, block] as const)]) }
}

/** Whose code a block changes, but for those of whom that is known. */
export function listedCodes(lists: BlockLists, kept: AddressSet, known: readonly CodeChange[]): readonly CodeChange[] {
	return lists.flatMap(({ block, changes }) =>
		[...changes.codes.keys()].flatMap((address): CodeChange[] => {
			const isKnown = known.some(
				(one) => one.address === address && one.from < block.number && block.number <= one.to.number,
			)
			if (isKnown || !kept.has(address)) return []
			return [{ address, from: block.number - 1n, to: block, isListed: true }]
		}),
	)
}

export interface Compensation {
	readonly findings: readonly Unexplained[]
	readonly witnessed: readonly Witness[]
}

/**
 * What the sum of a block hides: transactions that moved a watch otherwise than was told, and that make up for each
 * other. `openings`: balances before the blocks that close as they were told, by `keyOf`.
 */
export async function compensations(
	part: Part,
	lists: BlockLists,
	{ kept, openings }: { readonly kept: AddressSet; readonly openings: ReadonlyMap<string, bigint> },
	accounts: Accounts,
	signal: AbortSignal,
): Promise<Compensation> {
	const findings: Unexplained[] = []
	const witnessed: Witness[] = []
	for (const { block, changes } of lists) {
		const transactions = part.transactions.filter((tx) => tx.block.number === block.number)
		for (const address of changes.balances.keys()) {
			const openingWei = openings.get(keyOf(address, block.number))
			if (openingWei === undefined || !kept.has(address)) continue
			const differences = txDifferences(address, changes, openingWei, tracedBlockOf(block, transactions, address))
			if (differences.length === 0) continue
			const witness = await witnessOf(block, address, changes, openingWei)
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

	async function witnessOf(block: Block, address: Address, changes: BlockChanges, openingWei: bigint) {
		const span = { from: block.number, to: block.number }
		try {
			for await (const witness of accounts.witnesses(span, new Set([address]), signal)) {
				if (witness.part.last.hash !== block.hash) continue
				const seen = tracedBlockOf(block, witness.part.transactions, address)
				if (txDifferences(address, changes, openingWei, seen).length === 0) return witness
			}
		} catch (error) {
			// No witness in time is none: what is known is told.
			if (!(error instanceof RpcError) && !signal.aborted) throw error
		}
		return null
	}
}

/** What these transactions tell of one block, to be checked against its list. */
export function tracedBlockOf(block: Block, transactions: readonly TxTrace[], address: Address): TracedBlock {
	const { withdrawals = [], txHashes, author = null } = block
	const paidWei = withdrawals.reduce((sum, one) => (one.address === address ? sum + one.wei : sum), 0n)
	return { transactions, txHashes, author, paidWei }
}

const MOST_NAMED = 5

/** Why a finding by an access list is one. */
export function differencesInWords(differences: readonly TxDifference[]): string {
	const each = differences.slice(0, MOST_NAMED).map(({ txIndex, txHash, movedWei, seenWei }) => {
		return `transaction ${txIndex}${txHash === null ? '' : ` (${txHash})`} moved ${movedWei} wei, told were ${seenWei}`
	})
	const more = differences.length - each.length
	const all = `${each.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
	return `by the block's access list its transactions did otherwise than was told: ${all}`
}
