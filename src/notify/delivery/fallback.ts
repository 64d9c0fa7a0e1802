/**
 * Who else hears of a receiver: its fallback is notified once of each begin and end of its troubles, and gets, once,
 * each message that it refuses or that is given up. These go on to the fallback of the fallback, but never back.
 */

import { sha256 } from '../../base/sha256.js'
import { iso } from '../../base/utc.js'
import { isUndelivered } from '../../core/outbox/messageKinds.js'
import { copiesOf, copyId } from '../../core/outbox/posting.js'
import { noticeDeliveries } from '../../core/outbox/system.js'
import type { Addressee, Delivery, Resolution } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Receiver, Store } from '../../model/ports.js'
import type { UndeliveredTrouble } from '../../model/trouble.js'
import { isOfAll } from './queueMemory.js'
import { countOf, findingOf, receiverTroubles, sideOf } from './receiverTroubles.js'
import type { TroubleBook } from './troubles.js'

export type Fallbacks = ReturnType<typeof createFallbacks>

export interface FallbackOptions {
	readonly store: Pick<Store, 'summary' | 'deliveries'>
	readonly troubles: TroubleBook
	readonly clock: Clock
	readonly log: Log
	/** The fallback of a receiver; null: none. */
	readonly fallbackOf: (receiver: string) => string | null
	/** Null when the receiver or the recipient is no longer configured. */
	readonly receiverOf: (addressee: Addressee) => Receiver | null
}

const LOOK_EVERY_MS = 5_000
/** After a start, a receiver has this long to answer before an outage of an earlier process is announced. */
const GRACE_MS = 60_000

/** Why the troubles of a receiver are over. */
const ENDS = {
	undelivered: 'All that it refused was delivered, or discarded by hand. There is nothing left to do.',
	failing: 'It accepts messages again, was taken out, or nothing waits for it any more. There is nothing left to do.',
}

