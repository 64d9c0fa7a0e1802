import { basename } from 'node:path'
import { toChecksum } from '../config/address.js'
import type { Config } from '../config/load.js'
import type { ReceiverSettings } from '../config/settings/settings.js'
import type { Store } from '../model/ports.js'
import type { NetworkState } from '../model/state.js'
import { isAlarming } from '../notify/text/alarms.js'
import { headline } from '../notify/text/sentence.js'
import type { PageFacts } from '../pages/pageData.js'
import type { Observer } from './observer.js'
import type { InEffect } from './reload.js'

export interface PageFactsOptions extends Pick<PageFacts, 'version' | 'startedAtMs' | 'history' | 'health'> {
	readonly config: Config
	readonly inEffect: () => InEffect
	readonly store: Pick<Store, 'network' | 'summary' | 'deliveries'>
	readonly observer: Pick<Observer, 'endpoints' | 'answers'>
}

export function createPageFacts(options: PageFactsOptions): () => Promise<PageFacts> {
	const { config, version, startedAtMs, inEffect, store, history, health, observer } = options
	const networks = config.networks.map(({ name, chainId, symbol, decimals, explorer, rpc }) => ({
		...{ name, chainId, symbol, decimals, explorer },
		endpoints: rpc.map((url) => new URL(url).host),
	}))
	const receivers = config.receivers.map((one) => ({
		...{ name: one.name, type: one.type, place: placeOf(one), fallback: one.fallback },
	}))
	return async () => {
		const states = new Map<string, NetworkState | null>()
		for (const { name } of networks) states.set(name, await store.network(name))
		const { watches, loadedAtMs, isRefused, changed } = inEffect()
		return {
			...{ version, clock: Date.now, startedAtMs, networks, receivers, watches, health, history },
			config: { path: basename(config.path), loadedAtMs, isRefused, changed: changed ?? null },
			endpoint: (network) => observer.endpoints.get(network) ?? null,
			lastAnswer: (receiver) => observer.answers.get(receiver) ?? null,
			summary: () => store.summary(),
			deliveries: () => store.deliveries(),
			state: (network) => states.get(network) ?? null,
			says: headline,
			isAlarming,
			checksum: toChecksum,
		}
	}
}

function placeOf(receiver: ReceiverSettings): string {
	return new URL(receiver.type === 'email' ? receiver.smtp : receiver.url).host
}
