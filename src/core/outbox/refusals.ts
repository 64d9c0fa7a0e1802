/**
 * What receivers refuse, and when a refused message is given up. A refusal may be about the message, a setting or a
 * quota, which cannot be known at once. Pure.
 */

import type { Delivery } from '../../model/delivery.js'
import type { StateSummary } from '../../model/state.js'

const MINUTE_MS = 60_000
export const LONGEST_REST_MS = 15 * MINUTE_MS
/** Refusals of one message before it is given up, and the time that they must span. */
const LEAST_REFUSALS = 3
const LEAST_SPAN_MS = 60 * MINUTE_MS
/** From this number on a receiver counts as failing: four failures of one message take over 20 s. */
const MANY_FAILURES = 4

/** How long nothing is sent after a refusal: a minute, then twice as long each time, at most a quarter of an hour. */
export function restMs(sinceMs: number, nowMs: number): number {
	return Math.min(LONGEST_REST_MS, MINUTE_MS + Math.max(0, nowMs - sinceMs))
}

/** Whether the receiver refuses this message alone. `acceptedAtMs`: when it last took another; null: unknown. */
export function isRefusedAlone({ refused }: Delivery, acceptedAtMs: number | null, nowMs: number): boolean {
	if (refused === undefined || acceptedAtMs === null || acceptedAtMs < refused.sinceMs) return false
	return refused.times + 1 >= LEAST_REFUSALS && nowMs - refused.sinceMs >= LEAST_SPAN_MS
}

/** One sentence for each receiver that refuses messages or has dead ones. `fallback`: null where unknown. */
export function refusalsInWords(
	summary: Pick<StateSummary, 'receivers'>,
	receivers: readonly { readonly name: string; readonly fallback: string | null }[],
): readonly string[] {
	return receivers.flatMap(({ name, fallback }) => {
		const { parked = 0, dead = 0, refused = 0, refusal } = summary.receivers.get(name) ?? {}
		const words = refusal === undefined ? '' : `: ${refusal}`
		const waiting = parked + refused
		const other = summary.receivers.get(fallback ?? '')
		const isFallbackFailing = (other?.parked ?? 0) > 0 || (other?.failedAttempts ?? 0) >= MANY_FAILURES
		const sent =
			fallback === null
				? ''
				: isFallbackFailing
					? `, and its fallback ${fallback} does not accept all messages either`
					: `; they also go to its fallback ${fallback}`
		const refuses =
			`${name} refuses ${parked > 0 ? 'all messages' : 'messages'} (${waiting} wait)${sent}${words}. ` +
			'To do: correct that at the receiver or in its settings; what waits is tried again within 15 minutes ' +
			'(later only where the receiver asked for that), or at once after a restart'
		const gone =
			`${name}: ${dead} ${dead === 1 ? 'message was' : 'messages were'} given up${waiting > 0 ? '' : words}. ` +
			'To do: `tracewatch deliveries` lists them; `tracewatch deliveries retry` sends them again, `drop` discards them'
		return [...(waiting > 0 ? [refuses] : []), ...(dead > 0 ? [gone] : [])]
	})
}

/** One sentence for each receiver or mailbox that is not among the configured ones, and has messages. */
export function unconfiguredInWords(
	summary: Pick<StateSummary, 'receivers'>,
	configured: readonly string[],
): readonly string[] {
	return [...summary.receivers].flatMap(([name, { pending, held, parked, dead }]) => {
		const count = pending + held + parked
		if (count + dead === 0 || configured.includes(name)) return []
		const parts = [
			...(count > 0 ? [`${count} ${count === 1 ? 'message waits' : 'messages wait'}`] : []),
			...(dead > 0 ? [`${dead} ${dead === 1 ? 'message was' : 'messages were'} given up`] : []),
		]
		const discards = count > 0 && dead > 0 ? ', which discards all of them' : ''
		return [
			`${parts.join(' and ')} for ${name}, which is not configured. To do: put it back, ` +
				`or \`tracewatch deliveries drop --all --receiver ${name.includes(' ') ? `'${name}'` : name}\`${discards}`,
		]
	})
}
