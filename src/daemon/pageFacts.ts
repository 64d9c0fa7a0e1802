import { basename } from 'node:path'
import { toChecksum } from '../config/address.js'
import type { Config } from '../config/load.js'
import type { ReceiverSettings } from '../config/settings/settings.js'
import { alertsOf, isHole } from '../core/history.js'
import type { HistoryReader } from '../model/history.js'
import type { Log, Store } from '../model/ports.js'
import type { NetworkState } from '../model/state.js'
import type { WatchSet } from '../model/watch.js'
import { isAlarming } from '../notify/text/alarms.js'
import { headline } from '../notify/text/sentence.js'
import { type Activity, bucketMs, buckets } from '../pages/activity.js'
import type { PageFacts } from '../pages/facts.js'
import type { Health } from './health.js'
import type { NoteState } from './noting.js'

/** What the pages know besides what they read at the moment. */
export interface PageNotes {
	readonly note: NoteState
	readonly states: ReadonlyMap<string, NetworkState>
}

export function createPageNotes(activity: Activity): PageNotes {
	const states = new Map<string, NetworkState>()
	return {
		states,
		note(network, state, announcements) {
			states.set(network, state)
			for (const { status, alerts } of announcements) {
				// Watches of one address in two watchlists have one alert.
				const [first] = alerts
				if (status === 'announced' && first !== undefined)
					activity.alerted(first.data, Date.parse(first.data.detectedAt))
			}
		},
	}
}

export interface PageFactsOptions {
	readonly config: Config
	readonly version: string
	readonly startedAtMs: number
	readonly inEffect: () => { readonly watches: WatchSet; readonly loadedAtMs: number; readonly isRefused: boolean }
	readonly store: Pick<Store, 'summary' | 'deliveries'>
	readonly history: HistoryReader | null
	readonly health: () => Promise<Health>
	readonly activity: Activity
	readonly notes: PageNotes
}

export function createPageFacts(options: PageFactsOptions): () => PageFacts {
	const { config, version, startedAtMs, inEffect, store, history, health, activity, notes } = options
	const networks = config.networks.map(({ name, chainId, symbol, decimals, rpc }) => ({
		...{ name, chainId, symbol, decimals },
		endpoints: rpc.map((url) => new URL(url).host),
	}))
	const receivers = config.receivers.map((one) => ({
		...{ name: one.name, type: one.type, place: placeOf(one), fallback: one.fallback, silences: one.silences },
	}))
	return () => {
		const { watches, loadedAtMs, isRefused } = inEffect()
		return {
			...{ version, clock: Date.now, startedAtMs, networks, receivers, watches, health, history, activity },
			config: { path: basename(config.path), loadedAtMs, isRefused },
			summary: () => store.summary(),
			deliveries: () => store.deliveries(),
			book: (network, address) => notes.states.get(network)?.books.get(address) ?? null,
			announcements: (network) => notes.states.get(network)?.announcements.values() ?? [],
			says: headline,
			isAlarming,
			checksum: toChecksum,
		}
	}
}

function placeOf(receiver: ReceiverSettings): string {
	return new URL(receiver.type === 'email' ? receiver.smtp : receiver.url).host
}

/** More rows than these are not read at a start, for the chart of a day. */
const mostRows = 200_000

/** The alerts of the last day, from before this process began. Never rejects. */
export async function recall(history: HistoryReader, activity: Activity, untilMs: number, log: Log): Promise<void> {
	const sinceMs = untilMs - buckets * bucketMs
	const seen = new Set<string>()
	try {
		let rows = 0
		for await (const { entry } of history.read({ sinceMs }, null)) {
			if (entry === null || isHole(entry) || entry.message.type === 'alert.removed') continue
			if (++rows > mostRows) return
			for (const alert of alertsOf(entry.message)) {
				const atMs = Date.parse(alert.detectedAt)
				if (seen.has(alert.id) || atMs >= untilMs || atMs < sinceMs) continue
				seen.add(alert.id)
				activity.alerted(alert, atMs)
			}
		}
	} catch (error) {
		log.debug({ err: error }, 'the alerts of the last day could not be read for the chart')
	}
}
