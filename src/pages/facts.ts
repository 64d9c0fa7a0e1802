/** What the pages are made of: handed in by the daemon, read at the moment that somebody asks. */

import type { Message } from '../model/alert.js'
import type { Delivery } from '../model/delivery.js'
import type { Address, Clock } from '../model/glossary.js'
import type { NetworkHealth } from '../model/health.js'
import type { HistoryReader } from '../model/history.js'
import type { Announcement, StateSummary } from '../model/state.js'
import type { Silence, WatchSet } from '../model/watch.js'
import type { Activity } from './activity.js'

export interface NetworkFacts {
	readonly name: string
	readonly chainId: number
	readonly symbol: string
	readonly decimals: number
	/** Hosts, in order of preference. */
	readonly endpoints: readonly string[]
}

export interface ReceiverFacts {
	readonly name: string
	readonly type: string
	/** Host; nothing that is secret. */
	readonly place: string
	readonly fallback: string | null
	readonly silences: readonly Silence[]
}

/** A watch's book as the last commit left it. */
export interface BookFacts {
	readonly block: bigint
	readonly balanceWei: bigint
}

export interface PageFacts {
	readonly version: string
	readonly clock: Clock
	readonly startedAtMs: number
	/** Name of the file, and when the watchlists in effect were read. */
	readonly config: { readonly path: string; readonly loadedAtMs: number; readonly isRefused: boolean }
	readonly networks: readonly NetworkFacts[]
	readonly receivers: readonly ReceiverFacts[]
	readonly watches: WatchSet
	health(): Promise<{
		readonly ok: boolean
		readonly reason: string | null
		/** The same, one by one. */
		readonly reasons?: readonly string[]
		readonly networks: readonly NetworkHealth[]
	}>
	summary(): Promise<StateSummary>
	/** The outbox, in order of posting. */
	deliveries(): Promise<readonly Delivery[]>
	/** Null: none is kept. */
	readonly history: HistoryReader | null
	readonly activity: Activity
	book(network: string, address: Address): BookFacts | null
	announcements(network: string): Iterable<Announcement>
	/** One sentence for a person. */
	says(message: Message): string
	/** Whether such a sentence must not be overlooked. */
	isAlarming(said: string): boolean
	checksum(address: Address): string
}
