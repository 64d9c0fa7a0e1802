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
export function createKeepGood(place: StatePlace, fence: Store['fence'], log: Log, signal: AbortSignal): KeepGood {
	let before: Promise<void> = Promise.resolve()
	async function keep({ files: watchlists, contents, revision }: GoodFiles): Promise<void> {
		const files = contents.flatMap(({ path, digest }) => (digest === null ? [] : [{ path, digest }]))
		const digests = new Map(files.map(({ path, digest }) => [path, digest]))
		const chunks = (path: string) => chunksOf({ path, digest: digests.get(path) ?? null }, signal)
		try {
			signal.throwIfAborted()
			await copyWatchlists(place, { revision, watchlists, files, chunks }, fence())
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

/** Notifies receivers that edited watchlists are wrong, and that they are right again, once each. Never rejects. */
export interface Refusals {
	/** Sends the notice, unless one was sent since the watchlists were last right, also by an earlier run. */
	refused(words: string): Promise<void>
	/** Notifies the receivers of the notice that the watchlists are right again; sends nothing if there was none. */
	accepted(watches: number): Promise<void>
	/** Sends the notice again if it could not be posted. */
	look(): Promise<void>
}

export interface RefusalOptions {
	readonly config: Pick<Config, 'networks'>
	readonly recipientsOf: (receiver: string) => readonly string[] | null
	/** Names of the receivers of a network's watches. */
	readonly receiversOf: (network: string) => readonly string[]
	readonly store: Pick<Store, 'post' | 'summary'>
	/** Includes troubles that an earlier run announced and did not end. */
	readonly troubles: TroubleBook
	readonly log: Log
}

const MOST_WORDS = 500
const REMEDY = '. To do: correct what is named and save; no restart is needed'

export function createRefusals(options: RefusalOptions): Refusals {
	const { config, recipientsOf, receiversOf, store, troubles, log } = options
	/** Words on the watchlists on disk; null: they are right. */
	let wrong: string | null = null
	const open = () => troubles.current().open.filter(isRefusal)

	async function post(notice: Pick<SystemNotice, 'type' | 'reason' | 'ends'>): Promise<void> {
		const posting = { recipientsOf, nowMs: Date.now(), digest: sha256 }
		const { networks } = await store.summary()
		const deliveries = open().flatMap(({ network, chainId, receivers, sinceMs }) => {
			const state = networks.get(network)
			const head = state?.seen === undefined ? null : BigInt(state.seen.head)
			const place = { network, chainId, sinceMs, checkpoint: state?.checkpoint.number ?? null, head }
			return systemDeliveries({ ...notice, ...place }, receivers, posting)
		})
		await store.post(deliveries)
	}

	async function announce(): Promise<void> {
		if (wrong === null || open().some(({ announced }) => announced)) return
		const reason = `the watchlists as edited are wrong and change nothing; the last good ones stay in effect: ${wrong}`
		try {
			// Record the trouble before announcing it: after a kill in between, the next run announces it under the same
			// id, or sends an end without a beginning, which is better than no end.
			await troubles.change((before) =>
				before.open.some(isRefusal)
					? before
					: { ...before, open: [...before.open, ...begun(config.networks, receiversOf, before.timesAccepted)] },
			)
			await post({ type: 'system.refused', reason: `${reason.slice(0, MOST_WORDS)}${REMEDY}` })
			await troubles.change((before) => ({
				...before,
				open: before.open.map((trouble) => (isRefusal(trouble) ? { ...trouble, announced: true } : trouble)),
			}))
		} catch (error) {
			log.error({ err: error }, 'the receivers cannot be notified that the watchlists are wrong')
		}
	}

	async function announceEnd(watches: number): Promise<void> {
		if (open().length === 0) return
		const many = `${watches} ${watches === 1 ? 'address is' : 'addresses are'} watched`
		const reason = `the watchlists are right again and in effect: ${many}`
		try {
			await post({ type: 'system.recovered', ends: 'refused', reason })
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
		refused: (words) =>
			inTurn(() => {
				wrong = words
				return announce()
			}),
		accepted: (watches) =>
			inTurn(() => {
				wrong = null
				return announceEnd(watches)
			}),
		look: () => inTurn(announce),
	}
}

function isRefusal(trouble: Trouble): trouble is NetworkTrouble {
	return trouble.kind === 'refused'
}

/** Lists each receiver once, in its first network. */
function begun(
	networks: readonly NetworkSettings[],
	receiversOf: RefusalOptions['receiversOf'],
	timesAccepted: number,
): readonly NetworkTrouble[] {
	const reached = new Set<string>()
	// Two troubles of one millisecond have different ids, too.
	const sinceMs = Date.now() + timesAccepted
	return networks.map(({ name: network, chainId }) => {
		const receivers = receiversOf(network).filter((name) => !reached.has(name))
		for (const name of receivers) reached.add(name)
		return { kind: 'refused', network, chainId, sinceMs, receivers, checkpoint: null, announced: false }
	})
}
