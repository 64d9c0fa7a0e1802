/**
 * Works on one claimed queue: each delivery waits (for its receiver, for an earlier one of its subject, for a digest)
 * or is tried, alone or in its digest, and what came of it is durable before the next is tried.
 */

import { sha256 } from '../../base/sha256.js'
import { createSlots, type Slots } from '../../base/waits/slots.js'
import { alertsIn, digestOf } from '../../core/outbox/digest.js'
import { restMs } from '../../core/outbox/refusals.js'
import { resolved } from '../../core/outbox/resolved.js'
import { inSendingOrder, rankOf } from '../../core/outbox/urgency.js'
import { ALONE, blockerOf, isAlone, isAside, isHeld, isParked, readyOf } from '../../core/outbox/waiting.js'
import type { Delivery, Outcome, Resolution } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Receiver, Store } from '../../model/ports.js'
import { batchOf, countAsked, countSent, type DigestRate, digestTimeOf } from './batch.js'
import { type Rest, resolutionOf, retryCeilingsMs, waitsBehind } from './deliveryBackoff.js'
import type { Fallbacks } from './fallback.js'
import { logAlone, logResult } from './queueLog.js'
import {
	type Failed,
	isOfAll,
	LONGEST_PAUSE_MS,
	type QueueState,
	type QueueStates,
	type Refusal,
} from './queueStates.js'
import type { Recorder } from './recorder.js'

/** Shared by all queues from start to end of a run or drain. */
export interface RunContext {
	/** No new attempts after this. */
	readonly stopping: AbortSignal
	/** Aborts attempts under way. */
	readonly cut: AbortSignal
	readonly recorder: Recorder
	readonly tally: { delivered: number; failed: number; held: number }
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
/**
 * Different messages refused in a row after which the receiver is taken to refuse everything; deliveries beside the
 * queue that fail in a row before it is paused.
 */
const MOST_IN_ROW = 3
/** The same within a minute after an accepted message: what it refuses for ever may stand before all others. */
const MOST_WHILE_IT_WORKS = 12

/** Whether to go on with the next delivery of the queue. */
type Next = 'continue' | 'stop'

type Untried = Exclude<Resolution, { readonly result: 'delivered' }>

/** One pass over a claimed queue. */
interface Pass {
	readonly context: RunContext
	readonly receiver: Receiver
	/** Null: each alert is sent alone. */
	readonly rate: DigestRate | null
	readonly queue: QueueState
	readonly claimed: readonly Delivery[]
	/** Deliveries beside the queue and those that wait for a digest, in sending order. */
	readonly aside: Map<string, Delivery>
	readonly settled: Set<string>
	/** What each digest of this pass carries, by its id. */
	readonly members: Map<string, readonly Delivery[]>
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
			...{ members: new Map(), asideFailures: 0, isProbed: false },
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
		if (states.pauseOf(delivery) !== null) return await underPause(delivery, pass)
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
		if (members.length < 2) return await tryIt(delivery, pass)
		const digest = digestOf(members, sha256)
		pass.members.set(digest.id, members)
		return await tryIt(digest, pass)
	}

	/** Without an attempt. */
	async function postpone(delivery: Delivery, resolution: Untried, pass: Pass): Promise<Next> {
		await record(resolution, pass)
		pass.aside.set(delivery.id, resolved(delivery, resolution))
		return 'continue'
	}

	/** The receiver refuses everything: one message is tried after each pause, the others wait for its end. */
	async function underPause(delivery: Delivery, pass: Pass): Promise<Next> {
		const pause = states.pauseOf(delivery)
		if (pause === null) return 'stop'
		if (!isParked(delivery) && pause.untilMs > clock()) {
			await park(delivery, pause.words, pass, { attempts: 0, delivery: 'untried' })
			return 'continue'
		}
		if (pass.isProbed || pause.isProbed) return 'continue'
		pause.isProbed = true
		pass.isProbed = true
		try {
			await tryIt(probeOf(await store.aside(delivery)) ?? delivery, pass)
		} finally {
			pause.isProbed = false
		}
		return 'continue'
	}

	async function tryIt(delivery: Delivery, pass: Pass): Promise<Next> {
		const outcome = await attempt(pass.receiver, delivery, pass.context.cut)
		if (outcome.result === 'retry') return await failed(delivery, outcome, pass)
		if (outcome.result === 'parked') return await refused(delivery, outcome, pass)
		if (outcome.result === 'dead' && isDigest(delivery, pass)) return await takeApart(delivery, outcome, pass)
		await settle(delivery, outcome, resolve(delivery, outcome, pass), pass)
		return outcome.result === 'delivered' ? await accepted(delivery, pass) : 'continue'
	}

