/**
 * The troubles of receivers: the state has them, health reads them there, and a fallback is notified once of each
 * begin and end, in the write that records these. It also gets, once, each message that its receiver refuses or that is
 * given up; these go no further.
 */

import { sha256 } from '../../base/sha256.js'
import { isUndelivered } from '../../core/outbox/messageKinds.js'
import { copiesOf, copyId } from '../../core/outbox/posting.js'
import { failedAttempts, isAlone, isTriedAgain, statusOf } from '../../core/outbox/waiting.js'
import type { Message, UndeliveredData } from '../../model/alert.js'
import type { Delivery, Resolution } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Receiver, Store } from '../../model/ports.js'
import type { Trouble, TroubleBook, Troubles, UndeliveredTrouble } from '../../model/trouble.js'

export type Fallbacks = ReturnType<typeof createFallbacks>

export interface FallbackOptions {
	readonly store: Pick<Store, 'summary' | 'deliveries'>
	/** Undefined: no fallback is notified. */
	readonly troubles: TroubleBook | undefined
	readonly clock: Clock
	readonly log: Log
	/** Null when the receiver is no longer configured. */
	readonly receiverCalled: (name: string) => Receiver | null
	/** The fallback of a receiver; null: none. */
	readonly fallbackOf: (receiver: string) => Receiver | null
}

/** A receiver is in trouble after it has failed for this long, or after this many attempts of one delivery. */
const OUTAGE_MS = 5 * 60_000
const OUTAGE_ATTEMPTS = 20
const LOOK_EVERY_MS = 5_000
/** After a start, a receiver has this long to answer before an outage of an earlier process is announced. */
const GRACE_MS = 60_000

/** Troubles that a receiver can have at the same time, with the state and the reason of their ends. */
const ENDS = {
	undelivered: ['parked', 'nothing is left of what it refused: all of it was delivered, or discarded by hand'],
	failing: ['failing', 'it accepts messages again, or nothing waits for it any more'],
} as const
const SIDES = ['undelivered', 'failing'] as const
type Side = (typeof SIDES)[number]
const sideOf = ({ state }: UndeliveredTrouble): Side => (state === 'failing' ? 'failing' : 'undelivered')

/** What is known of a receiver. */
interface Standing {
	readonly deliveries: readonly Delivery[]
	readonly lastDeliveredAtMs: number | null
	/** Whether it had time to answer this process. */
	readonly isTried: boolean
}

