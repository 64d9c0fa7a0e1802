import { sha256 } from '../base/sha256.js'
import type { Config } from '../config/load.js'
import type { NetworkSettings } from '../config/settings/settings.js'
import { keptOf } from '../config/watchlists/keptWatches.js'
import { type SystemNotice, systemDeliveries } from '../core/system.js'
import type { Log, Store } from '../model/ports.js'
import type { StatePlace } from '../model/state.js'
import type { NetworkTrouble, Trouble, TroubleBook } from '../model/trouble.js'
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

/** Tells receivers that watchlists were edited wrongly, and that they are right again. Nothing here rejects. */
export interface Refusals {
	/** Told once of the same files, also over restarts. */
	refused(revision: string, words: string): Promise<void>
	/** Tells whom it told that they were wrong; nobody, where they were not. */
	accepted(watches: number): Promise<void>
	/** Tells it anew where another instance, whose watchlists are right, has told its end. */
	look(): Promise<void>
}

export interface RefusalOptions {
	readonly config: Pick<Config, 'networks'>
	readonly recipientsOf: (receiver: string) => readonly string[] | null
	/** Names of the receivers that the watches of a network are sent to. */
	readonly receiversOf: (network: string) => readonly string[]
	readonly store: Pick<Store, 'post'>
	/** With what an earlier run has told and not ended. */
	readonly troubles: TroubleBook
	readonly log: Log
}

const mostWords = 500
const remedy = '. To do: correct what is named, and save; it takes effect by itself'

export function createRefusals(options: RefusalOptions): Refusals {
	const { config, recipientsOf, receiversOf, store, troubles, log } = options
	/** Since they were last right. */
	const said = new Set<string>()
	let last: { readonly revision: string; readonly words: string } | null = null
	const open = () => troubles.current().open.filter(isRefusal)

	function deliveriesOf(
		all: readonly NetworkTrouble[],
		notice: Pick<SystemNotice, 'type' | 'reason'>,
		sinceMs?: number,
	) {
		const posting = { recipientsOf, nowMs: Date.now(), digest: sha256 }
		const ends = notice.type === 'system.recovered' ? { ends: 'refused' as const } : {}
		return all.flatMap(({ network, chainId, receivers, sinceMs: own }) => {
			const named = { ...notice, ...ends, network, chainId, checkpoint: null, head: null, sinceMs: sinceMs ?? own }
			return systemDeliveries(named, receivers, posting)
		})
	}

	async function tellRefused(revision: string, words: string): Promise<void> {
		if (said.has(revision)) return
		said.add(revision)
		last = { revision, words }
		const reason = `the watchlists as edited are wrong and change nothing; the last good ones stay in effect: ${words}`
		const { timesAccepted } = troubles.current()
		// Names the edit: the same one is told under the same id, unless it was mended in between.
		const seed = timesAccepted === 0 ? revision : `${revision} ${timesAccepted}`
		const sinceMs = Number.parseInt(sha256(seed).slice(0, 12), 16)
		try {
			// First that it is to be ended: a kill in between ends what nobody was told of, and not the other way round.
			const now = troublesOf(config.networks, receiversOf, sinceMs)
			await troubles.change((before) =>
				before.open.some(isRefusal) ? before : { ...before, open: [...before.open, ...now] },
			)
			const notice = { type: 'system.refused', reason: `${reason.slice(0, mostWords)}${remedy}` } as const
			await store.post(deliveriesOf(open(), notice, sinceMs))
		} catch (error) {
			said.delete(revision)
			log.error({ err: error }, 'the receivers cannot be told that the watchlists are wrong')
		}
	}

	async function tellAccepted(watches: number): Promise<void> {
		said.clear()
		last = null
		if (open().length === 0) return
		const many = `${watches} ${watches === 1 ? 'address is' : 'addresses are'} watched`
		const reason = `the watchlists are right again and in effect: ${many}`
		try {
			await store.post(deliveriesOf(open(), { type: 'system.recovered', reason }))
			await troubles.change(({ open, timesAccepted }) => ({
				open: open.filter((trouble) => !isRefusal(trouble)),
				timesAccepted: timesAccepted + 1,
			}))
		} catch (error) {
			log.error({ err: error }, 'the receivers cannot be told that the watchlists are right again')
		}
	}

	async function lookAgain(): Promise<void> {
		if (last === null || open().length > 0) return
		said.clear()
		await tellRefused(last.revision, last.words)
	}

	/** One word after the other: what is being told must be known when it is over. */
	let before: Promise<void> = Promise.resolve()
	const inTurn = (tell: () => Promise<void>) => {
		before = before.then(tell)
		return before
	}
	return {
		refused: (revision, words) => inTurn(() => tellRefused(revision, words)),
		accepted: (watches) => inTurn(() => tellAccepted(watches)),
		look: () => inTurn(lookAgain),
	}
}

function isRefusal(trouble: Trouble): trouble is NetworkTrouble {
	return trouble.kind === 'refused'
}

/** Each receiver once, whatever networks it is sent. */
function troublesOf(
	networks: readonly NetworkSettings[],
	receiversOf: RefusalOptions['receiversOf'],
	sinceMs: number,
): readonly NetworkTrouble[] {
	const reached = new Set<string>()
	return networks.map(({ name: network, chainId }) => {
		const receivers = receiversOf(network).filter((name) => !reached.has(name))
		for (const name of receivers) reached.add(name)
		return { kind: 'refused', network, chainId, sinceMs, receivers, checkpoint: null, announced: true }
	})
}