	async function failed(delivery: Delivery, outcome: Failed, pass: Pass): Promise<Next> {
		const { context, queue } = pass
		// The attempt was aborted by our own stop; it says nothing about the receiver.
		if (context.cut.aborted) return 'stop'
		queue.failures += 1
		const pause = states.pauseOf(delivery)
		// The message tried after a pause: the receiver does not accept yet.
		if (pause !== null) pause.untilMs = clock() + restMs(pause.sinceMs, clock())
		const isBeside = isAside(delivery)
		const isOwn = isAlone(delivery) || (isBeside && queue.state === 'open' && queue.acceptedAtMs !== null)
		if (isOwn && !isAlone(delivery)) logAlone(log, delivery, outcome.reason)
		if (isOwn && isDigest(delivery, pass)) return await takeApart(delivery, outcome, pass)
		const resolution = resolve(delivery, { ...outcome, ...(isOwn && { code: ALONE }) }, pass)
		await settle(delivery, outcome, resolution, pass)
		if (resolution.result !== 'retry') return 'continue'
		if (isBeside) return afterAside(pass)
		queue.state = 'failing'
		if (membersOf(delivery, pass).some(({ id }) => pass.aside.has(id))) pauseQueue(queue)
		return 'stop'
	}

	function afterAside(pass: Pass): Next {
		pass.asideFailures += 1
		if (pass.asideFailures < mostInRow(pass.queue)) return 'continue'
		pauseQueue(pass.queue)
		return 'stop'
	}

	function mostInRow({ acceptedAtMs }: QueueState): number {
		return Math.abs(clock() - (acceptedAtMs ?? 0)) < LONGEST_PAUSE_MS ? MOST_WHILE_IT_WORKS : MOST_IN_ROW
	}

	function pauseQueue(queue: QueueState): void {
		const ceilingMs = retryCeilingsMs[Math.min(queue.failures, retryCeilingsMs.length) - 1] ?? LONGEST_PAUSE_MS
		queue.pausedUntilMs = clock() + Math.min(ceilingMs, LONGEST_PAUSE_MS)
	}

	async function refused(delivery: Delivery, refusal: Refusal, pass: Pass): Promise<Next> {
		const { queue } = pass
		const isFirst = delivery.refused === undefined || (isParked(delivery) && delivery.attempts === 0)
		if (isFirst) queue.refused.add(delivery.id)
		const refusesAll = queue.refused.size >= mostInRow(queue) || isOfAll(delivery, refusal.code)
		if (states.pauseOf(delivery) !== null || refusesAll) return await rest(delivery, refusal, pass)
		const resolution = resolve(delivery, refusal, pass)
		if (resolution.result === 'retry' && isDigest(delivery, pass)) return await takeApart(delivery, refusal, pass)
		await settle(delivery, refusal, resolution, pass)
		return isFirst ? 'continue' : afterAside(pass)
	}

	/** Probably one alert of the digest is the reason: each is sent alone, before the rest of the queue. */
	async function takeApart(digest: Delivery, outcome: Outcome, pass: Pass): Promise<Next> {
		await settle(digest, outcome, { id: digest.id, result: 'wait', as: 'alone', untilMs: clock() }, pass)
		return 'stop'
	}

	/** The receiver refuses everything: all that waits for it waits until the end of the next pause. */
	async function rest(delivery: Delivery, refusal: Refusal, pass: Pass): Promise<Next> {
		const { queue } = pass
		const pause = states.begin(delivery, refusal, clock())
		pause.untilMs = clock() + restMs(pause.sinceMs, clock())
		pass.isProbed = true
		const own = new Set(membersOf(delivery, pass).map(({ id }) => id))
		const waiting = (await store.deliveries('pending')).filter(
			(one) => !own.has(one.id) && states.isSharing(delivery, one) && (isParked(one) || queue.refused.has(one.id)),
		)
		const attempts = waiting.reduce((sum, one) => sum + one.attempts, delivery.attempts)
		queue.refused.clear()
		await Promise.all([
			park(delivery, refusal, pass, { attempts, delivery: 'tried' }),
			...waiting.map((one) => park(one, refusal, pass, { attempts, delivery: 'refused' })),
		])
		return 'continue'
	}

