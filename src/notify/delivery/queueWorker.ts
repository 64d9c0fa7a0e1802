/**
 * Works on one claimed queue: each delivery waits (for its receiver, for an earlier one of its subject, for a digest)
 * or is tried, alone or in its digest, and what came of it is durable before the next is tried. `decide.ts` says what
 * comes of an attempt.
 */

import { sha256 } from '../../base/sha256.js'
import { createSlots, type Slots } from '../../base/waits/slots.js'
import { alertsIn, digestOf } from '../../core/outbox/digest.js'
import { queueOf } from '../../core/outbox/queue.js'
import { resolved } from '../../core/outbox/resolved.js'
import { inSendingOrder, rankOf } from '../../core/outbox/urgency.js'
import { failedAttempts, isAlone, isParked, readyOf } from '../../core/outbox/waiting.js'
import type { Delivery, Outcome, Resolution } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Receiver, Store } from '../../model/ports.js'
import { batchOf, type DigestRate } from './batch.js'
import { alone, type Decision, decide, type Parcel, type Result, waitOf } from './decide.js'
import type { Fallbacks } from './fallback.js'
import { logResult } from './queueLog.js'
import type { QueueMemory } from './queueMemory.js'
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
	readonly memory: QueueMemory
	readonly fallbacks: Fallbacks
	/** Null when the receiver or the recipient is no longer configured. */
	readonly receiverOf: (delivery: Delivery) => Receiver | null
	/** Null: each alert is sent alone. */
	readonly rateOf: (delivery: Delivery) => DigestRate | null
	readonly onResult: ((delivery: Delivery, outcome: Outcome) => void) | undefined
}

const QUEUES_PER_RECEIVER = 2

type Next = Decision['next']

/** One pass over a claimed queue. */
interface Pass {
	readonly context: RunContext
	readonly receiver: Receiver
	readonly rate: DigestRate | null
	readonly claimed: readonly Delivery[]
	/** Ids of those recorded in this pass. */
	readonly settled: Set<string>
	/** Deliveries that wait beside the queue or for a digest, in sending order. */
	aside: Map<string, Delivery>
	/** A message was tried under the pause. */
	isProbed: boolean
}

