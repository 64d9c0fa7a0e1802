/** Blocks whose logs nothing proves: kept in mind, few words for many. */

import type { UnprovedLogs, UnprovedRun } from '../model/token.js'

const MOST_RUNS = 20
/** Blocks that lie no further apart are of one run. */
const NEAR = 1_000

/** With more, which are in order. */
export function withUnprovedLogs(before: UnprovedLogs | undefined, more: readonly bigint[]): UnprovedLogs | undefined {
	if (more.length === 0) return before
	let runs = before?.runs ?? []
	for (const number of more.map(Number)) {
		const near = runs.find((run) => run.fromBlock <= number + NEAR && number <= run.toBlock + NEAR)
		const run = near === undefined ? { fromBlock: number, toBlock: number, blocks: 1 } : grown(near, number)
		runs = [...runs.filter((one) => one !== near), run].slice(-MOST_RUNS)
	}
	return { runs, blocks: (before?.blocks ?? 0) + more.length }
}

function grown({ fromBlock, toBlock, blocks }: UnprovedRun, number: number): UnprovedRun {
	return { fromBlock: Math.min(fromBlock, number), toBlock: Math.max(toBlock, number), blocks: blocks + 1 }
}

/** The latest first. */
export function* unprovedLogsInWords({ runs }: UnprovedLogs): Iterable<string> {
	for (const { fromBlock, toBlock, blocks } of [...runs].reverse()) {
		const which =
			fromBlock === toBlock ? `of block ${fromBlock}` : `of ${blocks} blocks from ${fromBlock} to ${toBlock}`
		yield `not proved: that no log ${which} is missing: one endpoint has told them, ` +
			'and their headers do not rule it out; a second endpoint or `log_proof: all` proves such blocks'
	}
}
