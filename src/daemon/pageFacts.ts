import { basename } from 'node:path'
import { toChecksum } from '../config/address.js'
import type { Config } from '../config/load.js'
import type { ReceiverSettings } from '../config/settings/settings.js'
import { alertsOf, isHole } from '../core/outbox/historyEntries.js'
import type { Message } from '../model/alert.js'
import type { HistoryReader } from '../model/history.js'
import type { Log, Store } from '../model/ports.js'
import type { NetworkState } from '../model/state.js'
import { isAlarming } from '../notify/text/alarms.js'
import { headline } from '../notify/text/sentence.js'
import { type Activity, bucketMs, buckets } from '../pages/activity.js'
import type { PageFacts } from '../pages/pageData.js'
import type { Health } from './health/health.js'
import type { NoteState } from './polling/noting.js'
import type { InEffect } from './reload.js'

/** What the pages know without reading the state. */
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
				// All alerts of an announcement are about one event and address: count one of them.
				const [first] = alerts
				if (first === undefined) continue
				if (status === 'announced') activity.alerted(first.data, Date.parse(first.data.detectedAt))
				else activity.retracted(first.data, Date.now())
			}
		},
	}
}

export interface PageFactsOptions {
	readonly config: Config
	readonly version: string
	readonly startedAtMs: number
	readonly inEffect: () => InEffect
	readonly store: Pick<Store, 'summary' | 'deliveries'>
	readonly history: HistoryReader | null
	readonly health: () => Promise<Health>
	readonly activity: Activity
	readonly notes: PageNotes
}

export function createPageFacts(options: PageFactsOptions): () => PageFacts {
	const { config, version, startedAtMs, inEffect, store, history, health, activity, notes } = options
	const networks = config.networks.map(({ name, chainId, symbol, decimals, explorer, rpc }) => ({
		...{ name, chainId, symbol, decimals, explorer },
		endpoints: rpc.map((url) => new URL(url).host),
	}))
	const receivers = config.receivers.map((one) => ({
		...{ name: one.name, type: one.type, place: placeOf(one), fallback: one.fallback },
	}))
	return () => {
		const { watches, loadedAtMs, isRefused, changed } = inEffect()
		return {
			...{ version, clock: Date.now, startedAtMs, networks, receivers, watches, health, history, activity },
			config: { path: basename(config.path), loadedAtMs, isRefused, changed: changed ?? null },
			summary: () => store.summary(),
			deliveries: () => store.deliveries(),
			async readBooks(shown) {
				const states = new Map(notes.states)
				for (const [name, { books }] of states)
					await books.load?.(shown.flatMap(({ network, address }) => (network === name ? [address] : [])))
				return (network, address) => states.get(network)?.books.get(address) ?? null
			},
			contractOf: (network, address) => notes.states.get(network)?.contracts.get(address) ?? null,
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

/** Most history rows read at a start for the chart of the last day. */
const mostRows = 200_000

export interface RecallOptions {
	readonly store: Pick<Store, 'deliveries'>
	/** Null: no history is kept. */
	readonly history: HistoryReader | null
	readonly activity: Activity
	/** When this process started. */
	readonly untilMs: number
	readonly log: Log
}

/**
 * Reads the alerts of the last day from before this process started, sent or not, for the overview. Never rejects.
 */
export async function recall({ store, history, activity, untilMs, log }: RecallOptions): Promise<void> {
	const sinceMs = untilMs - buckets * bucketMs
	const seen = new Set<string>()
	const take = (message: Message) => {
		if (message.type === 'alert.removed') return
		for (const alert of alertsOf(message)) {
			const atMs = Date.parse(alert.detectedAt)
			if (seen.has(alert.id) || atMs >= untilMs || atMs < sinceMs) continue
			seen.add(alert.id)
			activity.alerted(alert, atMs)
		}
	}
	try {
		for (const { message } of await store.deliveries()) take(message)
		let rows = 0
		for await (const { entry } of history?.read({ sinceMs }, null) ?? []) {
			if (entry === null || isHole(entry)) continue
			if (++rows > mostRows) return
			take(entry.message)
		}
	} catch (error) {
		log.debug({ err: error }, 'the alerts of the last day could not be read for the overview')
	}
}
