import { basename } from 'node:path'
import { toChecksum } from '../config/address.js'
import type { Config } from '../config/load.js'
import type { ReceiverSettings } from '../config/settings/settings.js'
import type { HistoryReader } from '../model/history.js'
import type { Store } from '../model/ports.js'
import type { Health } from '../model/trouble.js'
import { isAlarming } from '../notify/text/alarms.js'
import { headline } from '../notify/text/sentence.js'
import type { PageFacts } from '../pages/pageData.js'
import type { PageNotes } from './pageNotes.js'
import type { InEffect } from './reload.js'

export interface PageFactsOptions {
	readonly config: Config
	readonly version: string
	readonly startedAtMs: number
	readonly inEffect: () => InEffect
	readonly store: Pick<Store, 'summary' | 'deliveries'>
	readonly history: HistoryReader | null
	readonly health: () => Promise<Health>
	readonly notes: PageNotes
}

export function createPageFacts(options: PageFactsOptions): () => PageFacts {
	const { config, version, startedAtMs, inEffect, store, history, health, notes } = options
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
			...{ version, clock: Date.now, startedAtMs, networks, receivers, watches, health, history },
			config: { path: basename(config.path), loadedAtMs, isRefused, changed: changed ?? null },
			endpoint: (network) => notes.endpoints.get(network) ?? null,
			lastAnswer: (receiver) => notes.answers.get(receiver) ?? null,
			summary: () => store.summary(),
			deliveries: () => store.deliveries(),
			bookOf: (network, address) => notes.states.get(network)?.books.get(address) ?? null,
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
