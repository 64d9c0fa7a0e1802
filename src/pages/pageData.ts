/** The data of the pages. The daemon provides it; it is read at the time of each request. */

import type { Message } from '../model/alert.js'
import type { Delivery, Outcome } from '../model/delivery.js'
import type { Address, Clock } from '../model/glossary.js'
import type { HistoryReader } from '../model/history.js'
import type { NetworkState, StateSummary } from '../model/state.js'
import type { Health } from '../model/trouble.js'
import type { WatchChanges, WatchSet } from '../model/watch.js'

export interface NetworkFacts {
	readonly name: string
	readonly chainId: number
	readonly symbol: string
	readonly decimals: number
	/** Without a trailing slash; null: no links. */
	readonly explorer: string | null
	/** Hosts in order of preference. */
	readonly endpoints: readonly string[]
}

export interface ReceiverFacts {
	readonly name: string
	readonly type: string
	/** The host; contains no secret. */
	readonly place: string
	readonly fallback: string | null
}

export interface LastAnswer {
	readonly atMs: number
	readonly result: Outcome['result']
	readonly words: string
}

export interface PageFacts {
	readonly version: string
	readonly clock: Clock
	readonly startedAtMs: number
	/** Path of the configuration file, and the time when the current watchlists were read. */
	readonly config: {
		readonly path: string
		readonly loadedAtMs: number
		readonly isRefused: boolean
		readonly changed?: WatchChanges | null
	}
	readonly networks: readonly NetworkFacts[]
	readonly receivers: readonly ReceiverFacts[]
	readonly watches: WatchSet
	health(): Promise<Health>
	summary(): Promise<StateSummary>
	/** The outbox, oldest first. */
	deliveries(): Promise<readonly Delivery[]>
	/** Null: no history is kept. */
	readonly history: HistoryReader | null
	/** Host of the endpoint that answered last; null before the first answer. */
	endpoint(network: string): string | null
	/** Null before the first attempt since this process started. */
	lastAnswer(receiver: string): LastAnswer | null
	/** As of the last commit; null before the first. */
	state(network: string): Pick<NetworkState, 'announcements' | 'books' | 'contracts'> | null
	/** Describes a message in one sentence. */
	says(message: Message): string
	/** Whether such a sentence is highlighted. */
	isAlarming(said: string): boolean
	checksum(address: Address): string
}
