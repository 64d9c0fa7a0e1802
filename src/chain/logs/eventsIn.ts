/** Token transfers, and who rules contracts, from logs; in time slices: an attacker can fill a block with thousands. */

import { inSteps, isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { controlEventOf, isControlLog } from '../../core/events/controlLogs.js'
import { isNativeCoin } from '../../core/events/nativeTokens.js'
import { type TxLogs, tokenEventSteps, topics } from '../../core/events/tokenLogs.js'
import type { AddressSet } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { ControlChanged } from '../../model/kind.js'
import type { KnownTokens, TokenEvent } from '../../model/token.js'
import { addressTestOf } from '../traces/addressBitmap.js'
import { partiesOf } from './logSpans.js'

const TOPICS: ReadonlySet<string | undefined> = new Set(Object.values(topics))

interface Decoding {
	readonly chainId: number
	readonly known: KnownTokens
}

/** The token transfers of one transaction that `concerns` accepts. */
export async function eventsOf(
	tx: TxLogs,
	{ chainId, known }: Decoding,
	concerns: (event: TokenEvent) => boolean = () => true,
): Promise<readonly TokenEvent[]> {
	const events: TokenEvent[] = []
	for (const event of await inSteps(tokenEventSteps(tx, known))) {
		if (isSliceOver()) await nextSlice()
		if (!isNativeCoin(chainId, event.contract) && concerns(event)) events.push(event)
	}
	return events
}

export interface Wanted {
	/** Their token transfers; empty: none are wanted. */
	readonly addresses: AddressSet
	/** Their own logs that tell who rules them. */
	readonly contracts: ReadonlySet<Address>
}

export type LogEvent = TokenEvent | ControlChanged

/** The wanted events, in the order of the transactions. */
export async function eventsIn(
	txs: readonly TxLogs[],
	{ addresses, contracts }: Wanted,
	decoding: Decoding,
): Promise<readonly LogEvent[]> {
	const isAsked = await addressTestOf(addresses)
	const events: LogEvent[] = []
	for (const tx of txs) {
		if (addresses.size > 0 && (await mayConcern(tx))) {
			const own = await eventsOf(tx, decoding, ({ from, to }) => addresses.has(from) || addresses.has(to))
			for (const event of own) events.push(event)
		}
		if (contracts.size === 0) continue
		for (const [index, log] of tx.logs.entries()) {
			if (isSliceOver()) await nextSlice()
			const event = isControlLog(log, contracts) ? controlEventOf(tx, log, index) : null
			if (event !== null) events.push(event)
		}
	}
	return events

	/** Most transactions touch no watched address and are not decoded. */
	async function mayConcern({ logs }: TxLogs): Promise<boolean> {
		for (const one of logs) {
			if (isSliceOver()) await nextSlice()
			if (!TOPICS.has(one.topics[0])) continue
			if (one.topics.length === 1 ? decoding.known.has(one.address) : partiesOf(one).some((party) => isAsked(party)))
				return true
		}
		return false
	}
}
