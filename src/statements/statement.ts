/** The room makes statements: it lists what moved an address over a span, and checks each line against balances. */

import { type Bisection, bisectDifference } from '../audit/bisectDifference.js'
import { blockAgain, replaced } from '../audit/blocks.js'
import { closedAt, closes, movementsOf, still } from '../core/ledger/books.js'
import { type Entry, entriesOf } from '../core/ledger/statementEntries.js'
import { nothingAnnounced } from '../core/reconcile/refuted.js'
import type { Accounts } from '../model/books.js'
import type { Block, BlockRef, Part, Span, TxTrace } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'

const DURING = 'the statement was made'

/** One item of a statement. Items come in the order of the chain. */
export type StatementItem =
	| { readonly item: 'opening'; readonly block: Block; readonly balanceWei: bigint }
	/** `balanceWei` is the opening balance plus all entries so far; the closing item compares it with the chain. */
	| { readonly item: 'entry'; readonly entry: Entry; readonly balanceWei: bigint }
	/** The balance moved, and no source of any endpoint explains it. This is no entry and corrects no balance. */
	| { readonly item: 'unexplained'; readonly span: Span; readonly differenceWei: bigint; readonly why: string }
	/** Nothing can be stated about these blocks individually. */
	| { readonly item: 'unproved'; readonly span: Span; readonly why: string }
	/** All items up to this block have been given. */
	| { readonly item: 'read'; readonly to: bigint }
	/** The balance by the node and the balance by the entries; they are equal when the books close. */
	| { readonly item: 'closing'; readonly block: Block; readonly balanceWei: bigint; readonly explainedWei: bigint }

export interface StatementPorts {
	/** Must be opened with `withSent`; otherwise each transaction that the address merely sent costs a search. */
	readonly chain: Chain
	readonly accounts: Accounts
}

/** A statement has no gaps: it ends where a block cannot be read. */
const none = new Map<bigint, never>()

/** Balances requested in parallel. */
const MOST_AT_ONCE = 8

/**
 * Every movement of an address over a span. Each block that moves it is checked against the balance after it. Works
 * part by part and keeps nothing it has given. Throws RpcError; `no-data` if no endpoint has the state of these blocks
 * (any more).
 */
export async function* statementOf(
	address: Address,
	span: Span,
	{ chain, accounts }: StatementPorts,
	signal: AbortSignal,
): AsyncGenerator<StatementItem> {
	const only = new Set([address])
	const before = await blockAgain(span.from - 1n, DURING, chain, signal)
	const [openingWei = 0n] = await balancesAt([before], address, accounts, signal)
	yield { item: 'opening', block: before, balanceWei: openingWei }
	let book = closedAt(before.number, openingWei)
	const lines = createLines(address, openingWei)
	let feesAreKnown = accounts.feesAreKnown
	let last: Block = before
	for await (const part of chain.walk(span, only, signal)) {
		if (part.span.from === span.from && part.parentHash !== undefined && part.parentHash !== before.hash)
			throw replaced(before.number, DURING)
		const movements = movementsOf(part.transactions, only, part.blocks.values())
		const refs = touchedBlocks(part, [...movements.keys()])
		const balances = await balancesAt(refs, address, accounts, signal)
		for (const [index, ref] of refs.entries()) {
			const closingWei = balances[index] ?? 0n
			const movement = movements.get(ref.number)?.get(address) ?? still
			const block = blockOf(part, ref)
			if (closes(book.balanceWei, movement, closingWei)) {
				if (block !== null) {
					feesAreKnown ||= movement.posted[0] < 0n
					yield* lines.entries(block, part.transactions, null, closingWei - book.balanceWei)
				}
			} else {
				const facts = {
					address,
					book,
					movements,
					feesAreKnown,
					gaps: none,
					mayWait: false,
					announced: nothingAnnounced,
				}
				const suspect = { ...facts, to: ref, closingWei, scannedFrom: part.span.from }
				const closer = await bisectDifference(suspect, { accounts, chain }, signal)
				feesAreKnown ||= closer.feesHeld
				yield* lines.bisected(closer, block, part, closingWei)
			}
			book = closedAt(ref.number, closingWei)
		}
		last = part.last
		yield { item: 'read', to: part.span.to }
	}
	yield { item: 'closing', block: last, balanceWei: book.balanceWei, explainedWei: lines.explainedWei() }
}

/** Writes entries, each with the balance after it: `openingWei` plus all entries so far. */
function createLines(address: Address, openingWei: bigint) {
	let explainedWei = openingWei

	function* entries(
		block: Block,
		transactions: readonly TxTrace[],
		postings: Bisection['looked'][number]['postings'] | null,
		changeWei: bigint | null,
	): Generator<StatementItem> {
		for (const entry of entriesOf(address, { block, transactions, postings, changeWei })) {
			explainedWei += entry.changeWei
			yield { item: 'entry', entry, balanceWei: explainedWei }
		}
	}

	/** Items from bisecting the range up to a block that moves the address, that block included. */
	function* bisected(closer: Bisection, end: Block | null, part: Part, closingWei: bigint): Generator<StatementItem> {
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

	return { entries, bisected, explainedWei: () => explainedWei }
}

async function balancesAt(
	refs: readonly BlockRef[],
	address: Address,
	accounts: Accounts,
	signal: AbortSignal,
): Promise<readonly bigint[]> {
	const balanceAt = async ({ number, hash }: BlockRef) =>
		(await accounts.balances([address], { number, hash }, signal)).get(address) ?? 0n
	const all: bigint[] = []
	for (let at = 0; at < refs.length; at += MOST_AT_ONCE)
		all.push(...(await Promise.all(refs.slice(at, at + MOST_AT_ONCE).map(balanceAt))))
	return all
}

/** The blocks that move the address, and the last one, in order. */
function touchedBlocks(part: Part, numbers: readonly bigint[]): readonly BlockRef[] {
	const refs = new Map(part.transactions.map(({ block }) => [block.number, block] as const))
	for (const block of part.blocks.values()) refs.set(block.number, block)
	const touched = numbers.flatMap((number) => refs.get(number) ?? [])
	const inOrder = touched.filter(({ number }) => number !== part.last.number)
	return [...inOrder.sort((a, b) => (a.number < b.number ? -1 : 1)), part.last]
}

/** The header in the part; null for a block that does not move the address. */
function blockOf(part: Part, { number }: BlockRef): Block | null {
	return part.blocks.get(number) ?? null
}
