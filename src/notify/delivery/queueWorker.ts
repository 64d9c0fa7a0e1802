/**
 * Works on one claimed queue: each delivery waits (for its receiver, for an earlier one of its subject, for a digest)
 * or is tried, alone or in its digest, and what came of it is durable before the next is tried.
 */

import { sha256 } from '../../base/sha256.js'
import { createSlots, type Slots } from '../../base/waits/slots.js'
import { alertsIn, digestOf } from '../../core/outbox/digest.js'
import { resolved } from '../../core/outbox/resolved.js'
import { inSendingOrder, rankOf } from '../../core/outbox/urgency.js'
import { ALONE, blockerOf, isAlone, isAside, isHeld, isParked, readyOf } from '../../core/outbox/waiting.js'
import type { Delivery, Outcome, Resolution } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Receiver, Store } from '../../model/ports.js'
import { batchOf, countAsked, countSent, type DigestRate, digestTimeOf } from './batch.js'
import {
	afterFailure,
	afterRefusal,
	afterRefusalOfAll,
	dead,
	type Failed,
	type Pause,
	type Refusal,
	untilPauseEnds,
	waitsBehind,
} from './deliveryBackoff.js'
import type { Fallbacks } from './fallback.js'
import { logResult } from './queueLog.js'
import { isOfAll, mostInRow, pauseQueue, prolong, type QueueState, type QueueStates } from './queueStates.js'
import type { Recorder } from './recorder.js'

/** Shared by all queues from start to end of a run or drain. */
export interface RunContext {
	/** No new attempts after this. */
	readonly stopping: AbortSignal
	/** Aborts attempts under way. */
	readonly cut: AbortSignal
	readonly recorder: Recorder
	readonly tally: { delivered: number; failed: number; held: number }
	/** Only what is due at this time is tried, and what a success frees is; null: whatever becomes due. */
	readonly onlyDueAtMs: number | null
}

export interface QueueWorkerOptions {
	readonly store: Store
	readonly clock: Clock
	readonly log: Log
	readonly random: () => number
	readonly states: QueueStates
	readonly fallbacks: Fallbacks
	/** Null when the receiver or the recipient is no longer configured. */
	readonly receiverOf: (delivery: Delivery) => Receiver | null
	/** Null: each alert is sent alone. */
	readonly rateOf: (delivery: Delivery) => DigestRate | null
	readonly onResult: ((delivery: Delivery, outcome: Outcome) => void) | undefined
}

const QUEUES_PER_RECEIVER = 2

/** Whether to go on with the next delivery of the queue. */
type Next = 'continue' | 'stop'

type Untried = Exclude<Resolution, { readonly result: 'delivered' }>

/** What one message carries: a delivery itself, or the digest of several. */
interface Parcel {
	readonly sent: Delivery
	readonly members: readonly Delivery[]
}

/** One pass over a claimed queue. */
interface Pass {
	readonly context: RunContext
	readonly receiver: Receiver
	/** Null: each alert is sent alone. */
	readonly rate: DigestRate | null
	readonly queue: QueueState
	readonly claimed: readonly Delivery[]
	/** Deliveries beside the queue and those that wait for a digest, in sending order. */
	aside: Map<string, Delivery>
	readonly settled: Set<string>
	asideFailures: number
	/** A message was tried under the pause. */
	isProbed: boolean
}

