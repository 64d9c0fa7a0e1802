/**
 * Carries out what is to be told: lanes side by side, each strictly in order. A success is written down after it happened,
 * so a message can be told twice (under the same id), but never not at all.
 */
import type { Clock, Delivery, Log, Outcome, Receiver, Resolution, Store } from '../model.js'
import { nextAttemptMs } from './backoff.js'
import { createHealth } from './health.js'
import { createOrphans } from './orphans.js'
import { createParking, type Parking } from './parking.js'
import { pause } from './pause.js'
import { createRecorder, type Recorder } from './recorder.js'
import { createSlots, type Slots } from './slots.js'

export interface DelivererOptions {
	readonly store: Store
	readonly receivers: readonly Receiver[]
	readonly clock: Clock
	readonly log: Log
	/** Called after each attempt. */
	readonly onResult?: (delivery: Delivery, outcome: Outcome) => void
	/** From 0 up to 1; for the jitter. */
	readonly random?: () => number
	/** How long a stop waits for what is under way; default 3 s. */
	readonly graceMs?: number
	/** Waits until the time is over or the signal aborts; never rejects. */
	readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

export interface Tally {
	readonly delivered: number
	/** Attempts that did not succeed, whatever became of their deliveries. */
	readonly failed: number
}

export interface Deliverer {
	/** Until `signal` aborts; then lets what is under way end, gives back the rest, and resolves. */
	run(signal: AbortSignal): Promise<void>
	/** Every delivery that is due now, once. Throws StateError when the results cannot be written down. */
	drainOnce(signal: AbortSignal): Promise<Tally>
	/** From the next message on; the receivers replaced are closed when they have ended what they do. */
	setReceivers(receivers: readonly Receiver[]): Promise<void>
	/** Closes the receivers; call it when neither `run` nor `drainOnce` is under way. */
	close(): Promise<void>
}

const lanesPerReceiver = 2
const perLane = 100
/** Wakes at least this often: the machine may have slept, and the clock been set. */
const longestSleepMs = 30_000
const shortestSleepMs = 500
const drainPatienceMs = 2_000

interface Course {
	/** No new attempt after this. */
	readonly stopping: AbortSignal
	/** Attempts under way end here. */
	readonly cut: AbortSignal
	readonly recorder: Recorder
	readonly parking: Parking
	readonly tally: { delivered: number; failed: number }
}

export function createDeliverer(options: DelivererOptions): Deliverer {
	const { store, clock, log, onResult, random = Math.random, graceMs = 3_000, sleep = pause } = options
	const health = createHealth(log)
	const slots = new Map<string, Slots>()
	const orphans = createOrphans(store, log)
	let receivers = byName(options.receivers)
	let bell = new AbortController()

	async function run(signal: AbortSignal): Promise<void> {
		const cut = new AbortController()
		const recorder = createRecorder(store, log)
		const parking = createParking(store, clock)
		const course: Course = { stopping: signal, cut: cut.signal, recorder, parking, tally: { delivered: 0, failed: 0 } }
		const working = new Set<Promise<void>>()
		const ring = () => bell.abort()
		const stopListening = store.onPosted(ring)
		signal.addEventListener('abort', ring, { once: true })

		let troubled = false
		let released = false
		while (!signal.aborted) {
			bell = new AbortController()
			let waitMs = shortestSleepMs
			try {
				if (!released) await parking.releaseAll()
				released = true
				await parking.probe()
				for (const lane of await store.claim({ nowMs: clock(), perLane })) {
					const work = carryOut(lane, course)
						.catch((error: unknown) =>
							log.error({ err: error }, 'a lane of deliveries broke off; it goes on after a restart'),
						)
						.finally(() => {
							working.delete(work)
							ring()
						})
					working.add(work)
				}
				const nextMs = Math.min((await store.nextDueMs()) ?? Infinity, parking.nextProbeMs() ?? Infinity)
				waitMs = Math.min(longestSleepMs, Math.max(shortestSleepMs, nextMs - clock()))
				if (troubled) log.info({}, 'deliveries can be read again')
				troubled = false
			} catch (error) {
				if (!troubled) log.error({ err: error }, 'deliveries cannot be read; trying again')
				troubled = true
			}
			await sleep(waitMs, bell.signal)
		}

		const cutTimer = setTimeout(() => cut.abort(), graceMs)
		const given = recorder.finish(graceMs + 1_000)
		await Promise.all(working)
		await given
		clearTimeout(cutTimer)
		stopListening()
		await orphans.letGo()
	}

	async function drainOnce(signal: AbortSignal): Promise<Tally> {
		const recorder = createRecorder(store, log, drainPatienceMs)
		const cut = new AbortController()
		// The moment of the start: what fails now falls due after it, and is not tried a second time.
		const nowMs = clock()
		const parking = createParking(store, () => nowMs)
		const course: Course = { stopping: signal, cut: cut.signal, recorder, parking, tally: { delivered: 0, failed: 0 } }
		const stop = () => setTimeout(() => cut.abort(), graceMs).unref()
		signal.addEventListener('abort', stop, { once: true })
		try {
			await parking.learn()
			await parking.probe()
			while (!signal.aborted) {
				const lanes = await store.claim({ nowMs, perLane })
				if (lanes.length === 0) break
				const ends = await Promise.allSettled(lanes.map((lane) => carryOut(lane, course)))
				for (const end of ends) if (end.status === 'rejected') throw end.reason
			}
		} finally {
			signal.removeEventListener('abort', stop)
			await orphans.letGo()
		}
		return course.tally
	}

	/** One lane, one after the other, until the first that has to wait. Resolves when all of it is written down. */
	async function carryOut(lane: readonly Delivery[], course: Course): Promise<void> {
		const [first] = lane
		if (first === undefined) return
		if (receiverOf(first) === null) return orphans.keep(lane)
		const giveBack = await slotsOf(first.receiver).take()
		const records: Promise<void>[] = []
		let done = 0
		let refused: string | null = null
		/** Sending on would only make more repetitions. */
		let unwritten = false
		try {
			for (const delivery of lane) {
				const receiver = receiverOf(delivery)
				if (course.stopping.aborted || unwritten || receiver === null) break
				// Once a receiver has to be mended, the rest of the lane is not tried one by one.
				const outcome: Outcome =
					refused === null ? await attempt(receiver, delivery, course.cut) : { result: 'parked', reason: refused }
				// Cut off by our stop: nobody has judged it.
				if (course.cut.aborted && outcome.result === 'retry') break
				const resolution = resolutionOf(delivery, outcome)
				const record = course.recorder.record(resolution)
				record.catch(() => {
					unwritten = true
				})
				records.push(record)
				done += 1
				account(delivery, outcome, resolution, course)
				if (outcome.result === 'retry' && resolution.result === 'retry') break
				if (outcome.result === 'parked') refused = outcome.reason
				if (outcome.result === 'delivered' && (await course.parking.taken(delivery.receiver))) bell.abort()
			}
		} finally {
			giveBack()
			if (done < lane.length) await store.release(lane.slice(done).map(({ id }) => id))
		}
		await Promise.all(records)
	}

	async function attempt(receiver: Receiver, delivery: Delivery, cut: AbortSignal): Promise<Outcome> {
		try {
			return await receiver.deliver(delivery, cut)
		} catch (error) {
			log.error({ err: error, receiver: receiver.name, delivery: delivery.id }, 'a receiver failed inside tracewatch')
			return { result: 'retry', reason: 'tracewatch itself failed; see the log' }
		}
	}

	function resolutionOf(delivery: Delivery, outcome: Outcome): Resolution {
		const { id } = delivery
		if (outcome.result === 'delivered') return { id, result: 'delivered' }
		const nowMs = clock()
		if (outcome.result !== 'retry') return { id, result: outcome.result, error: outcome.reason, nextAttemptAtMs: nowMs }
		const nextMs = nextAttemptMs(delivery, nowMs, random, outcome.afterMs)
		if (nextMs !== null) return { id, result: 'retry', error: outcome.reason, nextAttemptAtMs: nextMs }
		return { id, result: 'dead', error: `given up after 72 hours: ${outcome.reason}`, nextAttemptAtMs: nowMs }
	}

	function account(delivery: Delivery, outcome: Outcome, resolution: Resolution, { tally, parking }: Course): void {
		if (outcome.result === 'delivered') tally.delivered += 1
		else tally.failed += 1
		if (outcome.result === 'parked') parking.parked(delivery.receiver)
		const final: Outcome = resolution.result === 'dead' ? { result: 'dead', reason: resolution.error } : outcome
		health.note(delivery, final)
		onResult?.(delivery, final)
	}

	/** Null when the receiver, or this recipient of it, is configured no more. */
	function receiverOf(delivery: Delivery): Receiver | null {
		const receiver = receivers.get(delivery.receiver)
		if (receiver === undefined) return null
		const { recipients } = receiver
		const known = delivery.recipient === null ? recipients === null : recipients?.includes(delivery.recipient)
		return known ? receiver : null
	}

	function slotsOf(name: string): Slots {
		const known = slots.get(name) ?? createSlots(lanesPerReceiver)
		slots.set(name, known)
		return known
	}

	return {
		run,
		drainOnce,
		async setReceivers(next) {
			const replaced = [...receivers.values()].filter((receiver) => !next.includes(receiver))
			receivers = byName(next)
			await orphans.letGo()
			await createParking(store, clock).releaseAll()
			bell.abort()
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
