/**
 * Carries out one queue, one delivery after the other, until the first that has to wait. A success is written down
 * after it happened, while the next is under way.
 */

import { createSlots, type Slots } from '../../base/slots.js'
import { alertsIn, splitDigest } from '../../core/digest.js'
import type { Delivery, Outcome, Resolution } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Receiver, Store } from '../../model/ports.js'
import { nextAttemptMs } from './backoff.js'
import type { Deferrals } from './deferral.js'
import type { Fallbacks } from './fallback.js'
import { createOpinions } from './opinions.js'
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
		const record = (resolution: Resolution, post?: readonly Delivery[]) => {
			const written = context.recorder.record(resolution, post)
			written.catch(() => {
				unwritten = true
			})
			records.push(written)
			done += 1
		}
		let done = 0
		const opinions = createOpinions()
		/** Sending on would only make more repetitions. */
		let unwritten = false
		try {
			const judge = await deferrals.judge(queue)
			for (const delivery of queue) {
				const receiver = receiverOf(delivery)
				if (context.stopping.aborted || unwritten || receiver === null) break
				const hold = judge(delivery)
				if (hold !== null) {
					record(hold)
					context.tally.held += 1
					continue
				}
				const outcome = opinions.known(delivery) ?? (await attempt(receiver, delivery, context.cut))
				// Cut off by our stop: nobody has judged it.
				if (context.cut.aborted && outcome.result === 'retry') break
				const resolution = resolutionOf(delivery, outcome)
				record(resolution, await fallbacks.postsFor(delivery, resolution))
				account(delivery, outcome, resolution, context)
				// What it was split into comes before the rest of the queue.
				if (resolution.result === 'retry' || resolution.result === 'split') break
				if (outcome.result === 'parked') opinions.note(delivery, outcome)
				if (outcome.result !== 'delivered') continue
				opinions.end()
				if (opinions.ids.size === 0) fallbacks.taken(delivery)
				deferrals.taken(delivery)
				if (!(await context.suspension.taken(delivery.receiver, opinions.ids))) continue
				// What was parked comes before the rest of the queue.
				wakeUp()
				break
			}
		} finally {
			giveBack()
			if (done < queue.length) await store.release(queue.slice(done).map(({ id }) => id))
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

	function account(
		delivery: Delivery,
		outcome: Outcome,
		resolution: Resolution,
		{ tally, suspension }: RunContext,
	): void {
		if (outcome.result === 'delivered') tally.delivered += alertsIn(delivery.message)
		else tally.failed += 1
		if (outcome.result === 'parked') suspension.parked(delivery.receiver)
		if (outcome.result === 'retry' && outcome.afterMs !== undefined)
			deferrals.mustWait(delivery.receiver, clock() + outcome.afterMs)
		const final = finalOf(outcome, resolution)
		queueLog.note(delivery, final)
		onResult?.(delivery, final)
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
