/** Remembers blocks whose logs nothing proves; nearby blocks form one run. */

import type { UnprovedBlock, UnprovedLogs, UnprovedRun } from '../../model/token.js'

const MOST_RUNS = 20
/** Blocks at most this far apart belong to one run. */
const NEAR = 1_000

/** Adds blocks, which must be in order. */
export function withUnprovedLogs(
	before: UnprovedLogs | undefined,
	more: readonly UnprovedBlock[],
): UnprovedLogs | undefined {
	if (more.length === 0) return before
	let runs = before?.runs ?? []
	let blocks = before?.blocks ?? 0
	for (const { number: first, to = first, why } of more) {
		const [fromBlock, toBlock] = [Number(first), Number(to)]
		const length = toBlock - fromBlock + 1
		const isNear = (run: UnprovedRun) => run.fromBlock <= toBlock + NEAR && fromBlock <= run.toBlock + NEAR
		const near = runs.find((run) => run.why === why && isNear(run))
		const own = { fromBlock, toBlock, blocks: length, ...(why && { why }) }
		const run = near === undefined ? own : grown(near, own)
		blocks += length
		runs = [...runs.filter((one) => one !== near), run].slice(-MOST_RUNS)
	}
	return { runs, blocks }
}

function grown(run: UnprovedRun, { fromBlock, toBlock, blocks }: UnprovedRun): UnprovedRun {
	const [from, to] = [Math.min(run.fromBlock, fromBlock), Math.max(run.toBlock, toBlock)]
	return { ...run, fromBlock: from, toBlock: to, blocks: Math.min(run.blocks + blocks, to - from + 1) }
}

/** The latest run first. */
export function* unprovedLogsInWords({ runs }: UnprovedLogs): Iterable<string> {
	for (const { fromBlock, toBlock, blocks, why } of [...runs].reverse()) {
		const which =
			fromBlock === toBlock ? `of block ${fromBlock}` : `of ${blocks} blocks from ${fromBlock} to ${toBlock}`
		if (why === 'second look') yield `not read a second time: ${which.slice('of '.length)}: ${ONCE}`
		else if (why === 'audit') yield `not audited: ${which.slice('of '.length)}: ${ONCE}`
		else if (why === 'backfill') yield `backfill not proved: ${which.slice('of '.length)}: ${BACKFILL}`
		else if (why === 'self-destruct') yield `self-destruct not proved: ${which.slice('of '.length)}: ${BLANK}`
		else if (why === 'withdrawals') yield `withdrawals not proved: ${which.slice('of '.length)}: ${MALFORMED}`
		else if (why === 'authorisations') yield `delegations not covered: ${which.slice('of '.length)}: ${UNCOVERED}`
		else if (why === 'code') yield `foreign code not covered: ${which.slice('of '.length)}: ${UNJUDGED}`
		else yield `tokens not proved: that no log ${which} is missing: ${why === 'receipts' ? UNKNOWN : UNREAD}`
	}
}

const BACKFILL =
	'no balances prove that no movement is missing; an archive node keeps that state, and proves them when the watch ' +
	'is scanned again'
const BLANK =
	'a contract destroyed itself, the node names neither heir nor amount, and no balances prove that nothing ' + 'moved'
const MALFORMED =
	'their headers have withdrawals without index, validator, address or amount, which are not reported; where books ' +
	'are kept, the balance shows what they paid'
const UNREAD = 'one endpoint has given them, and their headers do not rule it out; a second endpoint proves such blocks'
const ONCE = 'no endpoint gives it again, most often since the node has pruned it; what was sent of it stands'
const UNCOVERED =
	'it has more authorisations (EIP-7702) than are read, or they could not be read: at most what the code of the ' +
	'watches shows after it is reported; look at its transactions, and at the code of the watches, with an explorer'
const UNJUDGED = 'a transaction in which a watch ran code of others could not be read: look at it with an explorer'
const UNKNOWN =
	'their receipts were read whole, but their headers name them in no way that this version knows; look for a newer one'
