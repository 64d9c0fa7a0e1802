import { closedAt, closes, movementsOf, still } from '../core/books.js'
import { type Entry, entriesOf } from '../core/statement.js'
import { RpcError } from '../errors.js'
import type { Accounts } from '../model/books.js'
import type { Block, BlockRef, Part, Span, TxTrace } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'
import { type CloserLook, lookCloser } from './lookCloser.js'

/** One thing that a statement says, in its order. */
export type StatementItem =
	| { readonly item: 'opening'; readonly block: Block; readonly balanceWei: bigint }
	/** `balanceWei` is the opening balance with all entries so far: what the chain says of it shows at the end. */
	| { readonly item: 'entry'; readonly entry: Entry; readonly balanceWei: bigint }
	/** Moved, and nothing that any endpoint tells of explains it. It is no entry: no balance is corrected by it. */
	| { readonly item: 'unexplained'; readonly span: Span; readonly differenceWei: bigint; readonly why: string }
	/** Nothing can be said of these blocks by themselves. */
	| { readonly item: 'unproved'; readonly span: Span; readonly why: string }
	/** Everything up to this block has been said. */
	| { readonly item: 'read'; readonly to: bigint }
	/** By the node, and by the entries; they are equal when the books close. */
	| { readonly item: 'closing'; readonly block: Block; readonly balanceWei: bigint; readonly explainedWei: bigint }

export interface StatementPorts {
	/** Must also walk transactions that an address merely sent, or each of them costs a search. */
	readonly chain: Chain
	readonly accounts: Accounts
}

/** Nothing was passed over: a statement ends where a block cannot be read. */
const none = new Map<bigint, never>()

/** Balances that are asked for at once. */
const MOST_AT_ONCE = 8

/**
 * Every movement of an address over a span, each block that moves it checked against the balance after it. Part by
 * part: what was said is not kept. Throws RpcError; `no-data` where no endpoint has the state of these blocks (any
 * more).
 */
export async function* statementOf(
	address: Address,
	span: Span,
	{ chain, accounts }: StatementPorts,
	signal: AbortSignal,
): AsyncGenerator<StatementItem> {
	const only = new Set([address])
	const before = await needBlock(span.from - 1n)
	const openingWei = await balanceAt(before)
	yield { item: 'opening', block: before, balanceWei: openingWei }
	let book = closedAt(before.number, openingWei)
	let explainedWei = openingWei
	let feesAreKnown = accounts.feesAreKnown
	let last: Block = before
	for await (const part of chain.walk(span, only, signal)) {
		if (part.span.from === span.from && part.parentHash !== undefined && part.parentHash !== before.hash)
			throw moved(before.number)
		const movements = movementsOf(part.transactions, only, part.blocks.values())
		const refs = touchedBlocks(part, [...movements.keys()])
		const balances = await balancesAt(refs)
		for (const [index, ref] of refs.entries()) {
			const closingWei = balances[index] ?? 0n
			const movement = movements.get(ref.number)?.get(address) ?? still
			const block = blockOf(part, ref)
			if (closes(book.balanceWei, movement, closingWei)) {
				if (block !== null) {
					feesAreKnown ||= movement.posted[0] < 0n
					yield* entries(block, part.transactions, null, closingWei - book.balanceWei)
				}
			} else {
				const facts = { address, book, movements, feesAreKnown, gaps: none, mayWait: false }
				const suspect = { ...facts, to: ref, closingWei, scannedFrom: part.span.from }
				const closer = await lookCloser(suspect, { accounts, chain }, signal)
				feesAreKnown ||= closer.feesHeld
				yield* looked(closer, block, part, closingWei)
			}
			book = closedAt(ref.number, closingWei)
		}
		last = part.last
		yield { item: 'read', to: part.span.to }
	}
	yield { item: 'closing', block: last, balanceWei: book.balanceWei, explainedWei }

	function* entries(
		block: Block,
		transactions: readonly TxTrace[],
		postings: CloserLook['looked'][number]['postings'] | null,
		changeWei: bigint | null,
	): Generator<StatementItem> {
		for (const entry of entriesOf(address, { block, transactions, postings, changeWei })) {
			explainedWei += entry.changeWei
			yield { item: 'entry', entry, balanceWei: explainedWei }
		}
	}

	/** What a closer look found in the blocks up to one that moves the address, and that one. */
	function* looked(closer: CloserLook, end: Block | null, part: Part, closingWei: bigint): Generator<StatementItem> {
		const said = new Set<bigint>()
		for (const { block, postings, witness, changeWei } of closer.looked) {
			said.add(block.number)
			yield* entries(block, witness?.part.transactions ?? part.transactions, postings, changeWei)
		}
		if (end !== null && !said.has(end.number)) {
			const { lastFromWei } = closer
			yield* entries(end, part.transactions, null, lastFromWei === null ? null : closingWei - lastFromWei)
		}
		for (const finding of closer.findings) {
			if (finding.kind !== 'unexplained') continue
			const differenceWei = finding.closingWei - finding.openingWei - finding.explainedWei
			yield { item: 'unexplained', span: finding.span, differenceWei, why: finding.reason }
		}
		for (const { from, to, why } of closer.unproved) yield { item: 'unproved', span: { from, to }, why }
	}

	async function balancesAt(refs: readonly BlockRef[]): Promise<readonly bigint[]> {
		const all: bigint[] = []
		for (let at = 0; at < refs.length; at += MOST_AT_ONCE)
			all.push(...(await Promise.all(refs.slice(at, at + MOST_AT_ONCE).map(balanceAt))))
		return all
	}

	async function balanceAt({ number, hash }: BlockRef): Promise<bigint> {
		return (await accounts.balances([address], { number, hash }, signal)).get(address) ?? 0n
	}

	async function needBlock(number: bigint): Promise<Block> {
		const block = await chain.block(number, signal)
		if (block === null) throw moved(number)
		return block
	}
}

/** Those that move the address, and the last one, in order. */
function touchedBlocks(part: Part, numbers: readonly bigint[]): readonly BlockRef[] {
	const refs = new Map(part.transactions.map(({ block }) => [block.number, block] as const))
	for (const block of part.blocks.values()) refs.set(block.number, block)
	const touched = numbers.flatMap((number) => refs.get(number) ?? [])
	const inOrder = touched.filter(({ number }) => number !== part.last.number)
	return [...inOrder.sort((a, b) => (a.number < b.number ? -1 : 1)), part.last]
}

/** Null where nothing moves the address there. */
function blockOf(part: Part, { number }: BlockRef): Block | null {
	return part.blocks.get(number) ?? null
}

function moved(number: bigint): RpcError {
	return new RpcError(`block ${number} was replaced while the statement was made`, { kind: 'unsettled', endpoint: '' })
}
