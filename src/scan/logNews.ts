import { nextSlice } from '../base/waits/slices.js'
import { assetInWord } from '../core/alerts/asset.js'
import type { Difference } from '../core/reconcile/reconcile.js'
import type { Kind } from '../model/kind.js'
import type { Log } from '../model/ports.js'

/** Alerts of a step with a line each: a spammer makes thousands, and a slow reader would block the program. */
const mostLines = 1_000
/** Yield to other work after this many lines, which take some milliseconds. */
const linesAtOnce = 50

/** Logs and counts the announced alerts. */
export async function logNews(
	news: Difference['news'],
	{ counts, log }: { readonly counts: Record<Kind, number>; readonly log: Log },
): Promise<void> {
	let lines = 0
	for (const { alerts, revision } of news) {
		for (const { data, receivers } of alerts) {
			counts[data.kind]++
			if (++lines > mostLines) continue
			if (lines % linesAtOnce === 0) await nextSlice()
			const { id, kind, direction, value, blockNumber, late } = data
			const asset = assetInWord(data)
			log.info({ alert: id, kind, direction, value, asset, block: blockNumber, late, revision, receivers }, 'alert')
		}
	}
	if (lines <= mostLines) return
	log.info(
		{ alerts: lines - mostLines },
		'more than 1,000 alerts in one step: `tracewatch deliveries --sent` lists all of them',
	)
}
