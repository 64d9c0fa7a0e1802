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
