/** The token transfers that transactions hold; in slices, for a stranger fills a block with thousands of them. */

import { createTimeSlices, type TimeSlices } from '../../base/timeSlices.js'
import { isNativeCoin } from '../../core/nativeTokens.js'
import { type TxLogs, tokenEventSteps, topics } from '../../core/tokenLogs.js'
import type { AddressSet } from '../../model/chain.js'
import type { KnownTokens, TokenEvent } from '../../model/token.js'
import { addressTestOf } from '../traces/addressBitmap.js'
import { partiesOf } from './logSpans.js'

const TOPICS: ReadonlySet<string | undefined> = new Set(Object.values(topics))

interface Decoding {
	readonly chainId: number
	readonly known: KnownTokens
}

/** Of one transaction those that count. */
export async function eventsOf(
	tx: TxLogs,
	{ chainId, known }: Decoding,
	slices: TimeSlices,
	concerns: (event: TokenEvent) => boolean = () => true,
): Promise<readonly TokenEvent[]> {
	const steps = tokenEventSteps(tx, known)
	let step = steps.next()
	for (; step.done !== true; step = steps.next()) await slices.next()
	const events: TokenEvent[] = []
	for (const event of step.value) {
		if (slices.isOver()) await slices.next()
		if (!isNativeCoin(chainId, event.contract) && concerns(event)) events.push(event)
	}
	return events
}

/** Those of the addresses, in the order of the transactions. */
export async function eventsIn(
	txs: readonly TxLogs[],
	addresses: AddressSet,
	decoding: Decoding,
): Promise<readonly TokenEvent[]> {
	const slices = createTimeSlices()
	const isAsked = await addressTestOf(addresses, slices)
	const events: TokenEvent[] = []
	for (const tx of txs) {
		if (!(await mayConcern(tx))) continue
		const own = await eventsOf(tx, decoding, slices, ({ from, to }) => addresses.has(from) || addresses.has(to))
		for (const event of own) events.push(event)
	}
	return events

	/** Most transactions concern nobody: those are not decoded. */
	async function mayConcern({ logs }: TxLogs): Promise<boolean> {
		for (const one of logs) {
			if (slices.isOver()) await slices.next()
			if (!TOPICS.has(one.topics[0])) continue
			if (one.topics.length === 1 ? decoding.known.has(one.address) : partiesOf(one).some((party) => isAsked(party)))
				return true
		}
		return false
	}
}