/** The result works on one claimed queue, and resolves when the results are recorded. */
export function createQueueWorker(options: QueueWorkerOptions) {
	const { store, clock, log, random, states, fallbacks, receiverOf, rateOf, onResult } = options
	const slots = new Map<string, Slots>()

	async function work(queue: readonly Delivery[], context: RunContext): Promise<void> {
		const [first] = queue
		const receiver = first === undefined ? null : receiverOf(first)
		if (first === undefined || receiver === null) return
		let posted = false
		const stopListening = store.onPosted(() => {
			posted = true
		})
		const giveBack = await slotsOf(first.receiver).take()
		const settled = new Set<string>()
		try {
			const pass = await passOver(receiver, queue, { context, settled })
			for (const delivery of queue) {
				if (context.stopping.aborted) break
				// Messages posted meanwhile may be more urgent: the rest is claimed again, in sending order.
				if (posted && rankOf(delivery) > 0) break
				if (settled.has(delivery.id)) continue
				if ((await step(delivery, pass)) === 'stop') break
			}
		} finally {
			stopListening()
			giveBack()
			const left = queue.filter(({ id }) => !settled.has(id)).map(({ id }) => id)
			if (left.length > 0) await store.release(left)
		}
	}

	async function passOver(
		receiver: Receiver,
		queue: readonly Delivery[],
		shared: Pick<Pass, 'context' | 'settled'>,
	): Promise<Pass> {
		const [first] = queue as readonly [Delivery]
		const state = states.of(first)
		const aside = await store.aside(first)
		if (state.acceptedAtMs === null && aside.some(({ refused }) => refused !== undefined)) {
			state.acceptedAtMs = await acceptedBefore(receiver)
			for (const one of aside)
				if (isAlone(one) && one.refused && one.refused.sinceMs > (state.acceptedAtMs ?? 0)) state.refused.add(one.id)
		}
		return {
			...{ ...shared, receiver, rate: rateOf(first), queue: state, claimed: queue },
			...{ asideFailures: 0, isProbed: false },
			aside: new Map(aside.map((one) => [one.id, one])),
		}
	}

	/** When an earlier process last saw the queue accept a message; null: never, or not known for this recipient. */
	async function acceptedBefore({ name, recipients }: Receiver): Promise<number | null> {
		if ((recipients?.length ?? 1) > 1) return null
		return (await store.summary()).receivers.get(name)?.lastDeliveredAtMs ?? null
	}

	/** The stages of a delivery: under a pause, held for a digest, behind an earlier one, tried in a digest or alone. */
	async function step(delivery: Delivery, pass: Pass): Promise<Next> {
		const pause = states.pauseOf(delivery)
		if (pause !== null) return await underPause(delivery, pause, pass)
		const { receiver, rate, queue, aside, claimed, settled } = pass
		const { id } = delivery
		const untilMs = digestTimeOf(delivery, { rate, queue, aside: aside.values(), nowMs: clock() })
		if (untilMs !== null) {
			pass.context.tally.held += 1
			return await postpone(delivery, { id, result: 'wait', as: 'digest', untilMs }, pass)
		}
		const blocker = blockerOf(delivery, aside.values())
		if (blocker !== null) return await postpone(delivery, waitsBehind(delivery, blocker, clock()), pass)
		const left = claimed.slice(claimed.indexOf(delivery)).filter((one) => !settled.has(one.id))
		const members = batchOf(left, [...aside.values()], receiver)
		return await tryIt(members.length < 2 ? alone(delivery) : { sent: digestOf(members, sha256), members }, pass)
	}

	/** Records a wait without an attempt. */
	async function postpone(delivery: Delivery, resolution: Untried, pass: Pass): Promise<Next> {
		await record(alone(delivery), resolution, pass)
		pass.aside.set(delivery.id, resolved(delivery, resolution))
		return 'continue'
	}

	/** The receiver refuses everything: one message is tried after each pause, the others wait for its end. */
	async function underPause(delivery: Delivery, pause: Pause, pass: Pass): Promise<Next> {
		if (!isParked(delivery) && pause.untilMs > clock()) {
			pass.context.tally.failed += 1
			return await postpone(delivery, untilPauseEnds(delivery, pause), pass)
		}
		if (pass.isProbed || pause.isProbed) return 'continue'
		pause.isProbed = true
		pass.isProbed = true
		try {
			await tryIt(alone(probeOf(await store.aside(delivery)) ?? delivery), pass)
		} finally {
			pause.isProbed = false
		}
		return 'continue'
	}

	async function tryIt(parcel: Parcel, pass: Pass): Promise<Next> {
		const { sent } = parcel
		const outcome = await attempt(pass.receiver, sent, pass.context.cut)
		if (outcome.result === 'retry') return await failed(parcel, outcome, pass)
		if (outcome.result === 'parked') return await refused(parcel, outcome, pass)
		if (outcome.result === 'dead' && isDigest(parcel)) return await takeApart(parcel, outcome, pass)
		if (outcome.result === 'dead') {
			await settle(parcel, outcome, dead(sent, outcome, clock()), pass)
			return 'continue'
		}
		await settle(parcel, outcome, { id: sent.id, ...outcome }, pass)
		return await accepted(parcel, pass)
	}

	async function failed(parcel: Parcel, outcome: Failed, pass: Pass): Promise<Next> {
		const { context, queue } = pass
		const { sent, members } = parcel
		// The attempt was aborted by our own stop; it says nothing about the receiver.
		if (context.cut.aborted) return 'stop'
		queue.failures += 1
		const pause = states.pauseOf(sent)
		// The message tried after a pause: the receiver does not accept yet.
		if (pause !== null) prolong(pause, clock())
		const isBeside = isAside(sent)
		const isOwn = isAlone(sent) || (isBeside && !queue.isFailing && queue.acceptedAtMs !== null)
		if (isOwn && isDigest(parcel)) return await takeApart(parcel, outcome, pass)
		const { failures } = queue
		const own = isOwn ? { ...outcome, code: ALONE } : outcome
		const resolution = afterFailure(sent, own, { nowMs: clock(), random, failures })
		await settle(parcel, outcome, resolution, pass)
		if (resolution.result !== 'retry') return 'continue'
		if (isBeside) return afterAside(pass)
		queue.isFailing = true
		if (members.some(({ id }) => pass.aside.has(id))) pauseQueue(queue, clock())
		return 'stop'
	}

	function afterAside(pass: Pass): Next {
		pass.asideFailures += 1
		if (pass.asideFailures < mostInRow(pass.queue, clock())) return 'continue'
		pauseQueue(pass.queue, clock())
		return 'stop'
	}

	async function refused(parcel: Parcel, refusal: Refusal, pass: Pass): Promise<Next> {
		const { queue } = pass
		const { sent } = parcel
		const isFirst = sent.refused === undefined || (isParked(sent) && sent.attempts === 0)
		if (isFirst) queue.refused.add(sent.id)
		const refusesAll = queue.refused.size >= mostInRow(queue, clock()) || isOfAll(sent, refusal.code)
		if (states.pauseOf(sent) !== null || refusesAll) return await rest(parcel, refusal, pass)
		const resolution = afterRefusal(sent, refusal, queue.acceptedAtMs, clock())
		if (resolution.result === 'retry' && isDigest(parcel)) return await takeApart(parcel, refusal, pass)
		await settle(parcel, refusal, resolution, pass)
		return isFirst ? 'continue' : afterAside(pass)
	}

	/** Probably one alert of the digest is the reason: each is sent alone, before the rest of the queue. */
	async function takeApart(parcel: Parcel, outcome: Outcome, pass: Pass): Promise<Next> {
		await settle(parcel, outcome, { id: parcel.sent.id, result: 'wait', as: 'alone', untilMs: clock() }, pass)
		return 'stop'
	}

	/** The receiver refuses everything: all that waits for it waits until the end of the next pause. */
	async function rest(parcel: Parcel, refusal: Refusal, pass: Pass): Promise<Next> {
		const { queue } = pass
		const { sent, members } = parcel
		const nowMs = clock()
		const pause = states.begin(sent, refusal, nowMs)
		prolong(pause, nowMs)
		pass.isProbed = true
		const own = new Set(members.map(({ id }) => id))
		const waiting = (await store.deliveries('pending')).filter(
			(one) => !own.has(one.id) && states.isSharing(sent, one) && (isParked(one) || queue.refused.has(one.id)),
		)
		const attempts = waiting.reduce((sum, one) => sum + one.attempts, sent.attempts)
		queue.refused.clear()
		await Promise.all([
			settle(parcel, refusal, afterRefusalOfAll(sent, pause, attempts, nowMs), pass),
			...waiting.map((one) => {
				const resolution = { ...afterRefusalOfAll(one, pause, attempts, nowMs), untried: true } as const
				return settle(alone(one), refusal, resolution, pass)
			}),
		])
		return 'continue'
	}

	/** The receiver works: what waited for that is due at once. */
	async function accepted({ sent, members }: Parcel, pass: Pass): Promise<Next> {
		const { queue, aside } = pass
		const nowMs = clock()
		countSent(sent, pass.rate, queue, nowMs)
		const freed = [...queue.refused]
		const beside = [...aside.values()].filter((one) => !isHeld(one))
		if (queue.isFailing) freed.push(...beside.flatMap((one) => (one.refused === undefined ? one.id : [])))
		for (const one of beside) if (blockerOf(one, [sent]) !== null) freed.push(one.id)
		if (states.pauseOf(sent) !== null) {
			const all = await store.deliveries('pending')
			freed.push(...all.flatMap((one) => (isParked(one) && states.isSharing(sent, one) ? one.id : [])))
			states.end(sent)
		}
		Object.assign(queue, { isFailing: false, failures: 0, pausedUntilMs: 0, acceptedAtMs: nowMs })
		queue.refused.clear()
		pass.asideFailures = 0
		const later = freed.filter((id) => !pass.settled.has(id) && !members.some((one) => one.id === id))
		if (later.length === 0) return 'continue'
		await store.retry(later, pass.context.onlyDueAtMs ?? nowMs)
		// They are sent before the rest of the queue.
		return 'stop'
	}

	async function attempt(receiver: Receiver, delivery: Delivery, cut: AbortSignal): Promise<Outcome> {
		try {
			return await receiver.deliver(delivery, cut)
		} catch (error) {
			log.error({ err: error, receiver: receiver.name, delivery: delivery.id }, 'a receiver failed inside tracewatch')
			return { result: 'retry', code: 'internal', reason: 'tracewatch itself failed; see the log' }
		}
	}

	/** Records what came of an attempt, and updates the log and the counts. */
	async function settle(parcel: Parcel, outcome: Outcome, resolution: Resolution, pass: Pass): Promise<void> {
		const { tally } = pass.context
		const { sent, members } = parcel
		await record(parcel, resolution, pass)
		for (const { id } of members) pass.aside.delete(id)
		if (resolution.result === 'retry') {
			const after = members.map((one) => resolved(one, resolution)).filter(isAside)
			// In front: later deliveries of the same subject wait behind it.
			pass.aside = new Map([...after.map((one) => [one.id, one] as const), ...pass.aside])
		}
		// A message that fails alone says nothing about the others.
		if (outcome.result === 'retry' && outcome.afterMs !== undefined && !isAlone(sent))
			countAsked(pass.queue, outcome.afterMs, clock())
		if (outcome.result === 'delivered') tally.delivered += alertsIn(sent.message)
		else tally.failed += 1
		if ('untried' in resolution && resolution.result !== 'dead') return
		const isOwnNow = outcome.result === 'retry' && 'code' in resolution && resolution.code === ALONE
		const final = finalOf(outcome, resolution)
		logResult(log, pass.queue, { delivery: sent, outcome: final, isOwn: isAlone(sent) || isOwnNow })
		onResult?.(sent, final)
	}

	/** With what the fallback gets, in one write. */
	async function record({ sent, members }: Parcel, resolution: Resolution, pass: Pass): Promise<void> {
		await pass.context.recorder.record(
			members.map(({ id }) => ({ ...resolution, id })),
			fallbacks.postsFor(members, resolution),
		)
		for (const { id } of members) pass.settled.add(id)
		if (resolution.result === 'retry' || resolution.result === 'dead') fallbacks.failed(sent)
	}

	function slotsOf(name: string): Slots {
		const known = slots.get(name) ?? createSlots(QUEUES_PER_RECEIVER)
		slots.set(name, known)
		return known
	}

	return work
}

const alone = (delivery: Delivery): Parcel => ({ sent: delivery, members: [delivery] })

function isDigest({ sent, members }: Parcel): boolean {
	return members[0] !== sent
}

/**
 * A message with the fewest attempts, since some messages may be the reason: the first and the last in sending order,
 * in turn. Never one that would overtake another about the same subject.
 */
function probeOf(aside: readonly Delivery[]): Delivery | null {
	const parked = readyOf(inSendingOrder(aside)).filter(isParked)
	const takesFirst = parked.reduce((sum, { attempts }) => sum + attempts, 0) % 2 === 1
	return parked.reduce<Delivery | null>((least, one) => {
		if (least === null || one.attempts < least.attempts) return one
		return !takesFirst && one.attempts === least.attempts ? one : least
	}, null)
}

/** The outcome as counted and logged. */
function finalOf(outcome: Outcome, resolution: Resolution): Outcome {
	if (resolution.result === 'dead') return { result: 'dead', code: resolution.code, reason: resolution.error }
	if (resolution.result !== 'wait' || outcome.result === 'delivered') return outcome
	return { result: 'retry', code: outcome.code, reason: `${outcome.reason}; its alerts are sent one by one` }
}
