/**
 * The room sends deliveries: queues in parallel, each strictly in order. A success is recorded after it happened, so a
 * message may be sent twice (under the same id), but is never lost.
 */

import { pause } from '../../base/waits/wait.js'
import type { Delivery, Outcome } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Receiver, Store } from '../../model/ports.js'
import type { TroubleBook } from '../../model/trouble.js'
import { createClockWatch } from './clockWatch.js'
import { createFallbacks } from './fallback/fallback.js'
import { createDeferrals, type DeferralRules } from './held/deferral.js'
import { createQueueBackoff } from './queueBackoff.js'
import { createQueueLog } from './queueLog.js'
import { createQueueWorker, type RunContext } from './queueWorker.js'
import { createRecorder } from './recorder.js'
import { createSuspension } from './suspension.js'
import { createUnconfigured } from './unconfigured.js'

/** Settings of a receiver besides its address. */
export interface ReceiverOptions extends DeferralRules {
	/** Name of the receiver to notify when this one accepts no more messages; null: none. */
	readonly fallback: string | null
}

export interface DelivererOptions {
	readonly store: Store
	/** Records which fallbacks were notified of open troubles. Default: not recorded. */
	readonly troubles?: TroubleBook
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
	/** Deliveries held by digest rules; these are not failures. */
	readonly held: number
}

export interface Deliverer {
	/** Runs until `signal` aborts; then waits for attempts under way, releases the other claims and resolves. */
	run(signal: AbortSignal): Promise<void>
	/** Tries every delivery that is due now, once. Throws StateError when the results cannot be recorded. */
	drainOnce(signal: AbortSignal): Promise<Tally>
	/** Uses these from the next message on; replaced receivers are closed when their attempts have ended. */
	setReceivers(receivers: readonly Receiver[]): Promise<void>
	/** Closes the receivers; call it when neither `run` nor `drainOnce` is running. */
	close(): Promise<void>
}

const perQueue = 100
/** Longest sleep, because the machine may have been suspended, or its clock set. */
const longestSleepMs = 30_000
const shortestSleepMs = 500

export function createDeliverer(options: DelivererOptions): Deliverer {
	const { store, clock, log, onResult, random = Math.random, graceMs = 3_000, sleep = pause } = options
	const { drainDeadlineMs = 2_000 } = options
	const unconfigured = createUnconfigured(store, log)
	let receivers = byName(options.receivers)
	let wake = new AbortController()
	const wakeUp = () => wake.abort()
	const optionsOf = options.optionsOf ?? (() => null)
	const receiverCalled = (name: string) => receivers.get(name) ?? null
	const fallbacks = createFallbacks({
		...{ store, troubles: options.troubles, clock, steady: options.steady ?? clock, log, receiverCalled },
		fallbackOf: (name) => receiverCalled(optionsOf(name)?.fallback ?? ''),
	})
	const deferrals = createDeferrals({
		store,
		clock,
		receiverOf,
		rulesOf: optionsOf,
	})
	const queueLog = createQueueLog(log)
	const queueBackoff = createQueueBackoff(clock, log)
	const clockWatch = createClockWatch({ store, clock, steady: options.steady ?? clock, log })
	const { work } = createQueueWorker({
		store,
		clock,
		log,
		random,
		queueLog,
		unconfigured,
		fallbacks,
		deferrals,
		receiverOf,
		onResult,
		wakeUp,
	})

	async function run(signal: AbortSignal): Promise<void> {
		const cut = new AbortController()
		const recorder = createRecorder(store, log)
		const suspension = createSuspension(store, clock)
		const tally = { delivered: 0, failed: 0, held: 0 }
		const context: RunContext = { stopping: signal, cut: cut.signal, recorder, suspension, tally }
		const working = new Set<Promise<void>>()
		const stopListening = store.onPosted(wakeUp)
		signal.addEventListener('abort', wakeUp, { once: true })

		let troubled = false
		let released = false
		while (!signal.aborted) {
			wake = new AbortController()
			let waitMs = shortestSleepMs
			try {
				if (!released) {
					await suspension.learn()
					// The operator may have corrected something.
					await suspension.probe(true)
				}
				released = true
				await clockWatch.look()
				await suspension.probe()
				await fallbacks.look()
				await deferrals.letGo(clock())
				for (const queue of await store.claim({ nowMs: clock(), perQueue })) {
					const [first] = queue
					if (first === undefined) continue
					if (queueBackoff.isWaiting(first)) {
						await store.release(queue.map(({ id }) => id))
						continue
					}
					const worked = work(queue, context)
						.then(() => {
							queueBackoff.succeeded(first)
							wakeUp()
						})
						.catch((error: unknown) => queueBackoff.failed(first, error))
						.finally(() => working.delete(worked))
					working.add(worked)
				}
				const nextMs = Math.min(
					(await store.nextDueMs()) ?? Infinity,
					suspension.nextProbeMs(),
					deferrals.nextLookMs(),
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
		const given = recorder.finish(graceMs + 1_000)
		await Promise.all(working)
		await given
		clearTimeout(cutTimer)
		stopListening()
		await unconfigured.letGo()
	}

	async function drainOnce(signal: AbortSignal): Promise<Tally> {
		const recorder = createRecorder(store, log, drainDeadlineMs)
		const cut = new AbortController()
		// Before `nowMs` is read, so that this run tries what the look makes due.
		await clockWatch.look()
		// A delivery that fails now is due after this moment, so it is not tried twice.
		const nowMs = clock()
		const suspension = createSuspension(store, () => nowMs)
		const tally = { delivered: 0, failed: 0, held: 0 }
		const context: RunContext = { stopping: signal, cut: cut.signal, recorder, suspension, tally }
		const stop = () => setTimeout(() => cut.abort(), graceMs).unref()
		signal.addEventListener('abort', stop, { once: true })
		try {
			await suspension.learn()
			await suspension.probe()
			while (!signal.aborted) {
				await deferrals.letGo(nowMs)
				const queues = await store.claim({ nowMs, perQueue })
				if (queues.length === 0) break
				const ends = await Promise.allSettled(queues.map((queue) => work(queue, context)))
				for (const end of ends) if (end.status === 'rejected') throw end.reason
			}
			await fallbacks.look()
		} finally {
			signal.removeEventListener('abort', stop)
			await unconfigured.letGo()
		}
		return context.tally
	}

	/** Null when the receiver, or this recipient of it, is no longer configured. */
	function receiverOf({ receiver: name, recipient }: Delivery): Receiver | null {
		const receiver = receivers.get(name)
		if (receiver === undefined) return null
		const { recipients } = receiver
		const known = recipient === null ? recipients === null : recipients?.includes(recipient)
		return known ? receiver : null
	}

	return {
		run,
		drainOnce,
		async setReceivers(next) {
			const replaced = [...receivers.values()].filter((receiver) => !next.includes(receiver))
			receivers = byName(next)
			deferrals.reconsider()
			await unconfigured.letGo()
			await createSuspension(store, clock).probe(true)
			wake.abort()
			await Promise.all(replaced.map((receiver) => receiver.close()))
		},
		async close() {
			await Promise.all([...receivers.values()].map((receiver) => receiver.close()))
		},
	}
}

function byName(receivers: readonly Receiver[]): ReadonlyMap<string, Receiver> {
	return new Map(receivers.map((receiver) => [receiver.name, receiver]))
}
