/**
 * Notifies receivers that a trouble of networks begins and that it ends, once each. A trouble is recorded before its
 * beginning is posted, and removed after its end is posted; the next run ends what a kill leaves open.
 */

import { sha256 } from '../../base/sha256.js'
import { type SystemNotice, systemDeliveries } from '../../core/outbox/system.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Store } from '../../model/ports.js'
import type { NetworkTrouble, Trouble, TroubleBook } from '../../model/trouble.js'

type Kind = NetworkTrouble['kind']

type Words = Omit<SystemNotice, 'network' | 'chainId' | 'sinceMs'>
/** What a message says of a trouble, besides the network and since when. */
export type NoticeOf = (trouble: NetworkTrouble) => Words | Promise<Words>

export interface Notices {
	/** Recorded troubles that have not ended. */
	open(kind: Kind): readonly NetworkTrouble[]
	/** How many refused edits have ended. */
	timesAccepted(): number
	/** Of a network that has such a trouble already, that one is announced, unless it was. */
	begin(troubles: () => readonly NetworkTrouble[], noticeOf: NoticeOf): void
	/** Ends the recorded troubles of these networks. */
	end(kind: Kind, isEnded: (network: string) => boolean, noticeOf: NoticeOf): void
	/** Posts what has begun and ended, in order; what cannot be written, at the next call. Never rejects. */
	post(): Promise<void>
}

export interface NoticesOptions {
	readonly recipientsOf: (receiver: string) => readonly string[] | null
	readonly store: Pick<Store, 'post'>
	/** Includes troubles that an earlier run announced and did not end. */
	readonly troubles: TroubleBook
	readonly clock: Clock
	readonly log: Log
}

export function createNotices({ recipientsOf, store, troubles, clock, log }: NoticesOptions): Notices {
	const waiting: (() => Promise<void>)[] = []
	let isWritable = true
	let before: Promise<void> = Promise.resolve()

	const open = (kind: Kind) => troubles.current().open.filter((trouble) => isOf(trouble, kind))

	async function send(all: readonly NetworkTrouble[], noticeOf: NoticeOf, nowMs: number): Promise<void> {
		const deliveries = all.map(async (trouble) => {
			const { network, chainId, sinceMs, receivers } = trouble
			const notice = { ...(await noticeOf(trouble)), network, chainId, sinceMs }
			return systemDeliveries(notice, receivers, { recipientsOf, nowMs, digest: sha256 })
		})
		await store.post((await Promise.all(deliveries)).flat())
	}

	async function begun(wanted: readonly NetworkTrouble[], noticeOf: NoticeOf, nowMs: number): Promise<void> {
		const recorded = ({ kind, network }: NetworkTrouble) => open(kind).find((one) => one.network === network)
		const own = wanted.map((one) => recorded(one) ?? one).filter(({ announced }) => !announced)
		if (own.length === 0) return
		const isOwn = (one: Trouble) => own.some(({ kind, network }) => isOf(one, kind) && one.network === network)
		const record = (announced: boolean) =>
			troubles.change((all) => ({
				...all,
				open: [...all.open.filter((one) => !isOwn(one)), ...own.map((one) => ({ ...one, announced }))],
			}))
		await record(false)
		await send(own, noticeOf, nowMs)
		await record(true)
	}

	async function ended(kind: Kind, isEnded: (network: string) => boolean, noticeOf: NoticeOf, nowMs: number) {
		const gone = open(kind).filter(({ network }) => isEnded(network))
		if (gone.length === 0) return
		await send(gone, noticeOf, nowMs)
		await troubles.change(({ open: all, timesAccepted }) => ({
			open: all.filter((one) => !(isOf(one, kind) && isEnded(one.network))),
			timesAccepted: timesAccepted + (kind === 'refused' ? 1 : 0),
		}))
	}

	async function postAll(): Promise<void> {
		try {
			for (let [next] = waiting; next !== undefined; [next] = waiting) {
				await next()
				waiting.shift()
				isWritable = true
			}
		} catch (error) {
			if (isWritable) log.error({ err: error }, 'the receivers cannot be notified until the state can be written again')
			isWritable = false
		}
	}

	return {
		open,
		timesAccepted: () => troubles.current().timesAccepted,
		begin(wanted, noticeOf) {
			const nowMs = clock()
			waiting.push(() => begun(wanted(), noticeOf, nowMs))
		},
		end(kind, isEnded, noticeOf) {
			const nowMs = clock()
			waiting.push(() => ended(kind, isEnded, noticeOf, nowMs))
		},
		post() {
			before = before.then(postAll)
			return before
		},
	}
}

function isOf(trouble: Trouble, kind: Kind): trouble is NetworkTrouble {
	return trouble.kind === kind
}
