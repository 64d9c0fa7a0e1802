import { sha256 } from '../base/sha256.js'
import type { Config } from '../config/load.js'
import type { NetworkSettings } from '../config/settings/settings.js'
import { chunksOf } from '../config/watchlists/revision.js'
import type { Watchlists } from '../config/watchlists/watchlists.js'
import { type SystemNotice, systemDeliveries } from '../core/outbox/system.js'
import type { Log, Store } from '../model/ports.js'
import type { StatePlace } from '../model/state.js'
import type { NetworkTrouble, Trouble, TroubleBook } from '../model/trouble.js'
import { copyWatchlists } from '../state/open.js'

type GoodFiles = Pick<Watchlists, 'files' | 'contents' | 'revision'>

/** Copies good watchlists for a restart that finds wrong ones. Never rejects. */
export type KeepGood = (good: GoodFiles) => Promise<void>

/** Writes one at a time, so that the last of several edits is stored last. */
export function createKeepGood(place: StatePlace, log: Log, signal: AbortSignal): KeepGood {
	let before: Promise<void> = Promise.resolve()
	async function keep({ files: watchlists, contents, revision }: GoodFiles): Promise<void> {
		const files = contents.flatMap(({ path, digest }) => (digest === null ? [] : [{ path, digest }]))
		const digests = new Map(files.map(({ path, digest }) => [path, digest]))
		const chunks = (path: string) => chunksOf({ path, digest: digests.get(path) ?? null }, signal)
		try {
			signal.throwIfAborted()
			await copyWatchlists(place, { revision, watchlists, files, chunks })
		} catch (error) {
			if (signal.aborted) return
			log.warn(
				{ err: error },
				'the watchlists in effect cannot be copied into the state: a restart would need right ones',
			)
		}
	}
	return (good) => {
		before = before.then(() => keep(good))
		return before
	}
}

/** Notifies receivers that edited watchlists are invalid, and that they are valid again. Never rejects. */
export interface Refusals {
	/** Sends the notice, once for each revision of the files, also across restarts. */
	refused(revision: string, words: string): Promise<void>
	/**
	 * Notifies the receivers of earlier notices that the watchlists are valid again; sends nothing if there were none.
	 */
	accepted(watches: number): Promise<void>
}

export interface RefusalOptions {
	readonly config: Pick<Config, 'networks'>
	readonly recipientsOf: (receiver: string) => readonly string[] | null
	/** Names of the receivers of a network's watches. */
	readonly receiversOf: (network: string) => readonly string[]
	readonly store: Pick<Store, 'post'>
	/** Includes troubles that an earlier run announced and did not end. */
	readonly troubles: TroubleBook
	readonly log: Log
}

const mostWords = 500
const remedy = '. To do: correct what is named and save; no restart is needed'

export function createRefusals(options: RefusalOptions): Refusals {
	const { config, recipientsOf, receiversOf, store, troubles, log } = options
	/** Revisions announced since the watchlists were last valid. */
	const said = new Set<string>()
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

	async function notifyRefused(revision: string, words: string): Promise<void> {
		if (said.has(revision)) return
		said.add(revision)
		const reason = `the watchlists as edited are wrong and change nothing; the last good ones stay in effect: ${words}`
		const { timesAccepted } = troubles.current()
		// Derives the id from the edit: an edit announced again has the same id, unless it was corrected in between.
		const seed = timesAccepted === 0 ? revision : `${revision} ${timesAccepted}`
		const sinceMs = Number.parseInt(sha256(seed).slice(0, 12), 16)
		try {
			// Record the trouble before announcing it: after a kill in between, the next run sends an end without a
			// beginning, which is better than no end.
			const now = troublesOf(config.networks, receiversOf, sinceMs)
			await troubles.change((before) =>
				before.open.some(isRefusal) ? before : { ...before, open: [...before.open, ...now] },
			)
			const notice = { type: 'system.refused', reason: `${reason.slice(0, mostWords)}${remedy}` } as const
			await store.post(deliveriesOf(open(), notice, sinceMs))
		} catch (error) {
			said.delete(revision)
			log.error({ err: error }, 'the receivers cannot be notified that the watchlists are wrong')
		}
	}

	async function notifyAccepted(watches: number): Promise<void> {
		said.clear()
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
			log.error({ err: error }, 'the receivers cannot be notified that the watchlists are right again')
		}
	}

	/** Runs one notice at a time, since the end of a trouble depends on its announcement. */
	let before: Promise<void> = Promise.resolve()
	const inTurn = (tell: () => Promise<void>) => {
		before = before.then(tell)
		return before
	}
	return {
		refused: (revision, words) => inTurn(() => notifyRefused(revision, words)),
		accepted: (watches) => inTurn(() => notifyAccepted(watches)),
	}
}

function isRefusal(trouble: Trouble): trouble is NetworkTrouble {
	return trouble.kind === 'refused'
}

/** Lists each receiver once, in its first network. */
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
