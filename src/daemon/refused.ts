import { counted } from '../base/text/counted.js'
import type { Config } from '../config/load.js'
import type { Store } from '../model/ports.js'
import type { NetworkTrouble } from '../model/trouble.js'
import type { Notices } from './health/notices.js'

export interface RefusalOptions {
	readonly config: Pick<Config, 'networks'>
	/** Names of the receivers of a network's watches. */
	readonly receiversOf: (network: string) => readonly string[]
	readonly store: Pick<Store, 'summary'>
	readonly notices: Notices
}

const WRONG = 'the watchlists as edited are wrong and change nothing; the last good ones stay in effect'
const MOST_WORDS = 500
const REMEDY = '. To do: correct what is named and save; no restart is needed'

/**
 * Notifies receivers that edited watchlists are wrong, and that they are right again, once each, also where an earlier
 * run sent the first notice. Never rejects.
 */
export function createRefusals({ config, receiversOf, store, notices }: RefusalOptions) {
	async function reconcile(isRefused: boolean, reason: string): Promise<void> {
		// A state that cannot be read keeps no one from hearing of it.
		const { networks } = (await store.summary().catch(() => null)) ?? { networks: null }
		await notices.reconcile('refused', isRefused ? present() : [], ({ network }, isOver) => {
			const { checkpoint, seen } = networks?.get(network) ?? {}
			const places = { checkpoint: checkpoint?.number ?? null, head: seen === undefined ? null : BigInt(seen.head) }
			if (isOver) return { type: 'system.recovered', ends: 'refused', reason, ...places }
			return { type: 'system.refused', reason: isRefused ? reason : WRONG, ...places }
		})
	}

	/** Lists each receiver once, in its first network. */
	function present(): readonly NetworkTrouble[] {
		const reached = new Set<string>()
		// Two troubles of one millisecond have different ids, too.
		const sinceMs = Date.now() + notices.timesAccepted()
		return config.networks.map(({ name: network, chainId }) => {
			const receivers = receiversOf(network).filter((name) => !reached.has(name))
			for (const name of receivers) reached.add(name)
			return { kind: 'refused', network, chainId, sinceMs, receivers, checkpoint: null, announced: false }
		})
	}

	return {
		refused: (words: string) => reconcile(true, `${`${WRONG}: ${words}`.slice(0, MOST_WORDS)}${REMEDY}`),
		accepted(watches: number) {
			const many = `${counted(watches, 'address is', 'addresses are')} watched`
			return reconcile(false, `the watchlists are right again and in effect: ${many}`)
		},
	}
}