/** The result works on one claimed queue, and resolves when the results are recorded. */
export function createQueueWorker(options: QueueWorkerOptions) {
	const { store, clock, log, random, memory, fallbacks, receiverOf, rateOf, onResult } = options
	const slots = new Map<string, Slots>()
	/** By receiver, or by queue: the message that is tried under its pause. */
	const probes = new Map<string, Promise<unknown>>()

	async function work(claimed: readonly Delivery[], context: RunContext): Promise<void> {
		const [first] = claimed
		const receiver = first === undefined ? null : receiverOf(first)
		if (first === undefined || receiver === null) return
		let posted = false
		const stopListening = store.onPosted(() => {
			posted = true
		})
		const giveBack = await slotsOf(first.receiver).take()
		const settled = new Set<string>()
		try {
			const aside = await store.aside(first)
			await recall(first, receiver, aside)
			const pass: Pass = {
				...{ context, receiver, rate: rateOf(first), claimed, settled, isProbed: false },
				aside: new Map(aside.map((one) => [one.id, one])),
			}
			for (const delivery of claimed) {
				if (context.stopping.aborted) break
				// Messages posted meanwhile may be more urgent: the rest is claimed again, in sending order.
				if (posted && rankOf(delivery) > 0) break
				if (settled.has(delivery.id)) continue
				if ((await step(delivery, pass)) === 'stop') break
			}
		} finally {
			stopListening()
			giveBack()
			const left = claimed.flatMap(({ id }) => (settled.has(id) ? [] : id))
			if (left.length > 0) await store.release(left)
		}
	}

	/** Learns from the state what an earlier process knew of the queue. */
	async function recall(first: Delivery, { name, recipients }: Receiver, aside: readonly Delivery[]): Promise<void> {
		memory.change(first, { failedBeside: 0 })
		if (memory.of(first).acceptedAtMs !== null) return
		// So that the next success makes due what failed in an earlier process.
		if (aside.some((one) => failedAttempts(one) > 0)) memory.change(first, { isFailing: true })
		if (aside.every(({ refused }) => refused === undefined)) return
		// Of several recipients, the state does not say which one accepted.
		const isOne = (recipients?.length ?? 1) === 1
		const acceptedAtMs = isOne ? ((await store.summary()).receivers.get(name)?.lastDeliveredAtMs ?? null) : null
		const isRefused = (one: Delivery) =>
			isAlone(one) && one.refused && one.refused.times > 0 && one.refused.sinceMs > (acceptedAtMs ?? 0)
		const refused = aside.filter(isRefused).map(({ id }) => id)
		memory.change(first, { acceptedAtMs, refused: new Set([...memory.of(first).refused, ...refused]) })
	}

	async function step(delivery: Delivery, pass: Pass): Promise<Next> {
		const { receiver, rate, aside, claimed, settled, context } = pass
		const queue = memory.of(delivery)
		const wait = waitOf(delivery, queue, { rate, aside, nowMs: clock(), random })
		if (wait !== null) {
			if (wait.result === 'wait') context.tally.held += 1
			else if (queue.pause !== null) context.tally.failed += 1
			await record([{ ...alone(delivery), resolution: wait, outcome: null }], pass)
			return 'continue'
		}
		if (queue.pause !== null) return await probe(delivery, queue.pause.isOfAll, pass)
		const left = claimed.slice(claimed.indexOf(delivery)).filter((one) => !settled.has(one.id))
		const members = batchOf(left, [...aside.values()], receiver)
		return await tryIt(members.length < 2 ? alone(delivery) : { sent: digestOf(members, sha256), members }, pass)
	}

	/** The receiver refuses everything: one message is tried after each pause. */
	async function probe(delivery: Delivery, isOfAll: boolean, pass: Pass): Promise<Next> {
		if (pass.isProbed) return 'continue'
		const scope = isOfAll ? delivery.receiver : queueOf(delivery)
		const other = probes.get(scope)
		if (other !== undefined) {
			await other.catch(() => undefined)
			// What came of it is of this queue as well, which is claimed again.
			return 'stop'
		}
		pass.isProbed = true
		const probing = store.aside(delivery).then((aside) => tryIt(alone(probeOf(aside) ?? delivery), pass))
		probes.set(scope, probing)
		try {
			await probing
		} finally {
			probes.delete(scope)
		}
		return 'continue'
	}

	async function tryIt(parcel: Parcel, pass: Pass): Promise<Next> {
		const { sent } = parcel
		const { context, rate, settled } = pass
		const outcome = await attempt(pass.receiver, sent, context.cut)
		// The attempt was aborted by our own stop; it says nothing about the receiver.
		if (outcome.result === 'retry' && context.cut.aborted) return 'stop'
		const isAboutAll = outcome.result === 'parked' || memory.of(sent).pause !== null
		const pending = isAboutAll ? await store.deliveries('pending') : []
		const nowMs = clock()
		const decision = decide(memory.of(sent), parcel, outcome, { nowMs, random, rate, aside: pass.aside, pending })
		memory.change(sent, decision.queue)
		if (decision.queue.pause !== null) pass.isProbed = true
		await record(decision.results, pass)
		report(decision.results, context)
		const freed = decision.freed.filter((id) => !settled.has(id))
		if (freed.length === 0) return decision.next
		await store.retry(freed, context.onlyDueAtMs ?? nowMs)
		// They are claimed with the rest of the queue.
		return 'stop'
	}

	async function attempt(receiver: Receiver, delivery: Delivery, cut: AbortSignal): Promise<Outcome> {
		try {
			return await receiver.deliver(delivery, cut)
		} catch (error) {
			log.error({ err: error, receiver: receiver.name, delivery: delivery.id }, 'a receiver failed inside tracewatch')
			return { result: 'retry', code: 'failed', reason: 'tracewatch itself failed; see the log' }
		}
	}

	/** With what the fallback gets, in one write. */
	async function record(results: readonly Result[], pass: Pass): Promise<void> {
		const posts = results.map(({ members, resolution }) => fallbacks.postsFor(members, resolution))
		await pass.context.recorder.record(
			results.flatMap(({ members, resolution }) => members.map(({ id }) => ({ ...resolution, id }))),
			(await Promise.all(posts)).flat(),
		)
		for (const { sent, members, resolution } of results) {
			for (const one of members) settle(one, resolution, pass)
			if (resolution.result === 'retry' || resolution.result === 'dead') fallbacks.failed(sent)
		}
	}

	function report(results: readonly Result[], { tally }: RunContext): void {
		for (const { sent, resolution, outcome } of results) {
			if (outcome?.result === 'delivered') tally.delivered += alertsIn(sent.message)
			else tally.failed += 1
			if (outcome === null) continue
			memory.change(sent, { logged: logResult(log, memory.of(sent).logged, { sent, resolution, outcome }) })
			onResult?.(sent, outcome)
		}
	}

	function slotsOf(name: string): Slots {
		const known = slots.get(name) ?? createSlots(QUEUES_PER_RECEIVER)
		slots.set(name, known)
		return known
	}

	return work
}

function settle(delivery: Delivery, resolution: Resolution, pass: Pass): void {
	const { id } = delivery
	const isTried = resolution.result === 'retry' && !resolution.untried
	pass.settled.add(id)
	if (isTried || resolution.result === 'delivered' || resolution.result === 'dead') pass.aside.delete(id)
	else pass.aside.set(id, resolved(delivery, resolution))
	// In front: later deliveries of the same subject wait behind it.
	if (isTried) pass.aside = new Map([[id, resolved(delivery, resolution)], ...pass.aside])
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
