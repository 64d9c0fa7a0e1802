/**
 * Carries out one queue, one delivery after the other, until the first that has to wait. A success is written down
 * after it happened, while the next is under way.
 */

import { createSlots, type Slots } from '../../base/slots.js'
import { steadyClock } from '../../base/steadyClock.js'
import { asideCode, isAside } from '../../core/aside.js'
import { alertsIn, splitDigest } from '../../core/digest.js'
import type { Delivery, Outcome, Resolution } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Receiver, Store } from '../../model/ports.js'
import { asidesLast, createAsides } from './asides.js'
import { nextAttemptMs } from './backoff.js'
import type { Deferrals } from './deferral.js'
import { asPatientAs, createDoubts, type Failed } from './doubts.js'
import type { Fallbacks } from './fallback.js'
import { createOpinions, mostOpinions } from './opinions.js'
import type { QueueLog } from './queueLog.js'
import type { Recorder } from './recorder.js'
import type { Suspension } from './suspension.js'
import type { Unconfigured } from './unconfigured.js'

/** What queues share from the start of a run, or of a drain, to its end. */
export interface RunContext {
	/** No new attempt after this. */
	readonly stopping: AbortSignal
	/** Attempts under way end here. */
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
	/** Null when it, or the recipient, is configured no more. */
	readonly receiverOf: (delivery: Delivery) => Receiver | null
	readonly onResult: ((delivery: Delivery, outcome: Outcome) => void) | undefined
	/** There may be something due that was not before. */
	readonly wakeUp: () => void
}

export interface QueueWorker {
	/** Resolves when all of it is written down. */
	work(queue: readonly Delivery[], context: RunContext): Promise<void>
}

const queuesPerReceiver = 2
/** It may just have come back. */
const againAfterMs = 1_000

type Before = NonNullable<ReturnType<ReturnType<typeof createAsides>['before']>>

