import { assetInWord } from '../core/asset.js'
import type { Difference } from '../core/compare.js'
import type { Log } from '../model/ports.js'
import type { Kind } from '../model/watch.js'
import { yieldNow } from './inSteps.js'

/**
 * Alerts of one step that have a line each. A stranger makes thousands in one block, and whoever reads the log may be
 * slow: a line that cannot be written holds up everything.
 */
const mostLines = 1_000
/** Then others have a turn: some milliseconds. */
const linesAtOnce = 50

/** Says what was announced, and counts it. */
export async function logNews(
	news: Difference['news'],
	{ counts, log }: { readonly counts: Record<Kind, number>; readonly log: Log },
): Promise<void> {
	let lines = 0
	for (const { alerts, revision } of news) {
		for (const { data, receivers } of alerts) {
			counts[data.kind]++
			if (++lines > mostLines) continue
			if (lines % linesAtOnce === 0) await yieldNow()
			const { id, kind, direction, value, blockNumber, late } = data
			const asset = assetInWord(data)
			log.info({ alert: id, kind, direction, value, asset, block: blockNumber, late, revision, receivers }, 'alert')
		}
	}
	if (lines <= mostLines) return
	log.info({ alerts: lines - mostLines }, 'more alerts in one step than have a line each: `tracewatch history` has all')
}
