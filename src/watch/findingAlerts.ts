import { findingAlerts } from '../core/bookAlerts.js'
import { isCovered } from '../core/coverage.js'
import type { Finding } from '../core/findings.js'
import { finalityOf } from '../core/target.js'
import type { Alert } from '../model/alert.js'
import type { Part } from '../model/chain.js'
import type { LookContext } from './look.js'

/** The alerts of a finding, in the words of the look at a part; of blocks before the part they are late. */
export function alertsOfFinding(finding: Finding, part: Part, context: LookContext): readonly Alert[] {
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
	})
}
