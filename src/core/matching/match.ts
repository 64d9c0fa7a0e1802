/** The room decides which watches an event concerns and from which block on, and limits floods. */

import { recordOf } from '../../kinds/all.js'
import type { Happened, Side } from '../../kinds/record.js'
import type { Refusal } from '../../kinds/refusal.js'
import { noTokens } from '../../kinds/tokenRules.js'
import type { ChainEvent } from '../../model/alert.js'
import type { KnownTokens } from '../../model/token.js'
import type { Direction, Watch, WatchIndex } from '../../model/watch.js'

export interface Match<E extends Happened = ChainEvent> {
	readonly event: E
	readonly watch: Watch
	readonly direction: Direction
	/** Receivers of the watch that no earlier watch of the same address already covers for this event. */
	readonly receivers: readonly string[]
}

/** Whether a watch, with or without `from_block`, gets alerts of this block, according to its coverage. */
export type IsCovered = (watch: Watch, blockNumber: bigint) => boolean

/** In the order of events, sender before recipient, then of the watchlists. One look-up per address of an event. */
export function match<E extends Happened>(
	events: readonly E[],
	index: WatchIndex,
	isCovered: IsCovered,
	known: KnownTokens = noTokens,
): readonly Match<E>[] {
	const matches: Match<E>[] = []
	for (const event of events) {
		const { isOfNow } = recordOf(event.kind)
		for (const { address, direction } of sides(event)) {
			const watches = index.get(address)
			if (watches === undefined) continue
			const reached = new Set<string>()
			for (const watch of watches) {
				if (refusal(watch, event, direction, known) !== null) continue
				if (!isOfNow && !isCovered(watch, event.block.number)) continue
				const receivers = watch.receivers.filter((receiver) => !reached.has(receiver))
				if (receivers.length === 0) continue
				for (const receiver of receivers) reached.add(receiver)
				matches.push({ event, watch, direction, receivers })
			}
		}
	}
	return matches
}

/** The addresses of an event, each once, with the direction as that address sees it. */
export function sides(event: Happened): readonly Side[] {
	return recordOf(event.kind).sides(event)
}

/** Why the rules of a watch suppress an event: direction, then kinds, then the kind's own rule; null: they do not. */
export function refusal(
	watch: Watch,
	event: Happened,
	direction: Direction,
	known: KnownTokens = noTokens,
): Refusal | null {
	const record = recordOf(event.kind)
	if (record.hasDirection && watch.direction !== 'both' && watch.direction !== direction) return 'direction'
	if (!watch.kinds.includes(event.kind)) return 'kinds'
	return record.refusal(event, watch, known)
}