export function createQueueWorker(options: QueueWorkerOptions): QueueWorker {
	const { store, clock, log, random, queueLog, unconfigured, fallbacks, deferrals, receiverOf, onResult, wakeUp } =
		options
	const slots = new Map<string, Slots>()

	async function work(queue: readonly Delivery[], context: RunContext): Promise<void> {
		const [first] = queue
		if (first === undefined) return
		if (receiverOf(first) === null) return unconfigured.keep(queue)
		if (await context.suspension.overtakes(first)) {
			await store.release(queue.map(({ id }) => id))
			return wakeUp()
		}
		const giveBack = await slotsOf(first.receiver).take()
		const records: Promise<void>[] = []
		const settled = new Set<string>()
		const record = (resolution: Resolution, post?: readonly Delivery[]) => {
			const written = context.recorder.record(resolution, post)
			written.catch(() => {
				unwritten = true
			})
			records.push(written)
			settled.add(resolution.id)
		}
		const settle = async (delivery: Delivery, outcome: Outcome, resolution: Resolution) => {
			record(resolution, await fallbacks.postsFor(delivery, resolution))
			account(delivery, outcome, resolution, context)
		}
		const opinions = createOpinions()
		let asidesFailed = 0
		/** Sending on would only make more repetitions. */
		let unwritten = false
		try {
			const judge = await deferrals.judge(queue)
			const known = await store.aside(first)
			const asides = createAsides(known)
			const doubts = createDoubts(known.length > 0, steadyClock)
			for (const delivery of asidesLast(queue)) {
				const receiver = receiverOf(delivery)
				if (context.stopping.aborted || unwritten || receiver === null) break
				const before = asides.before(delivery)
				if (before !== null) {
					// Of what is in doubt nobody knows yet whether it is set aside.
					if (doubts.open.length > 0) continue
					const waits = waitBehind(delivery, before)
					record(waits)
					if (waits.result === 'split') break
					asides.put(delivery, waits.nextAttemptAtMs)
					continue
				}
				const hold = judge(delivery)
				if (hold !== null) {
					record(hold)
					context.tally.held += 1
					continue
				}
				const outcome = opinions.known(delivery) ?? (await attempt(receiver, delivery, context.cut))
				// Cut off by our stop: nobody has judged it.
				if (context.cut.aborted && outcome.result === 'retry') break
				if (outcome.result === 'retry' && isAside(delivery)) {
					const resolution = resolutionOf(delivery, { ...outcome, code: asideCode })
					await settle(delivery, outcome, resolution)
					if (resolution.result === 'retry') asides.put(delivery, resolution.nextAttemptAtMs)
					else asides.gone(delivery)
					asidesFailed += 1
					if (asidesFailed < mostOpinions) continue
					break
				}
				if (outcome.result === 'retry') {
					asides.put(delivery, clock())
					if (doubts.open.length > 0) attempted(delivery, outcome, context)
					if (doubts.failed(delivery, outcome)) continue
					break
				}
				// It says that the receiver is broken, and not just at the one that is in doubt.
				if (outcome.result === 'parked' && doubts.open.length > 0) break
				const resolution = resolutionOf(delivery, outcome)
				await settle(delivery, outcome, resolution)
				asides.gone(delivery)
				// What it was split into comes before the rest of the queue.
				if (resolution.result === 'split') break
				if (outcome.result === 'parked') opinions.note(delivery, outcome)
				if (outcome.result !== 'delivered') continue
				for (const { delivery: failed, outcome: why } of doubts.taken()) {
					const aside = setAside(failed, why)
					record(aside, await fallbacks.postsFor(failed, aside))
					queueLog.setAside(failed, why.reason)
					if (aside.result === 'retry') asides.put(failed, aside.nextAttemptAtMs)
				}
				opinions.end()
				if (opinions.ids.size === 0) fallbacks.taken(delivery)
				deferrals.taken(delivery)
				if (!(await context.suspension.taken(delivery.receiver, opinions.ids))) continue
				// What was parked comes before the rest of the queue.
				wakeUp()
				break
			}
			const [failed] = doubts.open
			// It was the receiver: those behind are as they were.
			if (failed !== undefined) {
				const outcome = asPatientAs(doubts.open, failed.outcome)
				await settle(failed.delivery, outcome, resolutionOf(failed.delivery, outcome))
			}
		} finally {
			giveBack()
			const left = queue.filter(({ id }) => !settled.has(id)).map(({ id }) => id)
			if (left.length > 0) await store.release(left)
		}
		await Promise.all(records)
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
		// One alert that is refused must not take the others with it.
		const into = outcome.result === 'dead' ? splitDigest(delivery, nowMs) : []
		if (into.length > 0) return { id, result: 'split', into }
		const { result, code, reason: error } = outcome
		if (result !== 'retry') return { id, result, code, error, nextAttemptAtMs: nowMs }
		const nextMs = nextAttemptMs(delivery, nowMs, random, outcome.afterMs)
		if (nextMs !== null) return { id, result, code, error, nextAttemptAtMs: nextMs }
		const givenUp = `given up after 72 hours: ${error}`
		return { id, result: 'dead', code: 'expired', error: givenUp, nextAttemptAtMs: nowMs }
	}

	/** What failed at this one, and takes others, gets it once more at once, and then as often as any other. */
	function setAside(delivery: Delivery, outcome: Failed): Resolution {
		const nowMs = clock()
		// Of a digest it is one alert, most likely: the others are not to wait for it.
		const into = splitDigest(delivery, nowMs)
		if (into.length > 0) return { id: delivery.id, result: 'split', into }
		const resolution = resolutionOf(delivery, { ...outcome, code: asideCode })
		const nextAttemptAtMs = nowMs + Math.max(againAfterMs, outcome.afterMs ?? 0)
		return resolution.result === 'retry' ? { ...resolution, nextAttemptAtMs } : resolution
	}

	/** Not tried: what it speaks of is not there yet. */
	function waitBehind(delivery: Delivery, { id, nextAttemptAtMs }: Before) {
		const into = splitDigest(delivery, clock())
		if (into.length > 0) return { id: delivery.id, result: 'split' as const, into }
		const error = `waits for ${id}, which is about the same thing and is tried by itself`
		const atMs = Math.max(clock(), nextAttemptAtMs) + 1
		return { id: delivery.id, result: 'retry' as const, code: asideCode, error, nextAttemptAtMs: atMs }
	}

	function attempted(delivery: Delivery, outcome: Outcome, { tally }: RunContext): void {
		if (outcome.result === 'delivered') tally.delivered += alertsIn(delivery.message)
		else tally.failed += 1
		onResult?.(delivery, outcome)
	}

	function account(delivery: Delivery, outcome: Outcome, resolution: Resolution, context: RunContext): void {
		const { suspension } = context
		if (outcome.result === 'parked') suspension.parked(delivery.receiver)
		// What is set aside says nothing of the others.
		if (outcome.result === 'retry' && outcome.afterMs !== undefined && !isAside(delivery))
			deferrals.mustWait(delivery.receiver, clock() + outcome.afterMs)
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

/** What became of it, for whoever counts and logs. */
function finalOf(outcome: Outcome, resolution: Resolution): Outcome {
	if (resolution.result === 'dead') return { result: 'dead', code: resolution.code, reason: resolution.error }
	if (resolution.result !== 'split' || outcome.result !== 'dead') return outcome
	return { result: 'retry', code: outcome.code, reason: `${outcome.reason}; its alerts are sent one by one` }
}