	async function park(delivery: Delivery, refusal: Refusal, pass: Pass, known: Omit<Rest, 'pause'>): Promise<void> {
		const nowMs = clock()
		const pause = states.pauseOf(delivery) ?? { untilMs: nowMs, sinceMs: nowMs }
		const resolution = resolve(delivery, refusal, pass, { ...known, pause })
		// It failed alone before, and goes on to.
		if ('code' in resolution && resolution.code === ALONE) return await record(resolution, pass)
		await settle(delivery, refusal, resolution, pass)
	}

	function resolve(delivery: Delivery, outcome: Outcome, { queue }: Pass, rest?: Rest): Resolution {
		return resolutionOf(delivery, outcome, { queue, nowMs: clock(), random, ...(rest && { rest }) })
	}

	/** The receiver works: what waited for that is due at once. */
	async function accepted(delivery: Delivery, pass: Pass): Promise<Next> {
		const { queue, aside } = pass
		const nowMs = clock()
		countSent(delivery, pass.rate, queue, nowMs)
		const freed = [...queue.refused]
		const beside = [...aside.values()].filter((one) => !isHeld(one))
		if (queue.state === 'failing') freed.push(...beside.flatMap((one) => (one.refused === undefined ? one.id : [])))
		for (const one of beside) if (blockerOf(one, [delivery]) !== null) freed.push(one.id)
		if (states.pauseOf(delivery) !== null) {
			const all = await store.deliveries('pending')
			freed.push(...all.flatMap((one) => (isParked(one) && states.isSharing(delivery, one) ? one.id : [])))
			states.end(delivery)
		}
		Object.assign(queue, { state: 'open', failures: 0, broken: 0, pausedUntilMs: 0, acceptedAtMs: nowMs })
		queue.refused.clear()
		pass.asideFailures = 0
		const later = freed.filter((id) => !pass.settled.has(id) && !pass.members.has(id))
		if (later.length === 0) return 'continue'
		await store.retry(later, nowMs)
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

	/** Records what came of an attempt, and updates the fallback, the log and the counts. */
	async function settle(delivery: Delivery, outcome: Outcome, resolution: Resolution, pass: Pass): Promise<void> {
		const { tally } = pass.context
		const { aside, queue } = pass
		const members = membersOf(delivery, pass)
		await record(resolution, pass, fallbacks.postsFor(members, resolution))
		if (resolution.result === 'retry' || resolution.result === 'dead') fallbacks.failed(delivery)
		for (const { id } of members) aside.delete(id)
		if (resolution.result === 'retry') {
			const after = members.map((one) => resolved(one, resolution)).filter(isAside)
			for (const one of after.toReversed()) addInOrder(aside, one)
		}
		// A message that fails alone says nothing about the others.
		if (outcome.result === 'retry' && outcome.afterMs !== undefined && !isAlone(delivery))
			countAsked(queue, outcome.afterMs, clock())
		if ('untried' in resolution && resolution.untried) {
			tally.failed += 1
			return
		}
		const final = finalOf(outcome, resolution)
		logResult(log, queue, delivery, final)
		if (outcome.result === 'delivered') tally.delivered += alertsIn(delivery.message)
		else tally.failed += 1
		onResult?.(delivery, final)
	}

	async function record(resolution: Resolution, pass: Pass, post: readonly Delivery[] = []): Promise<void> {
		const ids = (pass.members.get(resolution.id) ?? [resolution]).map(({ id }) => id)
		await pass.context.recorder.record(
			ids.map((id) => ({ ...resolution, id })),
			post,
		)
		for (const id of ids) pass.settled.add(id)
	}

	function slotsOf(name: string): Slots {
		const known = slots.get(name) ?? createSlots(QUEUES_PER_RECEIVER)
		slots.set(name, known)
		return known
	}

	return work
}

function membersOf(delivery: Delivery, { members }: Pass): readonly Delivery[] {
	return members.get(delivery.id) ?? [delivery]
}

function isDigest({ id }: Delivery, { members }: Pass): boolean {
	return members.has(id)
}

/** Later deliveries of the same subject stand behind it. */
function addInOrder(aside: Map<string, Delivery>, delivery: Delivery): void {
	const all = [...aside.values()]
	aside.clear()
	for (const one of [delivery, ...all]) aside.set(one.id, one)
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
