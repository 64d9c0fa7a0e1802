import type { ChainEvent } from '../model/alert.js'
import type { Address } from '../model/glossary.js'
import type { KnownTokens } from '../model/token.js'
import type { Direction, Watch, WatchIndex } from '../model/watch.js'
import { noTokens, tokenRefusal } from './tokenChoice.js'

/** One event as one watch sees it. */
export interface Match {
	readonly event: ChainEvent
	readonly watch: Watch
	readonly direction: Direction
	/** Receivers of the watch to which no earlier watch of the same address sends this event. */
	readonly receivers: readonly string[]
}

/** Whether a watch without `from_block`, or with it, is to be notified of this block; decided by its coverage. */
export type IsCovered = (watch: Watch, blockNumber: bigint) => boolean

/**
 * Who is to be notified of the events of one transaction, in the order of the events, then sender before recipient,
 * then the order of the watchlists. One hash look-up per address of an event, whatever the number of watches.
 */
export function match(
	events: readonly ChainEvent[],
	index: WatchIndex,
	isCovered: IsCovered,
	known: KnownTokens = noTokens,
): readonly Match[] {
	const matches: Match[] = []
	for (const event of events) {
		for (const { address, direction } of sides(event)) {
			const watches = index.get(address)
			if (watches === undefined) continue
			const reached = new Set<string>()
			for (const watch of watches) {
				if (refusal(watch, event, direction, known) !== null || !isCovered(watch, event.block.number)) continue
				const receivers = watch.receivers.filter((receiver) => !reached.has(receiver))
				if (receivers.length === 0) continue
				for (const receiver of receivers) reached.add(receiver)
				matches.push({ event, watch, direction, receivers })
			}
		}
	}
	return matches
}

/** The addresses of an event, each once, with the direction seen from it. */
export function sides(event: ChainEvent): readonly { readonly address: Address; readonly direction: Direction }[] {
	if (event.from === null) return [{ address: event.to, direction: 'in' }]
	if (event.from === event.to) return [{ address: event.to, direction: 'self' }]
	return [
		{ address: event.from, direction: 'out' },
		{ address: event.to, direction: 'in' },
	]
}

/** Why a watch's own rules keep an event back; null when they let it through. */
export type Refusal = 'direction' | 'kinds' | 'endowment' | 'min_value' | 'tokens' | 'zero' | 'min_amount'

/** The one rule of `min_value`, for what moved by frames and without. */
export function isEnough(wei: bigint, { minValueWei }: Pick<Watch, 'minValueWei'>): boolean {
	return wei >= minValueWei
}

/** Holds an event against a watch's own rules: kinds, direction, smallest value, tokens. */
export function refusal(
	watch: Watch,
	event: ChainEvent,
	direction: Direction,
	known: KnownTokens = noTokens,
): Refusal | null {
	if (watch.direction !== 'both' && watch.direction !== direction) return 'direction'
	if (!watch.kinds.includes(event.kind)) return 'kinds'
	if (event.kind === 'token') return tokenRefusal(watch, event, known)
	if (event.kind === 'deployment') return null
	// The deployment's alert carries the endowment already.
	const isEndowment = event.frameType === 'create' || event.frameType === 'create2'
	if (isEndowment && watch.kinds.includes('deployment')) return 'endowment'
	return isEnough(event.valueWei, watch) ? null : 'min_value'
}
