/**
 * The room sends deliveries: queues in parallel, each strictly in order. A success is recorded after it happened, so a
 * message may be sent twice (under the same id), but is never lost.
 */

import { pause } from '../../base/waits/wait.js'
import { queueOf } from '../../core/outbox/queue.js'
import { isHeld } from '../../core/outbox/waiting.js'
import { StateError } from '../../errors.js'
import type { Addressee, Delivery, Outcome } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Receiver, Store } from '../../model/ports.js'
import type { DigestRate } from './batch.js'
import { queuePauseMs } from './decide.js'
import { createFallbacks } from './fallback.js'
import { createQueueMemory } from './queueMemory.js'
import { createQueueWorker, type RunContext } from './queueWorker.js'
import { createRecorder } from './recorder.js'
import { createTroubleBook, type TroubleBook } from './troubles.js'

/** Settings of a receiver besides its address. */
export interface ReceiverOptions {
	/** Alerts above `max` within `everyMs` are sent as digests; null: each is sent alone. */
	readonly digest: DigestRate | null
	/** Name of the receiver to notify when this one accepts no more messages; null: none. */
	readonly fallback: string | null
}

export interface DelivererOptions {
	readonly store: Store
	readonly receivers: readonly Receiver[]
	/** Options by receiver name; default: none. */
	readonly optionsOf?: (receiver: string) => ReceiverOptions | null
	readonly clock: Clock
	/** A monotonic clock, to detect that `clock` was set. Default: `clock`, which detects nothing. */
	readonly steady?: Clock
	readonly log: Log
	/** Called after each attempt. */
	readonly onResult?: (delivery: Delivery, outcome: Outcome) => void
	/** From 0 up to, but not including, 1; for the jitter. */
	readonly random?: () => number
	/** How long `drainOnce` retries to record its results; default 2 s. */
	readonly drainDeadlineMs?: number
	/** How long a stop waits for attempts under way; default 3 s. */
	readonly graceMs?: number
	/** Resolves after that time or when the signal aborts; never rejects. */
	readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

export interface Tally {
	/** A digest counts once for each of its alerts. */
	readonly delivered: number
	/** Failed attempts, whatever became of their deliveries. */
	readonly failed: number
	/** Deliveries that began to wait for a digest; these are not failures. */
	readonly held: number
}

export interface Deliverer {
	/** Troubles that receivers are notified of. */
	readonly troubles: TroubleBook
	/** Runs until `signal` aborts; then waits for attempts under way, releases the other claims and resolves. */
	run(signal: AbortSignal): Promise<void>
	/** Tries every delivery that is due now, once. Throws StateError when the results cannot be recorded. */
	drainOnce(signal: AbortSignal): Promise<Tally>
	/** Closes the receivers; call it when neither `run` nor `drainOnce` is running. */
	close(): Promise<void>
}

const perQueue = 100
const never = () => false
/** Longest sleep, because the machine may have been suspended, or its clock set. */
const longestSleepMs = 30_000
const shortestSleepMs = 500
/** Smaller steps of the clock are ignored: they delay a retry by 2 s at most. */
const LEAST_SET_BACK_S = 2

export function createDeliverer(options: DelivererOptions): Deliverer {
	const { store, clock, log, onResult, random = Math.random, graceMs = 3_000, sleep = pause } = options
	const { drainDeadlineMs = 2_000 } = options
	const receivers = new Map(options.receivers.map((receiver) => [receiver.name, receiver]))
	let wake = new AbortController()
	const wakeUp = () => wake.abort()
	const optionsOf = options.optionsOf ?? (() => null)
	const troubles = createTroubleBook(options)
	const memory = createQueueMemory()
	const fallbacks = createFallbacks({
		...{ store, troubles, clock, log, receiverOf },
		fallbackOf: (name) => receivers.get(optionsOf(name)?.fallback ?? '')?.name ?? null,
	})
	const steady = options.steady ?? clock
	/** Ids whose receiver or recipient is not configured: they stay claimed, since it may be configured again. */
	const unconfigured: string[] = []
	const reported = new Set<string>()
	/** System clock minus monotonic clock; null: not read yet. */
	let aheadMs: number | null = null
	const work = createQueueWorker({ store, clock, log, random, memory, fallbacks, receiverOf, rateOf, onResult })

	async function run(signal: AbortSignal): Promise<void> {
		const cut = new AbortController()
		const recorder = createRecorder(store, log)
		const tally = { delivered: 0, failed: 0, held: 0 }
		const context: RunContext = { stopping: signal, cut: cut.signal, recorder, tally, onlyDueAtMs: null }
		const working = new Set<Promise<void>>()
		const stopListening = store.onPosted(wakeUp)
		signal.addEventListener('abort', wakeUp, { once: true })

		let troubled = false
		let learnt = false
		while (!signal.aborted) {
			wake = new AbortController()
			let waitMs = shortestSleepMs
			try {
				// The operator may have corrected something: what receivers refused is tried now.
				const isDue = learnt ? never : ({ refused }: Delivery) => refused !== undefined
				const failure: unknown = await look(isDue).then(
					() => null,
					(error) => error,
				)
				learnt ||= failure === null
				await fallbacks.look()
				for (const queue of await claim(clock())) {
					const worked = work(queue, context)
						.catch((error: unknown) => breaksOff(queue, error))
						.finally(() => {
							working.delete(worked)
							wakeUp()
						})
					working.add(worked)
				}
				// Deliveries that are due already were claimed above; the failed write is tried again with the next look.
				if (failure !== null) throw failure
				const nextMs = Math.min(
					(await store.nextDueMs()) ?? Infinity,
					memory.nextEndMs(clock()),
					fallbacks.nextLookMs(),
				)
				waitMs = Math.min(longestSleepMs, Math.max(shortestSleepMs, nextMs - clock()))
				if (troubled) log.info({}, 'deliveries can be read again')
				troubled = false
			} catch (error) {
				if (!troubled) log.error({ err: error }, 'deliveries cannot be read; trying again')
				troubled = true
			}
			await sleep(waitMs, wake.signal)
		}

		const cutTimer = setTimeout(() => cut.abort(), graceMs)
		recorder.finish(graceMs + 1_000)
		await Promise.all(working)
		clearTimeout(cutTimer)
		stopListening()
		await store.release(unconfigured.splice(0))
	}

	async function drainOnce(signal: AbortSignal): Promise<Tally> {
		const recorder = createRecorder(store, log, drainDeadlineMs)
		const cut = new AbortController()
		// Before `nowMs` is read, so that this run tries what the look makes due.
		await look()
		// A delivery that fails now is due after this moment, so it is not tried twice.
		const nowMs = clock()
		const tally = { delivered: 0, failed: 0, held: 0 }
		const context: RunContext = { stopping: signal, cut: cut.signal, recorder, tally, onlyDueAtMs: nowMs }
		const stop = () => setTimeout(() => cut.abort(), graceMs).unref()
		signal.addEventListener('abort', stop, { once: true })
		try {
			while (!signal.aborted) {
				await fallbacks.look()
				const queues = await claim(nowMs)
				if (queues.length === 0) {
					// What this run has posted to fallbacks is due a moment after `nowMs`.
					const posted = (await store.deliveries('pending')).filter(
						(one) =>
							one.lastError === null && !isHeld(one) && one.nextAttemptAtMs > nowMs && one.nextAttemptAtMs <= clock(),
					)
					if (posted.length === 0) break
					await store.retry(
						posted.map(({ id }) => id),
						nowMs,
					)
				}
				const ends = await Promise.allSettled(queues.map((queue) => work(queue, context)))
				for (const end of ends) if (end.status === 'rejected') throw end.reason
			}
		} finally {
			signal.removeEventListener('abort', stop)
			await store.release(unconfigured.splice(0))
		}
		return context.tally
	}

	/**
	 * Makes deliveries due that wait only because the clock was set back, and deliveries that `isDue` accepts. The
	 * first call learns which receivers refuse everything. Throws StateError; it is to be called again then.
	 */
	async function look(isDue: (delivery: Delivery) => boolean = never): Promise<void> {
		const nowMs = clock()
		const nowAheadMs = nowMs - steady()
		const isFirst = aheadMs === null
		const seconds = isFirst ? 0 : Math.round(((aheadMs ?? 0) - nowAheadMs) / 1_000)
		if (!isFirst && seconds < LEAST_SET_BACK_S) {
			aheadMs = nowAheadMs
			return
		}
		const pending = await store.deliveries('pending')
		if (isFirst) memory.learn(pending)
		// Deliveries made in the future: the clock was set back while nothing ran.
		const isLate = ({ createdAtMs }: Delivery) => !isFirst || createdAtMs > nowMs + LEAST_SET_BACK_S * 1_000
		// Later than the digest can be: its rule has changed.
		const isTooLate = (one: Delivery) => isHeld(one) && one.nextAttemptAtMs > nowMs + (rateOf(one)?.everyMs ?? 0)
		const due = pending.filter((one) => one.nextAttemptAtMs > nowMs && (isLate(one) || isTooLate(one) || isDue(one)))
		const held = due.filter(isHeld).map(({ id }) => id)
		const others = due.flatMap((one) => (isHeld(one) ? [] : one.id))
		if (held.length > 0) await store.resolve(held.map((id) => ({ id, result: 'wait', as: 'digest', untilMs: nowMs })))
		if (others.length > 0) await store.retry(others, nowMs)
		if (!isFirst) log.warn({ seconds }, 'the clock was set back: what waits for another attempt is tried now')
		// Set last: where a write fails, the next look finds the same deliveries.
		aheadMs = nowAheadMs
	}

	/** The queues of which something is due, that have a receiver and are not paused. */
	async function claim(nowMs: number): Promise<readonly (readonly Delivery[])[]> {
		const open: (readonly Delivery[])[] = []
		for (const queue of await store.claim({ nowMs, perQueue })) {
			const [first] = queue
			if (first === undefined) continue
			const ids = queue.map(({ id }) => id)
			if (receiverOf(first) === null) {
				unconfigured.push(...ids)
				reportUnconfigured(first)
			} else if (memory.isPaused(first, nowMs)) await store.release(ids)
			else open.push(queue)
		}
		return open
	}

	function reportUnconfigured(delivery: Delivery): void {
		const { receiver, recipient } = delivery
		if (reported.has(queueOf(delivery))) return
		reported.add(queueOf(delivery))
		log.warn(
			{ receiver, ...(recipient === null ? {} : { recipient }) },
			'deliveries wait for a receiver that is no longer configured; "tracewatch deliveries drop" discards them',
		)
	}

	/** A worker threw: the state cannot be written, or tracewatch has a fault. The queue waits longer each time. */
	function breaksOff([first]: readonly Delivery[], error: unknown): void {
		if (first === undefined) return
		const failures = memory.of(first).failures + 1
		memory.change(first, { failures, pausedUntilMs: clock() + queuePauseMs(failures) })
		const facts = { err: error, receiver: first.receiver, delivery: first.id }
		if (error instanceof StateError)
			log.error(facts, 'a queue of deliveries stopped: the state cannot be written; trying again')
		else log.error(facts, 'a queue of deliveries broke off; it is tried again, at longer and longer intervals')
	}

	function rateOf(delivery: Delivery): DigestRate | null {
		return receiverOf(delivery)?.takesDigest === undefined ? null : (optionsOf(delivery.receiver)?.digest ?? null)
	}

	/** Null when the receiver, or this recipient of it, is no longer configured. */
	function receiverOf({ receiver: name, recipient }: Addressee): Receiver | null {
		const receiver = receivers.get(name)
		if (receiver === undefined) return null
		const { recipients } = receiver
		const known = recipient === null ? recipients === null : recipients?.includes(recipient)
		return known ? receiver : null
	}

	return {
		troubles,
		run,
		drainOnce,
		async close() {
			await Promise.all([...receivers.values()].map((receiver) => receiver.close()))
		},
	}
}
