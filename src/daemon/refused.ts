import { hash } from '../base/hash.js'
import type { Config } from '../config/load.js'
import { keptOf } from '../config/watchlists/keptWatches.js'
import { systemDeliveries } from '../core/system.js'
import type { Log, Store } from '../model/ports.js'
import type { StatePlace } from '../model/state.js'
import type { WatchSet } from '../model/watch.js'
import { keepWatchlists } from '../state/open.js'

/** Keeps watchlists that are right, for a restart that finds wrong ones; `revision` is their files'. Never rejects. */
export type KeepGood = (watches: WatchSet, revision: string) => Promise<void>

/** One after the other: of two edits in a row the last one stays. */
export function createKeepGood(place: StatePlace, log: Log, signal: AbortSignal): KeepGood {
	let before: Promise<void> = Promise.resolve()
	async function keep(watches: WatchSet, revision: string): Promise<void> {
		try {
			signal.throwIfAborted()
			await keepWatchlists(place, await keptOf(watches, revision, signal))
		} catch (error) {
			if (signal.aborted) return
			log.warn({ err: error }, 'the watchlists in effect cannot be kept: a restart would need right ones')
		}
	}
	return (watches, revision) => {
		before = before.then(() => keep(watches, revision))
		return before
	}
}

/** Tells every receiver once of the same wrong watchlists, also over restarts. Never rejects. */
export type Refusals = (revision: string, words: string) => Promise<void>

export interface RefusalOptions {
	readonly config: Pick<Config, 'networks'>
	readonly recipientsOf: (receiver: string) => readonly string[] | null
	/** Names of the receivers that the watches of a network are sent to. */
	readonly receiversOf: (network: string) => readonly string[]
	readonly store: Pick<Store, 'post'>
	readonly log: Log
}

const mostWords = 500

export function createRefusals({ config, recipientsOf, receiversOf, store, log }: RefusalOptions): Refusals {
	const said = new Set<string>()
	return async (revision, words) => {
		if (said.has(revision)) return
		said.add(revision)
		const told = new Set<string>()
		const reason = `the watchlists as edited are wrong and change nothing; the last good ones stay in effect: ${words}`
		// Names the edit: the same one is told under the same id.
		const sinceMs = Number.parseInt(hash(revision).slice(0, 12), 16)
		const deliveries = config.networks.flatMap(({ name: network, chainId }) => {
			const receivers = receiversOf(network).filter((name) => !told.has(name))
			for (const name of receivers) told.add(name)
			const notice = { type: 'system.refused' as const, network, chainId, checkpoint: null, head: null, sinceMs }
			const posting = { recipientsOf, nowMs: Date.now(), digest: hash }
			return systemDeliveries({ ...notice, reason: reason.slice(0, mostWords) }, receivers, posting)
		})
		try {
			await store.post(deliveries)
		} catch (error) {
			said.delete(revision)
			log.error({ err: error }, 'the receivers cannot be told that the watchlists are wrong')
		}
	}
}
