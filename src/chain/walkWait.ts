import { lengthOf } from '../core/spans.js'
import type { Span } from '../model/chain.js'

/** How long a walk waits for one block, and for several. */
export interface WalkWait {
	readonly oneMs: number
	/** For the first several of all, when nothing has been read yet: some may be such as nobody can read. */
	readonly firstMs: number
	readonly severalMs: number
	/** More for each of several. */
	readonly eachMs: number
	/** For one block whose large answer goes on coming, where no other endpoint could give it. */
	readonly longestMs: number
	/** How long ago a large answer last went on coming; absent: another endpoint could be asked. */
	readonly sinceProgressMs?: () => number
}

export function waitOf(
	{ oneMs, firstMs, severalMs, eachMs }: WalkWait,
	isFirst: () => boolean,
	patience: (usualMs: number) => number,
): (span: Span) => number {
	return (span) => {
		if (span.from === span.to) return patience(oneMs)
		return patience(isFirst() ? firstMs : severalMs + eachMs * Number(lengthOf(span)))
	}
}

/**
 * How much longer a walk waits for one block, when it has waited so long: what comes would only be asked for once more.
 */
export function moreOf({ oneMs, longestMs, sinceProgressMs }: WalkWait): (span: Span, waitedMs: number) => number {
	return (span, waitedMs) => {
		if (sinceProgressMs === undefined || span.from !== span.to || waitedMs >= longestMs) return 0
		return Math.max(0, Math.ceil(oneMs - sinceProgressMs()))
	}
}
