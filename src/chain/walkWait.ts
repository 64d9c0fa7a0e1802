import { lengthOf } from '../core/spans.js'
import type { Span } from '../model/chain.js'

/** How long a walk waits for one block, and for several. */
export interface WalkWait {
	readonly oneMs: number
	readonly severalMs: number
	/** More for each of several. */
	readonly eachMs: number
}

export function waitOf({ oneMs, severalMs, eachMs }: WalkWait): (span: Span) => number {
	return (span) => (span.from === span.to ? oneMs : severalMs + eachMs * Number(lengthOf(span)))
}
