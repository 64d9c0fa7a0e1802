/**
 * Sends the deliveries of one claimed queue in order, up to the first that must wait. Each success is recorded while
 * the next attempt runs.
 */

import { createSlots, type Slots } from '../../base/waits/slots.js'
import { steadyClock } from '../../base/waits/steadyClock.js'
import { alertsIn, splitDigest } from '../../core/outbox/digest.js'
import { isQuarantined, quarantineCode } from '../../core/outbox/quarantine.js'
import { queueOf } from '../../core/outbox/queue.js'
import { isRefusedAlone, restMs } from '../../core/outbox/refusals.js'
import { isReread } from '../../core/outbox/retriedDeadLetters.js'
import { rankOf } from '../../core/outbox/urgency.js'
import type { Delivery, Outcome, Resolution } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Receiver, Store } from '../../model/ports.js'
import { type Blocker, createQuarantine, type Quarantine, quarantinedLast } from './blockers.js'
import { isExpired, isExpiredAtRest, nextAttemptMs } from './deliveryBackoff.js'
import type { Fallbacks } from './fallback/fallback.js'
import type { Deferrals, Judge } from './held/deferral.js'
import { createPoisonProbe, type Failed, type PoisonProbe, withLongestWait } from './poisonProbe.js'
import type { QueueLog } from './queueLog.js'
import type { Recorder } from './recorder.js'
import { createRefusalSampling, type Refusal, type RefusalSampling, sampleSize } from './refusalSampling.js'
import type { Suspension } from './suspension.js'
import type { Unconfigured } from './unconfigured.js'

/** Shared by all queues from start to end of a run or drain. */
export interface RunContext {
	/** No new attempts after this. */
	readonly stopping: AbortSignal
	/** Aborts attempts under way. */
	readonly cut: AbortSignal
	readonly recorder: Recorder
	readonly suspension: Suspension
	readonly tally: { delivered: number; failed: number; held: number }
}

export interface QueueWorkerOptions {
	readonly store: Store
	readonly clock: Clock
	readonly log: Log
	readonly random: () => number
	readonly queueLog: QueueLog
	readonly unconfigured: Unconfigured
	readonly fallbacks: Fallbacks
	readonly deferrals: Deferrals
	/** Null when the receiver or the recipient is no longer configured. */
	readonly receiverOf: (delivery: Delivery) => Receiver | null
	readonly onResult: ((delivery: Delivery, outcome: Outcome) => void) | undefined
	/** Called when deliveries may have become due. */
	readonly wakeUp: () => void
}

export interface QueueWorker {
	/** Resolves when the results are recorded. */
	work(queue: readonly Delivery[], context: RunContext): Promise<void>
}

const queuesPerReceiver = 2
/** Wait before a suspect is retried; it may have failed only because the receiver was down for a moment. */
const againAfterMs = 1_000

/** A queue that accepted a message within this time does not refuse everything. */
const worksNowMs = 60_000

/** Whether to go on with the next delivery of the queue. */
type Next = 'continue' | 'stop'

/** One pass over a claimed queue. */
interface Pass {
	readonly context: RunContext
	readonly judge: Judge
	readonly quarantine: Quarantine
	readonly probe: PoisonProbe
	readonly sampling: RefusalSampling
	quarantinedFailures: number
	/** When the queue last accepted a message before this pass; null: not known. */
	readonly acceptedAtMs: number | null
	/** Set aside, and refused since then: the next accepted message frees them. */
	inRow: readonly Delivery[]
	/** Resolves when all that was recorded is durable, or failed. */
	readonly recorded: () => Promise<unknown>
	readonly record: (resolution: Resolution, post?: readonly Delivery[]) => void
	/** Records the resolution of an attempt, and updates the fallback, the log and the counts. */
	readonly settle: (delivery: Delivery, outcome: Outcome, resolution: Resolution) => Promise<void>
}