export function createFallbacks({ store, troubles, clock, log, fallbackOf, receiverOf }: FallbackOptions) {
	const startedMs = clock()
	const failedHere = new Set<string>()
	let lookedMs = Number.NEGATIVE_INFINITY
	let isDue = true

	const open = () => troubles.open('undelivered')
	const isPast = (sinceMs: number, ms: number) => Math.abs(clock() - sinceMs) >= ms

	async function lookAtAll(): Promise<void> {
		const { receivers } = await store.summary()
		const all = await store.deliveries()
		const names = new Set([...all, ...open()].map(({ receiver }) => receiver))
		/** For `failing`, without deliveries to mailboxes that are no longer configured: they are not tried. */
		const ofReceiver = (receiver: string, state: UndeliveredTrouble['state'] = 'parked') =>
			all.filter((one) => one.receiver === receiver && (state !== 'failing' || receiverOf(one) !== null))
		const present = [...names].flatMap((receiver) => {
			return receiverTroubles({
				receiver,
				nowMs: clock(),
				fallback: fallbackOf(receiver),
				deliveries: ofReceiver(receiver),
				configured: ofReceiver(receiver, 'failing'),
				lastDeliveredAtMs: receivers.get(receiver)?.lastDeliveredAtMs ?? null,
				isTried: failedHere.has(receiver) || isPast(startedMs, GRACE_MS),
				recorded: open().filter((one) => one.receiver === receiver),
			})
		})
		await troubles.reconcile('undelivered', present, (trouble, isOver) =>
			isOver ? endOf(trouble) : beginOf(trouble, ofReceiver(trouble.receiver, trouble.state)),
		)
	}

	function beginOf(trouble: UndeliveredTrouble, deliveries: readonly Delivery[]) {
		const { receiver, recipient, sinceMs, state, receivers } = trouble
		const side = sideOf(trouble)
		const { lastError, lastErrorCode = 'refused' } = findingOf(side, deliveries)?.delivery ?? {}
		const reason = lastError ?? ''
		// A mailbox may refuse while the others of the same server accept.
		const isOfOne = state === 'parked' && recipient !== null && !isOfAll(lastErrorCode)
		const count = countOf(state, isOfOne ? deliveries.filter((one) => one.recipient === recipient) : deliveries)
		if (state === 'failing') log.error({ receiver, waiting: count, reason }, 'a receiver has failed for minutes')
		const id = `${side}:${sha256(JSON.stringify([receiver, sinceMs, state])).slice(0, 16)}`
		const data = { id, receiver, recipient, state, count, reason, since: iso(sinceMs) }
		const notices = noticeDeliveries('system.undelivered', data, receivers, troubles.posting())
		const isKnown = open().some((one) => one.announced && one.receiver === receiver && one.sinceMs === sinceMs)
		if (state === 'failing' || isKnown) return notices
		const refused = deliveries.filter((one) => one.status !== 'dead' && one.refused !== undefined)
		return [...notices, ...receivers.flatMap((name) => forwarded(refused, name))]
	}

	function endOf(trouble: UndeliveredTrouble) {
		const { receiver, sinceMs } = trouble
		const side = sideOf(trouble)
		const [state, recipient] = side === 'failing' ? [side, trouble.recipient] : (['parked', null] as const)
		const reason = ENDS[side]
		const id = `recovered:${side}:${sinceMs}:${receiver}`
		log.info({ receiver, reason }, 'the trouble of a receiver is over')
		const data = { id, receiver, recipient, state, count: 0, reason, since: iso(sinceMs), ends: 'undelivered' } as const
		return noticeDeliveries('system.recovered', data, trouble.receivers, troubles.posting())
	}

	/** The receivers from `first` along the fallbacks to `last`; it ends elsewhere if the settings have changed since. */
	function wayTo(first: string, last: string): readonly string[] {
		const way: string[] = []
		for (let at: string | null = first; at !== null && !way.includes(at); at = at === last ? null : fallbackOf(at))
			way.push(at)
		return way
	}

	/** The messages themselves, once for each recipient of the fallback. */
	function forwarded(all: readonly Delivery[], fallback: string): readonly Delivery[] {
		const posting = troubles.posting()
		const to = { receiver: fallback, recipients: posting.recipientsOf(fallback) }
		return all.flatMap(({ id, receiver, recipient, message, answers }) => {
			const { insteadOf = receiver } = message.data
			// Each mailbox of the receiver has a copy. Only that of the first mailbox goes on, or copies would multiply.
			const isCopy = message.data.insteadOf !== undefined && recipient !== null
			if (isCopy && recipient !== posting.recipientsOf(receiver)?.[0]) return []
			const way = wayTo(insteadOf, receiver)
			if (isUndelivered(message.data) || way.at(-1) !== receiver || way.includes(fallback)) return []
			const messageOf = (deliveryId: string) =>
				({ ...message, data: { ...message.data, deliveryId, insteadOf } }) as const
			const answered = (copy: Delivery) => (answers === null ? null : copyId([answers, 'instead'], copy, sha256))
			const copies = copiesOf([id, 'instead'], to, posting, messageOf)
			return copies.map((copy) => ({ ...copy, answers: answered(copy) }))
		})
	}

	/** Retractions of alerts that the fallback got. Of one given up, the retraction may have been posted before that. */
	async function ofAlertsInstead(sent: readonly Delivery[]): Promise<readonly Delivery[]> {
		const removals = sent.filter(({ message }) => message.type === 'alert.removed')
		if (removals.length === 0) return []
		const dead = new Set((await store.deliveries('dead')).map(({ id }) => id))
		return removals.filter(({ answers, instead }) => instead || (answers !== null && dead.has(answers)))
	}

	return {
		/** The messages themselves, to be posted in the write that records what came of them. */
		async postsFor(sent: readonly Delivery[], resolution: Resolution): Promise<readonly Delivery[]> {
			const [first] = sent
			const fallback = first === undefined ? null : fallbackOf(first.receiver)
			if (fallback === null || first?.refused !== undefined) return []
			if (resolution.result === 'delivered') return forwarded(await ofAlertsInstead(sent), fallback)
			const isRefusal = resolution.result === 'retry' && resolution.refused !== undefined
			return isRefusal || resolution.result === 'dead' ? forwarded(sent, fallback) : []
		},
		/** Call it when a failure is recorded: the next look is due. */
		failed({ receiver }: Delivery): void {
			failedHere.add(receiver)
			isDue = true
		},
		/** Posts what begins and ends. Never rejects: the next look tries again. */
		async look(): Promise<void> {
			if (!isDue && (open().length === 0 || !isPast(lookedMs, LOOK_EVERY_MS))) return
			lookedMs = clock()
			isDue = false
			try {
				await lookAtAll()
			} catch (error) {
				isDue = true
				log.debug({ err: error }, 'fallbacks cannot be notified; trying again')
			}
		},
		/** Infinite while no receiver is in trouble. */
		nextLookMs: (): number => (isDue || open().length > 0 ? clock() + LOOK_EVERY_MS : Number.POSITIVE_INFINITY),
	}
}