export function createFallbacks(options: FallbackOptions) {
	const { store, troubles, clock, log, receiverCalled, fallbackOf } = options
	const startedMs = clock()
	const failedHere = new Set<string>()
	let lookedMs = Number.NEGATIVE_INFINITY
	let isDue = true

	const open = () => troubles?.current().open.filter((each) => each.kind === 'undelivered') ?? []
	const isPast = (sinceMs: number, ms: number) => Math.abs(clock() - sinceMs) >= ms

	async function lookAt(receiver: string, standing: Standing): Promise<void> {
		const fallback = fallbackOf(receiver)
		const receivers = fallback === null ? [] : [fallback.name]
		for (const side of SIDES) {
			const found = findingOf(side, standing.deliveries)
			const ours = open().filter((each) => each.receiver === receiver && sideOf(each) === side)
			const isKnown = ours.some((each) => receivers.every((name) => each.receivers.includes(name)))
			if (found !== null && !isKnown && (fallback !== null || side === 'failing')) {
				const begun = { receiver, recipient: found.delivery.recipient, sinceMs: clock(), receivers, state: found.state }
				const trouble = { kind: 'undelivered', ...begun, announced: false } as const
				await troubles?.change((before) => ({ ...before, open: [...before.open, trouble] }))
				ours.push(trouble)
			}
			for (const trouble of ours) {
				if (isOver(trouble, found, standing)) await end(trouble)
				else if (found !== null && isNews(trouble, found, standing)) await announce(trouble, found, standing)
			}
		}
	}

	function isNews({ state, announced, sinceMs }: UndeliveredTrouble, found: Finding, { isTried }: Standing): boolean {
		if (found.state !== 'failing') return !announced || (state === 'parked' && found.state === 'dead')
		if (announced || !isTried) return false
		return isPast(sinceMs, OUTAGE_MS) || failedAttempts(found.delivery) >= OUTAGE_ATTEMPTS
	}

	async function announce(trouble: UndeliveredTrouble, found: Finding, { deliveries }: Standing): Promise<void> {
		const { receiver, recipient, sinceMs } = trouble
		const { state, delivery } = found
		const count = countOf(state, deliveries)
		const id = `${sideOf(trouble)}:${sha256(JSON.stringify([receiver, sinceMs, state])).slice(0, 16)}`
		const reason = delivery.lastError ?? ''
		const isFirst = !trouble.announced && state !== 'failing'
		const instead = deliveries.filter((one) => isFirst && one.status !== 'dead' && one.refused !== undefined)
		const content = { id, recipient, state, count, reason }
		const posts = postsOf(trouble, 'system.undelivered', content, instead)
		await replace(trouble, [{ ...trouble, state, announced: true }], posts)
		if (state === 'failing') log.error({ receiver, waiting: count, reason }, 'a receiver has failed for minutes')
	}

	async function end(trouble: UndeliveredTrouble): Promise<void> {
		const { receiver, sinceMs, announced } = trouble
		const side = sideOf(trouble)
		const [state, reason] = ENDS[side]
		const id = `recovered:${side}:${sinceMs}:${receiver}`
		const recipient = side === 'failing' ? trouble.recipient : null
		const content = { id, recipient, state, count: 0, reason, ends: 'undelivered' } as const
		await replace(trouble, [], announced ? postsOf(trouble, 'system.recovered', content) : [])
		if (announced) log.info({ receiver, reason }, 'the trouble of a receiver is over')
	}

	/** For each notified receiver, with the messages that it gets instead. */
	function postsOf(
		{ receiver, sinceMs, receivers }: UndeliveredTrouble,
		type: Message['type'],
		content: Omit<UndeliveredData, 'receiver' | 'since'>,
		instead: readonly Delivery[] = [],
	): readonly Delivery[] {
		const timestamp = new Date(clock()).toISOString()
		const data = { ...content, receiver, since: new Date(sinceMs).toISOString() }
		return receivers.flatMap((name) => {
			const to = receiverCalled(name)
			if (to === null) return []
			const notices = copies(to, [data.id], (deliveryId) => ({ type, timestamp, data: { ...data, deliveryId } }))
			return [...notices, ...forwarded(instead, to)]
		})
	}

	async function replace(
		{ receiver, sinceMs, state }: UndeliveredTrouble,
		by: readonly Trouble[],
		posts: readonly Delivery[],
	): Promise<void> {
		const isIt = (each: Trouble) =>
			each.kind === 'undelivered' && each.receiver === receiver && each.sinceMs === sinceMs && each.state === state
		const change = (before: Troubles) => ({
			...before,
			open: before.open.flatMap((each) => (isIt(each) ? by : [each])),
		})
		await troubles?.change(change, posts)
	}

	/** One delivery for each recipient of the fallback. */
	function copies({ name, recipients }: Receiver, parts: readonly string[], messageOf: (id: string) => Message) {
		return copiesOf(parts, { receiver: name, recipients }, { nowMs: clock(), digest: sha256 }, messageOf)
	}

	/** The messages themselves. */
	function forwarded(all: readonly Delivery[], to: Receiver): readonly Delivery[] {
		return all.flatMap(({ id, receiver, message, answers }) => {
			if (isForFallback(message)) return []
			const messageOf = (deliveryId: string) =>
				({ ...message, data: { ...message.data, deliveryId, insteadOf: receiver } }) as const
			const answered = (copy: Delivery) => (answers === null ? null : copyId([answers, 'instead'], copy, sha256))
			return copies(to, [id, 'instead'], messageOf).map((copy) => ({ ...copy, answers: answered(copy) }))
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
			if (troubles === undefined || !(isDue || (open().length > 0 && isPast(lookedMs, LOOK_EVERY_MS)))) return
			lookedMs = clock()
			isDue = false
			try {
				const { receivers } = await store.summary()
				const all = await store.deliveries()
				for (const receiver of new Set([...all, ...open()].map((each) => each.receiver)))
					await lookAt(receiver, {
						deliveries: all.filter((one) => one.receiver === receiver),
						lastDeliveredAtMs: receivers.get(receiver)?.lastDeliveredAtMs ?? null,
						isTried: failedHere.has(receiver) || isPast(startedMs, GRACE_MS),
					})
			} catch (error) {
				isDue = true
				log.debug({ err: error }, 'fallbacks cannot be notified; trying again')
			}
		},
		/** Infinite while no receiver is in trouble. */
		nextLookMs: (): number =>
			troubles !== undefined && (isDue || open().length > 0) ? clock() + LOOK_EVERY_MS : Number.POSITIVE_INFINITY,
	}
}

interface Finding {
	readonly state: UndeliveredData['state']
	/** One that shows it. */
	readonly delivery: Delivery
}

/** What is wrong with a receiver; null: nothing. */
function findingOf(side: Side, deliveries: readonly Delivery[]): Finding | null {
	const own = deliveries.filter(({ message }) => !isForFallback(message))
	const dead = own.findLast(({ status }) => status === 'dead')
	const failing = deliveries.reduce<Delivery | null>(
		(worst, one) => (failedAttempts(one) > (worst === null ? 0 : failedAttempts(worst)) ? one : worst),
		null,
	)
	if (side === 'failing') return failing && { state: 'failing', delivery: failing }
	if (dead !== undefined) return { state: 'dead', delivery: dead }
	const refused = own.find((one) => one.refused !== undefined)
	return refused === undefined ? null : { state: 'parked', delivery: refused }
}

function isOver(trouble: UndeliveredTrouble, found: Finding | null, standing: Standing): boolean {
	const { deliveries, lastDeliveredAtMs } = standing
	const hasAccepted = lastDeliveredAtMs !== null && lastDeliveredAtMs >= trouble.sinceMs
	if (sideOf(trouble) === 'failing') return countOf('failing', deliveries) === 0 || (found === null && hasAccepted)
	const isLeft = deliveries.some((one) => one.status === 'dead' || isTriedAgain(one))
	return !isLeft && (deliveries.length === 0 || hasAccepted)
}

function countOf(state: UndeliveredData['state'], deliveries: readonly Delivery[]): number {
	return deliveries.filter((one) => {
		const status = statusOf(one)
		if (state === 'failing') return (status === 'pending' || status === 'held') && !isAlone(one)
		return state === 'dead' ? status === 'dead' : status === 'pending' || status === 'parked'
	}).length
}

function isForFallback({ data }: Message): boolean {
	return isUndelivered(data) || data.insteadOf !== undefined
}