export function createQueueWorker(options: QueueWorkerOptions): QueueWorker {
	const { store, clock, log, random, queueLog, unconfigured, fallbacks, deferrals, receiverOf, onResult, wakeUp } =
		options
	const slots = new Map<string, Slots>()
	/** By queue: when it last accepted a message, since this process started. */
	const acceptedAtMs = new Map<string, number>()

	async function work(queue: readonly Delivery[], context: RunContext): Promise<void> {
		const [first] = queue
		if (first === undefined) return
		if (receiverOf(first) === null) return unconfigured.keep(queue)
		let posted = false
		const stopListening = store.onPosted(() => {
			posted = true
		})
		const giveBack = await slotsOf(first.receiver).take()
		const records: Promise<void>[] = []
		const settled = new Set<string>()
		/** After a failed write, further attempts would only send messages twice. */
		let cannotRecord = false
		const record: Pass['record'] = (resolution, post) => {
			const written = context.recorder.record(resolution, post)
			written.catch(() => {
				cannotRecord = true
			})
			records.push(written)
			settled.add(resolution.id)
		}
		try {
			const recorded = () => Promise.allSettled(records)
			const pass = await passOver(queue, { context, record, recorded })
			for (const delivery of quarantinedLast(queue)) {
				const receiver = receiverOf(delivery)
				if (context.stopping.aborted || cannotRecord || receiver === null) break
				// Messages posted meanwhile may be more urgent: the rest is claimed again, in sending order.
				const isUndecided = pass.probe.suspects.length + pass.sampling.refused.length > 0
				if (posted && !isUndecided && rankOf(delivery) > 0) break
				if ((await step(delivery, receiver, pass)) === 'stop') break
			}
			const [failed] = pass.probe.suspects
			// The receiver fails: deliveries that were tried behind the first stay unchanged.
			if (failed !== undefined) {
				const outcome = withLongestWait(pass.probe.suspects, failed.outcome)
				await pass.settle(failed.delivery, outcome, resolutionOf(failed.delivery, outcome))
			}
			await (pass.sampling.refusesAll() ? rest(pass) : setAside(pass))
		} finally {
			stopListening()
			giveBack()
			const left = queue.filter(({ id }) => !settled.has(id)).map(({ id }) => id)
			if (left.length > 0) await store.release(left)
		}
		await Promise.all(records)
	}

	async function passOver(
		queue: readonly Delivery[],
		parts: Pick<Pass, 'context' | 'record' | 'recorded'>,
	): Promise<Pass> {
		const [first] = queue as readonly [Delivery]
		const judge = await deferrals.judge(queue)
		const known = await store.quarantined(first)
		const refused = known.filter((delivery) => delivery.refused !== undefined)
		const isAnyRefused = [...refused, ...queue].some((delivery) => delivery.refused !== undefined)
		const beforeMs = isAnyRefused ? await acceptedBefore(first) : null
		const inRow = refused.filter((delivery) => (delivery.refused?.sinceMs ?? 0) > (beforeMs ?? 0))
		return {
			...{ ...parts, judge, acceptedAtMs: beforeMs, inRow, quarantinedFailures: 0 },
			quarantine: createQuarantine(known),
			probe: createPoisonProbe(known.length > 0, steadyClock),
			sampling: createRefusalSampling({
				resting: await parts.context.suspension.resting(first),
				inRow: inRow.length,
				worksNow: clock() - (acceptedAtMs.get(queueOf(first)) ?? 0) < worksNowMs,
			}),
			settle: async (delivery, outcome, resolution) => {
				parts.record(resolution, await fallbacks.postsFor(delivery, resolution))
				account(delivery, outcome, resolution, parts.context)
			},
		}
	}

	/** When the queue last accepted a message; null: never, or, with several recipients, not since the start. */
	async function acceptedBefore(delivery: Delivery): Promise<number | null> {
		const seenMs = acceptedAtMs.get(queueOf(delivery)) ?? null
		if (seenMs !== null || (receiverOf(delivery)?.recipients?.length ?? 1) > 1) return seenMs
		return (await store.summary()).receivers.get(delivery.receiver)?.lastDeliveredAtMs ?? null
	}

	/** Holds a delivery, or tries it. */
	async function step(delivery: Delivery, receiver: Receiver, pass: Pass): Promise<Next> {
		const { context, judge, quarantine, probe, sampling, record } = pass
		const blocker = quarantine.blockerOf(delivery)
		if (blocker !== null) {
			// The suspect may not be quarantined in the end.
			if (probe.suspects.length + sampling.refused.length > 0) return 'continue'
			const waits = waitBehind(delivery, blocker)
			record(waits)
			if (waits.result === 'split') return 'stop'
			quarantine.add(delivery, waits.nextAttemptAtMs)
			return 'continue'
		}
		const hold = judge(delivery)
		if (hold !== null) {
			record(hold)
			context.tally.held += 1
			return 'continue'
		}
		const presumed = sampling.presumed(delivery)
		if (presumed !== null) {
			const attempts = sampling.resting.reduce((sum, one) => sum + one.attempts, 0)
			await park(delivery, { refusal: presumed, attempts, untried: true }, pass)
			return 'continue'
		}
		const outcome = await attempt(receiver, delivery, context.cut)
		if (outcome.result === 'retry') return await failed(delivery, outcome, pass)
		if (outcome.result === 'parked') return await refused(delivery, outcome, pass)
		const resolution = resolutionOf(delivery, outcome)
		await pass.settle(delivery, outcome, resolution)
		quarantine.remove(delivery)
		// The parts of a split delivery are sent before the rest of the queue.
		if (resolution.result === 'split') return 'stop'
		return outcome.result === 'delivered' ? await delivered(delivery, pass) : 'continue'
	}

	async function failed(delivery: Delivery, outcome: Failed, pass: Pass): Promise<Next> {
		const { context, quarantine, probe } = pass
		// The attempt was aborted by our own stop; it says nothing about the receiver.
		if (context.cut.aborted) return 'stop'
		if (isQuarantined(delivery)) {
			const resolution = resolutionOf(delivery, { ...outcome, code: quarantineCode })
			await pass.settle(delivery, outcome, resolution)
			if (resolution.result === 'retry') quarantine.add(delivery, resolution.nextAttemptAtMs)
			else quarantine.remove(delivery)
			pass.quarantinedFailures += 1
			return pass.quarantinedFailures < sampleSize ? 'continue' : 'stop'
		}
		quarantine.add(delivery, clock())
		if (probe.suspects.length > 0) attempted(delivery, outcome, context)
		return probe.failed(delivery, outcome) ? 'continue' : 'stop'
	}

	/** What is refused waits for the end of the pass: until then it is not known whether it is refused alone. */
	async function refused(delivery: Delivery, refusal: Refusal, pass: Pass): Promise<Next> {
		const { quarantine, sampling } = pass
		quarantine.add(delivery, clock())
		if (!isQuarantined(delivery)) {
			sampling.note(delivery, refusal)
			return 'continue'
		}
		await pass.settle(delivery, refusal, refusedAlone(delivery, refusal, pass.acceptedAtMs))
		pass.quarantinedFailures += 1
		return pass.quarantinedFailures < sampleSize ? 'continue' : 'stop'
	}

	/** The receiver did not refuse everything: what it refused is retried separately. */
	async function setAside(pass: Pass): Promise<void> {
		for (const { delivery, refusal } of pass.sampling.refused.splice(0)) {
			const resolution = refusedAlone(delivery, refusal, null)
			await pass.settle(delivery, refusal, resolution)
			if (resolution.result === 'retry') pass.quarantine.add(delivery, resolution.nextAttemptAtMs)
			if (resolution.result === 'split') wakeUp()
		}
	}

	/** A refusal while the receiver may accept others; it is retried separately. */
	function refusedAlone(delivery: Delivery, { code, reason }: Refusal, acceptedAtMs: number | null): Resolution {
		const nowMs = clock()
		const dead = { id: delivery.id, result: 'dead', nextAttemptAtMs: nowMs } as const
		if (isQuarantined(delivery) && isRefusedAlone(delivery, acceptedAtMs, nowMs))
			return { ...dead, code, error: `given up, since it accepts other messages: ${reason}` }
		if (isExpired(delivery, nowMs)) return { ...dead, code: 'expired', error: `given up after 72 hours: ${reason}` }
		// One refused alert must not take the other alerts of its digest with it.
		const into = splitDigest(delivery, nowMs)
		if (into.length > 0) return { id: delivery.id, result: 'split', into }
		const { sinceMs, times } =
			isQuarantined(delivery) && delivery.refused ? delivery.refused : { sinceMs: nowMs, times: 0 }
		const refused = { sinceMs, times: times + 1 }
		const nextAttemptAtMs = nowMs + restMs(sinceMs, nowMs)
		return { id: delivery.id, result: 'retry', code: quarantineCode, error: reason, nextAttemptAtMs, refused }
	}

	/** The receiver refuses everything: what it refused now is parked, and what waits too long is given up. */
	async function rest(pass: Pass): Promise<void> {
		const { resting, refused } = pass.sampling
		const attempts = [...resting, ...refused.map(({ delivery }) => delivery)].reduce(
			(sum, one) => sum + one.attempts,
			0,
		)
		const [last] = refused.slice(-1)
		for (const { delivery, refusal } of refused.splice(0)) await park(delivery, { refusal, attempts }, pass)
		if (last === undefined) return
		for (const delivery of resting.filter((one) => isExpiredAtRest(one, clock(), attempts)))
			await park(delivery, { refusal: last.refusal, attempts, untried: true }, pass)
	}

	async function park(
		delivery: Delivery,
		{ refusal, attempts = 0, untried }: { refusal: Refusal; attempts?: number; untried?: true },
		pass: Pass,
	): Promise<void> {
		const { context, sampling } = pass
		const { code, reason: error } = refusal
		const nowMs = clock()
		const failure = { id: delivery.id, ...(untried && { untried }) }
		if (isExpiredAtRest(delivery, nowMs, attempts)) {
			const givenUp = `given up after 72 hours: ${error}`
			const dead: Resolution = { ...failure, result: 'dead', code: 'expired', error: givenUp, nextAttemptAtMs: nowMs }
			return await pass.settle(delivery, refusal, dead)
		}
		const untilMs = sampling.resting.reduce((latest, one) => Math.max(latest, one.nextAttemptAtMs), 0)
		if (untried && isQuarantined(delivery)) {
			const nextAttemptAtMs = Math.max(untilMs, nowMs + restMs(nowMs, nowMs))
			const waits: Resolution = { ...failure, result: 'retry', code: quarantineCode, error, nextAttemptAtMs }
			return await pass.settle(delivery, refusal, waits)
		}
		// Refusals of everything do not count against a message, nor do those before.
		const acceptedMs = acceptedAtMs.get(queueOf(delivery)) ?? pass.acceptedAtMs ?? 0
		const isOfRest = isReread(delivery) && (delivery.refused?.sinceMs ?? 0) > acceptedMs
		const refused = { sinceMs: (isOfRest && delivery.refused?.sinceMs) || nowMs, times: 0 }
		const sinceMs = Math.min(refused.sinceMs, ...sampling.resting.map((one) => one.refused?.sinceMs ?? nowMs))
		const isKept = untried && untilMs > nowMs
		const nextAttemptAtMs = isKept ? untilMs : nowMs + restMs(sinceMs, nowMs)
		context.suspension.parked(delivery, nextAttemptAtMs)
		await pass.settle(delivery, refusal, { ...failure, result: 'parked', code, error, nextAttemptAtMs, refused })
	}

	/** The receiver works: suspects are quarantined, and parked deliveries become due. */
	async function delivered(delivery: Delivery, pass: Pass): Promise<Next> {
		const { context, quarantine, probe, sampling, record } = pass
		for (const { delivery: suspect, outcome } of probe.acquitReceiver()) {
			const resolution = putInQuarantine(suspect, outcome)
			record(resolution, await fallbacks.postsFor(suspect, resolution))
			queueLog.putInQuarantine(suspect, outcome.reason)
			if (resolution.result === 'retry') quarantine.add(suspect, resolution.nextAttemptAtMs)
		}
		await setAside(pass)
		acceptedAtMs.set(queueOf(delivery), clock())
		const mayRest = sampling.refusesAll()
		sampling.reset()
		deferrals.taken(delivery)
		// What this pass parked untried is due again, too.
		if (mayRest) await pass.recorded()
		const freed = pass.inRow.map(({ id }) => id)
		pass.inRow = []
		if (!(await context.suspension.taken(delivery, freed))) return 'continue'
		// Parked deliveries are sent before the rest of the queue.
		wakeUp()
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

	function resolutionOf(delivery: Delivery, outcome: Outcome): Resolution {
		const { id } = delivery
		if (outcome.result === 'delivered') {
			return { id, result: 'delivered', ...(outcome.answer === undefined ? {} : { answer: outcome.answer }) }
		}
		const nowMs = clock()
		// One refused alert must not take the other alerts of its digest with it.
		const into = outcome.result === 'dead' ? splitDigest(delivery, nowMs) : []
		if (into.length > 0) return { id, result: 'split', into }
		const { result, code, reason: error } = outcome
		if (result !== 'retry') return { id, result, code, error, nextAttemptAtMs: nowMs }
		const nextMs = nextAttemptMs(delivery, nowMs, random, outcome.afterMs)
		if (nextMs !== null) return { id, result, code, error, nextAttemptAtMs: nextMs }
		const givenUp = `given up after 72 hours: ${error}`
		return { id, result: 'dead', code: 'expired', error: givenUp, nextAttemptAtMs: nowMs }
	}

	/** A delivery that fails while others are accepted is retried after 1 s, and then with the usual backoff. */
	function putInQuarantine(delivery: Delivery, outcome: Failed): Resolution {
		const nowMs = clock()
		// Probably one alert of the digest causes the failure; the others must not wait for it.
		const into = splitDigest(delivery, nowMs)
		if (into.length > 0) return { id: delivery.id, result: 'split', into }
		const resolution = resolutionOf(delivery, { ...outcome, code: quarantineCode })
		const nextAttemptAtMs = nowMs + Math.max(againAfterMs, outcome.afterMs ?? 0)
		return resolution.result === 'retry' ? { ...resolution, nextAttemptAtMs } : resolution
	}

	/** Postpones a delivery without an attempt, because an earlier one about the same subject is not delivered yet. */
	function waitBehind(delivery: Delivery, { id, nextAttemptAtMs }: Blocker) {
		const into = splitDigest(delivery, clock())
		if (into.length > 0) return { id: delivery.id, result: 'split' as const, into }
		const error = `waits for ${id}, which is about the same event and is retried separately`
		const atMs = Math.max(clock(), nextAttemptAtMs) + 1
		return { id: delivery.id, result: 'retry' as const, code: quarantineCode, error, nextAttemptAtMs: atMs }
	}

	function attempted(delivery: Delivery, outcome: Outcome, { tally }: RunContext): void {
		if (outcome.result === 'delivered') tally.delivered += alertsIn(delivery.message)
		else tally.failed += 1
		onResult?.(delivery, outcome)
	}

	function account(delivery: Delivery, outcome: Outcome, resolution: Resolution, context: RunContext): void {
		// A quarantined delivery says nothing about the others.
		if (outcome.result === 'retry' && outcome.afterMs !== undefined && !isQuarantined(delivery))
			deferrals.mustWait(delivery.receiver, clock() + outcome.afterMs)
		if ('untried' in resolution && resolution.untried) {
			context.tally.failed += 1
			return
		}
		const final = finalOf(outcome, resolution)
		queueLog.note(delivery, final)
		attempted(delivery, final, context)
	}

	function slotsOf(name: string): Slots {
		const known = slots.get(name) ?? createSlots(queuesPerReceiver)
		slots.set(name, known)
		return known
	}

	return { work }
}

/** The outcome as counted and logged. */
function finalOf(outcome: Outcome, resolution: Resolution): Outcome {
	if (resolution.result === 'dead') return { result: 'dead', code: resolution.code, reason: resolution.error }
	if (resolution.result !== 'split' || (outcome.result !== 'dead' && outcome.result !== 'parked')) return outcome
	return { result: 'retry', code: outcome.code, reason: `${outcome.reason}; its alerts are sent one by one` }
}
