/**
 * Records which fallbacks were notified that a receiver accepts nothing or refuses messages, and ends it when no
 * refused delivery is left. The trouble is recorded before the fallback is notified, and removed after the end was
 * posted.
 */

import { failedAttempts } from '../../../core/outbox/waiting.js'
import type { Message } from '../../../model/alert.js'
import type { Delivery } from '../../../model/delivery.js'
import type { Clock } from '../../../model/glossary.js'
import type { Log, Receiver, Store } from '../../../model/ports.js'
import type { ReceiverSummary } from '../../../model/state.js'
import type { Trouble, TroubleBook, UndeliveredTrouble } from '../../../model/trouble.js'
import { fallbackDeliveries } from './fallbackDeliveries.js'

export interface Undelivered {
	/** Whether this fallback was notified. */
	isOpen(receiver: string, fallback: string): boolean
	/** Call it before the fallback is notified. Never rejects: a failed write is retried at each look. */
	begin(receiver: string, fallback: string): Promise<void>
	/** Posts the end of troubles that are over, at most every 5 s. Never rejects: the next look tries again. */
	look(): Promise<void>
	/** Time of the next look; infinite while there is nothing to end. */
	nextLookMs(): number
}

export interface UndeliveredOptions {
	readonly store: Pick<Store, 'summary' | 'post' | 'deliveries'>
	/** Undefined: nothing is recorded or announced, and no end is posted. */
	readonly troubles: TroubleBook | undefined
	readonly clock: Clock
	readonly log: Log
	/** Null when the receiver is no longer configured. */
	readonly receiverCalled: (name: string) => Receiver | null
}

const lookEveryMs = 5_000

export function createUndelivered(options: UndeliveredOptions): Undelivered {
	const { store, troubles, clock, log, receiverCalled } = options
	/** Not recorded in the state yet. */
	let fresh: readonly UndeliveredTrouble[] = []
	let lookedAtMs: number | null = null

	const open = () => troubles?.current().open.filter(isOfReceiver) ?? []
	const isOpen = (receiver: string, fallback: string) =>
		[...open(), ...fresh].some(
			(each) => each.outage === undefined && each.receiver === receiver && each.receivers.includes(fallback),
		)

	async function keepFresh(): Promise<void> {
		const all = fresh
		if (all.length === 0 || troubles === undefined) return
		await troubles.change((before) => ({ ...before, open: [...before.open, ...all] }))
		fresh = fresh.filter((each) => !all.includes(each))
	}

	async function end(trouble: UndeliveredTrouble): Promise<void> {
		const posts = trouble.receivers.flatMap((name) => endPosts(trouble, receiverCalled(name), clock()))
		if (posts.length > 0) await store.post(posts)
		await troubles?.change((before) => ({ ...before, open: before.open.filter((each) => !isSame(each, trouble)) }))
		const facts = { receiver: trouble.receiver, fallbacks: trouble.receivers }
		if (trouble.outage === undefined)
			log.info(facts, 'nothing is left of what a receiver refused: all was delivered or dropped')
		else if (trouble.outage.announced) log.info(facts, 'a receiver that failed for minutes accepts messages again')
	}

	async function isOver(trouble: UndeliveredTrouble, summary: ReceiverSummary | undefined): Promise<boolean> {
		if (trouble.outage === undefined || summary === undefined) return isRefusalOver(trouble, summary)
		const { pending, held, aside = 0, lastDeliveredAtMs } = summary
		if (pending + held - aside === 0) return true
		if (lastDeliveredAtMs === null || lastDeliveredAtMs < trouble.sinceMs) return false
		// Another mailbox of the receiver may have accepted it.
		const queue = { receiver: trouble.receiver, recipient: trouble.outage.recipient }
		return (await store.deliveries('pending', queue)).every((delivery) => failedAttempts(delivery) === 0)
	}

	return {
		isOpen,
		async begin(receiver, fallback) {
			if (isOpen(receiver, fallback)) return
			fresh = [...fresh, { kind: 'undelivered', receiver, sinceMs: clock(), receivers: [fallback] }]
			await keepFresh().catch((error: unknown) =>
				log.debug({ err: error, receiver }, 'that a receiver fails cannot be written down; trying again'),
			)
		},
		async look() {
			const nowMs = clock()
			// The absolute difference, because the clock may be set back.
			if (lookedAtMs !== null && Math.abs(nowMs - lookedAtMs) < lookEveryMs) return
			if (troubles === undefined || open().length + fresh.length === 0) return
			lookedAtMs = nowMs
			try {
				await keepFresh()
				const { receivers } = await store.summary()
				// The deliveries of a recent trouble may not be in the state yet.
				for (const trouble of open().filter(({ sinceMs }) => Math.abs(nowMs - sinceMs) >= lookEveryMs))
					if (await isOver(trouble, receivers.get(trouble.receiver))) await end(trouble)
			} catch (error) {
				log.debug({ err: error }, 'fallbacks cannot be notified that their receivers work again; trying again')
			}
		},
		nextLookMs: () =>
			troubles === undefined || open().length + fresh.length === 0
				? Number.POSITIVE_INFINITY
				: (lookedAtMs ?? clock()) + lookEveryMs,
	}
}

export function isOfReceiver(trouble: Trouble): trouble is UndeliveredTrouble {
	return trouble.kind === 'undelivered'
}

export function isSame(trouble: Trouble, { receiver, sinceMs, outage }: UndeliveredTrouble): boolean {
	const isOfOne = isOfReceiver(trouble) && trouble.receiver === receiver && trouble.sinceMs === sinceMs
	return isOfOne && (trouble.outage === undefined) === (outage === undefined)
}

/**
 * No delivery is parked, dead or being retried after that, and the receiver has either accepted a message since, or has
 * none left to accept. The latter matters because a digest has no history of its own.
 */
function isRefusalOver({ sinceMs }: UndeliveredTrouble, summary: ReceiverSummary | undefined): boolean {
	if (summary === undefined) return true
	const { pending, held, parked, dead, retried = 0, refused = 0, lastDeliveredAtMs } = summary
	if (parked + dead + retried + refused > 0) return false
	return pending + held === 0 || (lastDeliveredAtMs !== null && lastDeliveredAtMs >= sinceMs)
}

function endPosts(
	{ receiver, sinceMs, outage }: UndeliveredTrouble,
	fallback: Receiver | null,
	nowMs: number,
): readonly Delivery[] {
	// The end of an outage that was never announced is not sent.
	if (fallback === null || outage?.announced === false) return []
	const data = {
		id: `recovered:${outage === undefined ? 'undelivered' : 'failing'}:${sinceMs}:${receiver}`,
		receiver,
		recipient: outage?.recipient ?? null,
		state: outage === undefined ? 'parked' : 'failing',
		count: 0,
		reason:
			outage === undefined
				? 'nothing is left of what it refused: all of it was delivered, or discarded by hand'
				: 'it accepts messages again, or nothing waits for it any more',
		since: new Date(sinceMs).toISOString(),
		ends: 'undelivered',
	} as const
	return fallbackDeliveries(fallback, { seed: [data.id], nowMs }, (deliveryId): Message => {
		return { type: 'system.recovered', timestamp: new Date(nowMs).toISOString(), data: { ...data, deliveryId } }
	})
}
