import type { BooksSummary, Unproved } from '../../model/books.js'
import type { UnprovedLogs } from '../../model/token.js'
import { unprovedLogsInWords } from './unprovedLogs.js'

/** How far the books of a network are, in one phrase. For undefined: no books are kept. */
export function booksInWords(books: BooksSummary | undefined): string {
	if (books === undefined) return 'not kept, so that it is not proved that nothing was missed'
	const { closedTo, closed, kept, reason, listed } = books
	if (kept === 0) return reason === null ? 'nothing to close' : `not kept, since ${reason}`
	const upTo = closedTo === null ? 'not closed yet:' : `closed up to block ${closedTo} for`
	const how =
		listed === undefined ? '' : `, by the access lists of all blocks since ${listed.from}; others open when they move`
	return `${upTo} ${closed} of ${kept} watches${how}${reason === null ? '' : `; not now: ${reason}`}`
}

/** What the books and logs of a network do not prove, a line each. Null: none are kept. */
export function* notProvedInWords(books: BooksSummary | null, logs: UnprovedLogs | null): Iterable<string> {
	for (const words of books === null ? [] : unprovedInWords(books)) yield `books ${words}`
	if (logs !== null) yield* unprovedLogsInWords(logs)
}

/** What is open and what is unproved, in one phrase each. */
export function* unprovedInWords({
	open,
	openCount,
	unopened = 0,
	unproved = [],
	round,
}: BooksSummary): Iterable<string> {
	if (round !== undefined) {
		yield `slow: each is closed once in ${round.blocks} blocks (${round.minutes} min): what was hidden meanwhile ` +
			'is found in its block only where a node keeps the state of that many blocks'
	}
	if (openCount > 0) {
		const parts = [
			...(unopened > 0 ? [`${unopened} without a book yet`] : []),
			...(openCount > unopened ? [`${openCount - unopened} that moved and wait for their balance`] : []),
		]
		yield `open: ${parts.join(', ')}: ${named(open, openCount)}`
	}
	for (const one of [...unproved].reverse()) yield `not proved: ${unprovedWords(one)}`
}

function unprovedWords({ fromBlock, toBlock, count, addresses, why }: Unproved): string {
	const blocks = fromBlock === toBlock ? `block ${fromBlock}` : `in blocks ${fromBlock} to ${toBlock}`
	if (addresses.length === 0) return `${blocks}, of every watch: ${why}`
	const times = count === addresses.length ? '' : `, ${count} times`
	return `${blocks}${times}, of ${named(addresses, Math.max(count, addresses.length))}: ${why}`
}

function named(addresses: readonly string[], count: number): string {
	return `${addresses.join(', ')}${count > addresses.length ? ', …' : ''}`
}
