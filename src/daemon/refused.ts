import { counted } from '../base/text/counted.js'
import type { Config } from '../config/load.js'
import { systemDeliveries } from '../core/outbox/system.js'
import type { Store } from '../model/ports.js'
import type { NetworkTrouble } from '../model/trouble.js'
import type { WatchSet } from '../model/watch.js'
import type { TroubleBook } from '../notify/delivery/troubles.js'
import type { Metrics } from '../ops/metrics.js'
import { receiversOf } from './openNetwork.js'

export interface RefusalOptions {
	readonly config: Pick<Config, 'networks'>
	readonly store: Pick<Store, 'summary'>
	readonly metrics: Pick<Metrics, 'reloadOk'>
	readonly troubles: TroubleBook
	readonly inEffect: { readonly watches: WatchSet; isRefused: boolean }
}

const WRONG = 'the watchlists as edited are wrong and change nothing; the last good ones stay in effect'
const MOST_WORDS = 500
const REMEDY = '. To do: correct what is named and save; no restart is needed'
const RESTART =
	'. To do: correct what is named and save. If it needs the edited tracewatch.yaml: `tracewatch check`, then restart'

/**
 * Health and metrics say whether the watchlists as last read are wrong. Receivers are notified that they are, and that
 * they are right again, once each, also where an earlier run sent the first notice. Never rejects.
 */
export function createRefusals({ config, store, metrics, troubles, inEffect }: RefusalOptions) {
	async function reconcile(isRefused: boolean, reason: string): Promise<void> {
		inEffect.isRefused = isRefused
		metrics.reloadOk.set(isRefused ? 0 : 1)
		// A state that cannot be read keeps no one from hearing of it.
		const { networks } = (await store.summary().catch(() => null)) ?? { networks: null }
		await troubles.reconcile('refused', isRefused ? present() : [], (trouble, isOver) => {
			const { checkpoint, seen } = networks?.get(trouble.network) ?? {}
			const places = { checkpoint: checkpoint?.number ?? null, head: seen === undefined ? null : BigInt(seen.head) }
			const words = isOver
				? ({ type: 'system.recovered', ends: 'refused', reason } as const)
				: ({ type: 'system.refused', reason: isRefused ? reason : WRONG } as const)
			return systemDeliveries({ ...trouble, ...places, ...words }, trouble.receivers, troubles.posting())
		})
	}

	/** Lists each receiver once, in its first network. */
	function present(): readonly NetworkTrouble[] {
		const reached = new Set<string>()
		// Two troubles of one millisecond have different ids, too.
		const sinceMs = Date.now() + troubles.timesAccepted()
		return config.networks.map(({ name: network, chainId }) => {
			const receivers = receiversOf(inEffect.watches, network).filter((name) => !reached.has(name))
			for (const name of receivers) reached.add(name)
			return { kind: 'refused', network, chainId, sinceMs, receivers, checkpoint: null }
		})
	}

	return {
		/** `isConfigChanged`: tracewatch.yaml was edited, too. */
		refused(words: string, isConfigChanged = false) {
			const remedy = isConfigChanged ? RESTART : REMEDY
			return reconcile(true, `${`${WRONG}: ${words}`.slice(0, MOST_WORDS)}${remedy}`)
		},
		accepted() {
			const many = counted(inEffect.watches.length, 'watch', 'watches')
			return reconcile(false, `the watchlists are right again and in effect: ${many}`)
		},
	}
}
