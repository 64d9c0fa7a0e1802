/** Reads the headers between the ends of a span that was read by filters; they are needed for withdrawals only. */

import { cut } from '../../core/lists.js'
import type { AddressSet } from '../../model/chain.js'
import type { Rpc } from '../rpc/rpc.js'
import { type Header, unsettled } from '../wire/wire.js'
import { askAll, blockCall, needBlock } from './batchedCalls.js'
import { payingBlocks, type WithdrawalLists } from './withdrawals.js'

export interface Ends {
	readonly from: Header
	readonly to: Header
}

/** The part of a header that is kept: in a long span all whole headers would take too much memory. */
type Link = Pick<Header, 'number' | 'hash' | 'parentHash'>

export interface Between {
	readonly links: readonly Link[]
	/** Empty where the span is too long to keep them. */
	readonly headers: readonly Header[]
	/** Of blocks that pay one of the addresses. */
	readonly paying: readonly Header[]
}

export const nothingBetween: Between = { links: [], headers: [], paying: [] }

/** Headers in one request: 2 MB of answer where blocks are full. */
const MOST_AT_ONCE = 100
/** Requests at the same time. */
const REQUESTS = 4
/** Whole headers are kept for the next reader in spans of up to 500 blocks: 10 MB where blocks are full. */
const MOST_KEPT = 500n

/** Whether blocks between these may pay withdrawals. The ends were passed to `needWithdrawals` before. */
export function mayPayBetween(lists: WithdrawalLists, { from, to }: Ends): boolean {
	if (!lists.mayBePaid || to.number - from.number < 2n) return false
	const isBefore = lists.rootsFit && [from, to].every((end) => end.withdrawalsRoot === null)
	return !isBefore
}

interface Wanted {
	/** Blocks whose headers are read elsewhere. */
	readonly spared: ReadonlySet<bigint>
	readonly addresses: AddressSet
	readonly lists: WithdrawalLists
}

/** Reads the headers between two known ones, a call each: other ways need the state of old blocks. Throws RpcError. */
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
		await Promise.all(cut(numbers, MOST_AT_ONCE).map(read))
		numbers = []
	}
	await Promise.all(cut(numbers, MOST_AT_ONCE).map(read))
	return { links, headers, paying }
}

/** Throws `unsettled` if consecutive blocks do not follow each other. */
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
