/**
 * What fallbacks were told: that a receiver takes nothing, or refuses what it is sent. It is ended once nothing is left
 * of what was refused. That it is to be ended is written down before it is told, and that it is ended after that was
 * told.
 */

import type { Message } from '../../model/alert.js'
import type { Delivery } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Receiver, Store } from '../../model/ports.js'
import type { ReceiverSummary } from '../../model/state.js'
import type { Trouble, TroubleBook, UndeliveredTrouble } from '../../model/trouble.js'
import { toEach } from './toEach.js'

export interface Undelivered {
	/** Whether this fallback knows of it. */
	isOpen(receiver: string, fallback: string): boolean
	/** It is about to be told. Never rejects: what cannot be written down is tried again at each look. */
	begin(receiver: string, fallback: string): Promise<void>
	/** Posts the end of what is over, unless it has just looked. Never rejects: it is tried again. */
	look(): Promise<void>
	/** When it will look again; infinite while there is nothing to end. */
	nextLookMs(): number
}

export interface UndeliveredOptions {
	readonly store: Pick<Store, 'summary' | 'post'>
	/** Default: nothing is written down, and no end told. */
	readonly troubles: TroubleBook | undefined
	readonly clock: Clock
	readonly log: Log
	/** Null when it is configured no more. */
	readonly receiverCalled: (name: string) => Receiver | null
}

const lookEveryMs = 5_000

export function createUndelivered(options: UndeliveredOptions): Undelivered {
	const { store, troubles, clock, log, receiverCalled } = options
	/** Not written down yet. */
	let fresh: readonly UndeliveredTrouble[] = []
	let lookedAtMs: number | null = null

	const open = () => troubles?.current().open.filter(isOfReceiver) ?? []
	const isOpen = (receiver: string, fallback: string) =>
		[...open(), ...fresh].some((each) => each.receiver === receiver && each.receivers.includes(fallback))

	async function keepFresh(): Promise<void> {
		const all = fresh
		if (all.length === 0 || troubles === undefined) return
		await troubles.change((before) => ({ ...before, open: [...before.open, ...all] }))
		fresh = fresh.filter((each) => !all.includes(each))
	}

	async function end(trouble: UndeliveredTrouble): Promise<void> {
		const posts = trouble.receivers.flatMap((name) => endPosts(trouble, receiverCalled(name), clock()))
		if (posts.length > 0) await store.post(posts)
		const { receiver, sinceMs } = trouble
		await troubles?.change((before) => ({
			...before,
			open: before.open.filter(
				(each) => !(isOfReceiver(each) && each.receiver === receiver && each.sinceMs === sinceMs),
			),
		}))
		log.info({ receiver, fallbacks: trouble.receivers }, 'nothing is left of what a receiver refused')
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
			// A clock that was set back must not keep it from looking.
			if (lookedAtMs !== null && Math.abs(nowMs - lookedAtMs) < lookEveryMs) return
			if (troubles === undefined || open().length + fresh.length === 0) return
			lookedAtMs = nowMs
			try {
				await keepFresh()
				const { receivers } = await store.summary()
				// What has just begun may not be in the state yet.
				for (const trouble of open().filter(({ sinceMs }) => Math.abs(nowMs - sinceMs) >= lookEveryMs))
					if (isOver(trouble, receivers.get(trouble.receiver))) await end(trouble)
			} catch (error) {
				log.debug({ err: error }, 'whether receivers work again cannot be told to their fallbacks; trying again')
			}
		},
		nextLookMs: () =>
			troubles === undefined || open().length + fresh.length === 0
				? Number.POSITIVE_INFINITY
				: (lookedAtMs ?? clock()) + lookEveryMs,
	}
}

function isOfReceiver(trouble: Trouble): trouble is UndeliveredTrouble {
	return trouble.kind === 'undelivered'
}

/**
 * Nothing is parked, dead or tried once more; and the receiver has taken something since, or nothing is left that it
 * could take: what a silence has made into a digest has no past of its own.
 */
function isOver({ sinceMs }: UndeliveredTrouble, summary: ReceiverSummary | undefined): boolean {
	if (summary === undefined) return true
	const { pending, held, parked, dead, again = 0, lastDeliveredAtMs } = summary
	if (parked + dead + again > 0) return false
	return pending + held === 0 || (lastDeliveredAtMs !== null && lastDeliveredAtMs >= sinceMs)
}

function endPosts(
	{ receiver, sinceMs }: UndeliveredTrouble,
	fallback: Receiver | null,
	nowMs: number,
): readonly Delivery[] {
	if (fallback === null) return []
	const data = {
		id: `recovered:undelivered:${sinceMs}:${receiver}`,
		receiver,
		recipient: null,
		state: 'parked',
		count: 0,
		reason: 'nothing is left of what it refused: all of it was delivered, or discarded by hand',
		since: new Date(sinceMs).toISOString(),
		ends: 'undelivered',
	} as const
	return toEach(fallback, [data.id], nowMs, null, (deliveryId): Message => {
		return { type: 'system.recovered', timestamp: new Date(nowMs).toISOString(), data: { ...data, deliveryId } }
	})
}
