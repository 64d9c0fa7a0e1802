/**
 * The room carries out what is to be sent: queues side by side, each strictly in order. A success is written down after
 * it happened, so a message can be sent twice (under the same id), but never not at all.
 */

import { pause } from '../../base/wait.js'
import type { AlertData } from '../../model/alert.js'
import type { Delivery, Outcome } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Receiver, Store } from '../../model/ports.js'
import type { TroubleBook } from '../../model/trouble.js'
import type { Silence } from '../../model/watch.js'
import { createBrokenQueues } from './brokenQueues.js'
import { createClockWatch } from './clockWatch.js'
import { createDeferrals, type DeferralRules } from './deferral.js'
import { createFallbacks } from './fallback.js'
import { createQueueLog } from './queueLog.js'
import { createQueueWorker, type RunContext } from './queueWorker.js'
import { createRecorder } from './recorder.js'
import { createSuspension } from './suspension.js'
import { createUnconfigured } from './unconfigured.js'

/** What is configured of a receiver besides where it is. */
export interface ReceiverOptions extends DeferralRules {
	/** Name of the receiver that is notified when this one takes no more; null: none. */
	readonly fallback: string | null
}

export interface DelivererOptions {
	readonly store: Store
	/** Where it is written down what fallbacks were notified of, until that is over. Default: nowhere. */
	readonly troubles?: TroubleBook
	readonly receivers: readonly Receiver[]
	/** Of a receiver, by its name; default: none has any. */
	readonly optionsOf?: (receiver: string) => ReceiverOptions | null
	/** When alerts of a watch are held, whoever is notified; default: never. */
	readonly silencesOf?: (alert: AlertData) => readonly Silence[]
	readonly clock: Clock
	/** Beside which it shows that the clock was set. Default: `clock`, which then is never set. */
	readonly steady?: Clock
	readonly log: Log
	/** Called after each attempt. */
	readonly onResult?: (delivery: Delivery, outcome: Outcome) => void
	/** From 0 up to 1; for the jitter. */
	readonly random?: () => number
	/** How long `drainOnce` goes on trying to write down what came of its deliveries; default 2 s. */
	readonly drainPatienceMs?: number
	/** How long a stop waits for what is under way; default 3 s. */
	readonly graceMs?: number
	/** Waits until the time is over or the signal aborts; never rejects. */
	readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

export interface Tally {
	/** A digest counts as the alerts in it. */
	readonly delivered: number
	/** Attempts that did not succeed, whatever became of their deliveries. */
	readonly failed: number
	/** Kept back by digests and silences; they are no failures. */
	readonly held: number
}

export interface Deliverer {
	/** Until `signal` aborts; then lets what is under way end, gives back the rest, and resolves. */
	run(signal: AbortSignal): Promise<void>
	/** Every delivery that is due now, once. Throws StateError when the results cannot be written down. */
	drainOnce(signal: AbortSignal): Promise<Tally>
	/** The silences of watches have changed. */
	reconsider(): void
	/** From the next message on; the receivers replaced are closed when they have ended what they do. */
	setReceivers(receivers: readonly Receiver[]): Promise<void>
	/** Closes the receivers; call it when neither `run` nor `drainOnce` is under way. */
	close(): Promise<void>
}

const perQueue = 100
/** Wakes at least this often: the machine may have slept, and the clock been set. */
const longestSleepMs = 30_000
const shortestSleepMs = 500

export function createDeliverer(options: DelivererOptions): Deliverer {
	const { store, clock, log, onResult, random = Math.random, graceMs = 3_000, sleep = pause } = options
	const { drainPatienceMs = 2_000 } = options
	const unconfigured = createUnconfigured(store, log)
	let receivers = byName(options.receivers)
	let wake = new AbortController()
	const wakeUp = () => wake.abort()
	const optionsOf = options.optionsOf ?? (() => null)
	const receiverCalled = (name: string) => receivers.get(name) ?? null
	const fallbacks = createFallbacks({
		...{ store, troubles: options.troubles, clock, log, receiverCalled },
		fallbackOf: (name) => receiverCalled(optionsOf(name)?.fallback ?? ''),
	})
	const deferrals = createDeferrals({
		store,
		clock,
		receiverOf,
		rulesOf: optionsOf,
		silencesOf: options.silencesOf ?? (() => []),
	})
	const queueLog = createQueueLog(log)
	const broken = createBrokenQueues(clock, log)
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
					await fallbacks.learn()
					await suspension.releaseAll()
				}
				released = true
				await clockWatch.look()
				await suspension.probe()
				await fallbacks.look()
				await deferrals.letGo(clock())
				for (const queue of await store.claim({ nowMs: clock(), perQueue })) {
					const [first] = queue
					if (first === undefined) continue
					if (broken.isResting(first)) {
						await store.release(queue.map(({ id }) => id))
						continue
					}
					const worked = work(queue, context)
						.then(() => {
							broken.worked(first)
							wakeUp()
						})
						.catch((error: unknown) => broken.broke(first, error))
						.finally(() => working.delete(worked))
					working.add(worked)
				}
				const nextMs = Math.min(
					(await store.nextDueMs()) ?? Infinity,
					suspension.nextProbeMs() ?? Infinity,
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
		const recorder = createRecorder(store, log, drainPatienceMs)
		const cut = new AbortController()
		// Before the moment of the start: what it makes due, this round shall try.
		await clockWatch.look()
		// What fails now falls due after this moment, and is not tried a second time.
		const nowMs = clock()
		const suspension = createSuspension(store, () => nowMs)
		const tally = { delivered: 0, failed: 0, held: 0 }
		const context: RunContext = { stopping: signal, cut: cut.signal, recorder, suspension, tally }
		const stop = () => setTimeout(() => cut.abort(), graceMs).unref()
		signal.addEventListener('abort', stop, { once: true })
		try {
			await fallbacks.learn()
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

	/** Null when the receiver, or this recipient of it, is configured no more. */
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
		reconsider() {
			deferrals.reconsider()
			wakeUp()
		},
		async setReceivers(next) {
			const replaced = [...receivers.values()].filter((receiver) => !next.includes(receiver))
			receivers = byName(next)
			deferrals.reconsider()
			await unconfigured.letGo()
			await createSuspension(store, clock).releaseAll()
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
