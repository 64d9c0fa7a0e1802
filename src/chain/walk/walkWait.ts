import { lengthOf } from '../../core/spans.js'
import type { Span } from '../../model/chain.js'

/** How long a walk waits for one block, and for several. */
export interface WalkWait {
	readonly oneMs: number
	/** For the first several blocks, when nothing has been read yet: some of them may be unreadable. */
	readonly firstMs: number
	readonly severalMs: number
	/** In addition, for each of several blocks. */
	readonly eachMs: number
	/** For one block whose large answer is still coming, if no other endpoint could give it. */
	readonly longestMs: number
	/** Milliseconds since data of a large answer last came; absent: another endpoint could be asked. */
	readonly sinceProgressMs?: () => number
}

export function waitOf(
	{ oneMs, firstMs, severalMs, eachMs }: WalkWait,
	isFirst: () => boolean,
	allowance: (usualMs: number) => number,
): (span: Span) => number {
	return (span) => {
		if (span.from === span.to) return allowance(oneMs)
		return allowance(isFirst() ? firstMs : severalMs + eachMs * Number(lengthOf(span)))
	}
}

/** How much longer a walk waits for one block after `waitedMs`: giving up would only request the same data again. */
export function moreOf({ oneMs, longestMs, sinceProgressMs }: WalkWait): (span: Span, waitedMs: number) => number {
	return (span, waitedMs) => {
		if (sinceProgressMs === undefined || span.from !== span.to || waitedMs >= longestMs) return 0
		return Math.max(0, Math.ceil(oneMs - sinceProgressMs()))
	}
}
