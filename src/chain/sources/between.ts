/** Headers that nothing but what they pay needs: of the blocks between the ends of a span that was read by filters. */

import type { AddressSet } from '../../model/chain.js'
import { payingBlocks, type WithdrawalLists } from '../balances/withdrawals.js'
import type { Rpc } from '../rpc/rpc.js'
import { type Header, unsettled } from '../wire.js'
import { askAll, blockCall, needBlock } from './ask.js'

export interface Ends {
	readonly from: Header
	readonly to: Header
}

/** What is left of a header that has been looked at: a long span has more of them than memory should hold. */
type Link = Pick<Header, 'number' | 'hash' | 'parentHash'>

export interface Between {
	readonly links: readonly Link[]
	/** None where the span is too long to keep them. */
	readonly headers: readonly Header[]
	/** Of blocks that pay one of the addresses. */
	readonly paying: readonly Header[]
}

export const nothingBetween: Between = { links: [], headers: [], paying: [] }

/** Headers in one request: 2 MB of answer where blocks are full. */
const MOST_AT_ONCE = 100
/** Requests at the same time. */
const REQUESTS = 4
/** So many are kept for those who read the same blocks next: 10 MB where blocks are full. */
const MOST_KEPT = 500n

/** Whether blocks between these may pay somebody. The ends have been taken note of. */
export function mayPayBetween(lists: WithdrawalLists, { from, to }: Ends): boolean {
	if (!lists.mayBePaid || to.number - from.number < 2n) return false
	const isBefore = lists.rootsFit && [from, to].every((end) => end.withdrawalsRoot === null)
	return !isBefore
}

interface Wanted {
	/** Blocks whose headers somebody else asks for. */
	readonly spared: ReadonlySet<bigint>
	readonly addresses: AddressSet
	readonly lists: WithdrawalLists
}

/**
 * Asks for the headers between two that are known. One question a block: there is no other way that does not need the
 * state of old blocks. Throws RpcError.
 */
export async function readBetween(
	rpc: Rpc,
	{ from: first, to: last }: Ends,
	{ spared, addresses, lists }: Wanted,
	signal: AbortSignal,
): Promise<Between> {
	const links: Link[] = []
	const headers: Header[] = []
	const paying: Header[] = []
	const areKept = last.number - first.number < MOST_KEPT
	async function read(numbers: readonly bigint[]): Promise<void> {
		const answers = await askAll(rpc, numbers.map(blockCall), signal)
		const found = numbers.map((number, at) => needBlock(answers[at], number, rpc.endpoint))
		paying.push(...payingBlocks(lists, found, addresses, rpc.endpoint))
		if (areKept) headers.push(...found)
		for (const { number, hash, parentHash } of found) links.push({ number, hash, parentHash })
	}

	let numbers: bigint[] = []
	for (let number = first.number + 1n; number < last.number; number++) {
		if (!spared.has(number)) numbers.push(number)
		if (numbers.length < REQUESTS * MOST_AT_ONCE) continue
		await Promise.all([...chunks(numbers)].map(read))
		numbers = []
	}
	await Promise.all([...chunks(numbers)].map(read))
	return { links, headers, paying }
}

function* chunks(numbers: readonly bigint[]): Generator<readonly bigint[]> {
	for (let at = 0; at < numbers.length; at += MOST_AT_ONCE) yield numbers.slice(at, at + MOST_AT_ONCE)
}

/** Throws `unsettled` when two that should follow each other do not. */
export function checkChain(links: readonly Link[], endpoint: string): void {
	let before: Link | null = null
	for (const link of links.toSorted((one, other) => Number(one.number - other.number))) {
		if (before !== null && link.number === before.number + 1n && link.parentHash !== before.hash) {
			const reading = { endpoint, method: 'eth_getBlockByNumber' }
			throw unsettled(reading, `block ${link.number} does not follow block ${before.number}`)
		}
		before = link
	}
}
