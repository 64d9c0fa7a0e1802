import { findingAlerts } from '../../core/alerts/alert.js'
import { isCovered } from '../../core/matching/coverage.js'
import { finalityOf } from '../../core/target.js'
import type { Finding } from '../../kinds/list.js'
import type { Alert } from '../../model/alert.js'
import type { Part } from '../../model/chain.js'
import type { LookContext } from './look.js'

/** The alerts of a finding, from the context of the look. Alerts of blocks before the part are late. */
function alertsOfFinding(finding: Finding, part: Part, context: LookContext): readonly Alert[] {
	const { covered, head } = context
	return findingAlerts(finding, {
		network: context.network,
		watches: context.watches,
		isCovered: (watch, blockNumber) => isCovered(watch, covered.get(watch.address), blockNumber),
		finalityOf: (blockNumber) => finalityOf(blockNumber, head),
		detectedAtMs: context.nowMs,
		lateReason: (block) =>
			context.lateReason(block) ?? (block.number < part.span.from ? 'found when the books were closed' : null),
		checksum: context.checksum,
		...(context.repeats && { repeats: context.repeats }),
	})
}

/** Presents findings to `reconcile` in the form of a look: each finding under the ids of its alerts. */
export function sightOfFindings(findings: readonly Finding[], part: Part, context: LookContext) {
	const found = findings.map((finding) => ({ finding, alerts: alertsOfFinding(finding, part, context) }))
	const present = new Map<string, Finding>()
	for (const { finding, alerts } of found) for (const { data } of alerts) present.set(data.id, finding)
	return { span: part.span, present, alerts: found.flatMap(({ alerts }) => alerts) }
}
