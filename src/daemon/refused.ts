import { counted } from '../base/text/counted.js'
import type { Config } from '../config/load.js'
import type { NetworkSettings } from '../config/settings/settings.js'
import { chunksOf } from '../config/watchlists/revision.js'
import type { Watchlists } from '../config/watchlists/watchlists.js'
import type { SystemNotice } from '../core/outbox/system.js'
import type { Log, Store } from '../model/ports.js'
import type { StatePlace } from '../model/state.js'
import type { NetworkTrouble } from '../model/trouble.js'
import { copyWatchlists } from '../state/open.js'
import type { NoticeOf, Notices } from './health/notices.js'

type GoodFiles = Pick<Watchlists, 'files' | 'contents' | 'revision'>

/**
 * Copies good watchlists for a restart that finds wrong ones; resolves when it and all before it are done. Never
 * rejects.
 */
export type KeepGood = (good: GoodFiles | null) => Promise<void>

/** A copy that was begun ends after the signal to stop, too: the next start may need it. */
const LONGEST_COPY_MS = 10_000

/** Writes one at a time, so that the last of several edits is stored last. */
export function createKeepGood(place: StatePlace, fence: Store['fence'], log: Log): KeepGood {
	let before: Promise<void> = Promise.resolve()
	async function keep({ files: watchlists, contents, revision }: GoodFiles): Promise<void> {
		const files = contents.flatMap(({ path, digest }) => (digest === null ? [] : [{ path, digest }]))
		const digests = new Map(files.map(({ path, digest }) => [path, digest]))
		const signal = AbortSignal.timeout(LONGEST_COPY_MS)
		const chunks = (path: string) => chunksOf({ path, digest: digests.get(path) ?? null }, signal)
		try {
			await copyWatchlists(place, { revision, watchlists, files, chunks }, fence())
		} catch (error) {
			log.warn(
				{ err: error },
				'the watchlists in effect cannot be copied into the state: a restart would need right ones',
			)
		}
	}
	return (good) => {
		if (good !== null) before = before.then(() => keep(good))
		return before
	}
}

/** Notifies receivers that edited watchlists are wrong, and that they are right again, once each. Never rejects. */
export interface Refusals {
	/** Sends the notice, unless one was sent since the watchlists were last right, also by an earlier run. */
	refused(words: string): Promise<void>
	/** Notifies the receivers of the notice that the watchlists are right again; sends nothing if there was none. */
	accepted(watches: number): Promise<void>
}

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

export function createRefusals({ config, receiversOf, store, notices }: RefusalOptions): Refusals {
	const noticeOf =
		(notice: Pick<SystemNotice, 'type' | 'reason' | 'ends'>): NoticeOf =>
		async ({ network }) => {
			const state = (await store.summary()).networks.get(network)
			const head = state?.seen === undefined ? null : BigInt(state.seen.head)
			return { ...notice, checkpoint: state?.checkpoint.number ?? null, head }
		}
	return {
		refused(words) {
			const reason = `${WRONG}: ${words}`.slice(0, MOST_WORDS)
			const notice = { type: 'system.refused', reason: `${reason}${REMEDY}` } as const
			notices.begin(() => begun(config.networks, receiversOf, notices.timesAccepted()), noticeOf(notice))
			return notices.post()
		},
		accepted(watches) {
			const many = `${counted(watches, 'address is', 'addresses are')} watched`
			const reason = `the watchlists are right again and in effect: ${many}`
			notices.end('refused', () => true, noticeOf({ type: 'system.recovered', ends: 'refused', reason }))
			return notices.post()
		},
	}
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
