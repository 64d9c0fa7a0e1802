/** What a store should hold, in the plainest words: no disk, no sharing, no index; copied whole before each try. */

import { expect } from 'vitest'
import type { BlockRef } from '../../src/model/chain.js'
import type { Delivery, Resolution } from '../../src/model/delivery.js'
import type { Address } from '../../src/model/glossary.js'
import type { Store } from '../../src/model/ports.js'
import type { Announcement, Commit, Enrolment } from '../../src/model/state.js'
import type { Backfill, Coverage } from '../../src/model/watch.js'
import { readState } from './samples.js'

export interface Reference {
	networks: Record<string, ReferenceNetwork>
	deliveries: Delivery[]
	taken: string[]
	delivered: Record<string, number>
}

interface ReferenceNetwork {
	chainId: number
	checkpoint: BlockRef
	settled: BlockRef
	announcements: Announcement[]
	covered: Record<Address, Coverage>
	backfills: (Backfill & { next: bigint })[]
	updatedAtMs: number
}

/** What an operation gave, and whether a disk was needed for it. */
export interface Step {
	readonly result?: unknown
	readonly refused?: true
	readonly writes: boolean
}

export const emptyReference = (): Reference => ({ networks: {}, deliveries: [], taken: [], delivered: {} })

export function commit(at: Reference, step: Commit, nowMs: number): Step {
	let network = at.networks[step.network]
	if (!network) {
		if (!step.checkpoint) return { refused: true, writes: false }
		const { chainId, checkpoint } = step
		network = {
			chainId,
			checkpoint,
			settled: checkpoint,
			announcements: [],
			covered: {},
			backfills: [],
			updatedAtMs: 0,
		}
	}
	if (network.chainId !== step.chainId) return { refused: true, writes: false }
	at.networks[step.network] = network
	if (step.checkpoint) network.checkpoint = step.checkpoint
	if (step.checkpoint) network.updatedAtMs = nowMs
	if (step.settled) network.settled = step.settled
	if (network.settled.number > network.checkpoint.number) network.settled = network.checkpoint
	for (const entry of step.announcements ?? []) {
		const index = network.announcements.findIndex(({ id }) => id === entry.id)
		if (index < 0) network.announcements.push(entry)
		else network.announcements[index] = entry
	}
	const { forgetTo = -1n } = step
	network.announcements = network.announcements.filter(({ block }) => block.number > forgetTo)
	for (const backfill of network.backfills) {
		if (backfill.id !== step.backfill?.id) continue
		if (step.backfill.scannedTo + 1n > backfill.next) backfill.next = step.backfill.scannedTo + 1n
	}
	post(at, step.deliveries ?? [])
	return { writes: true }
}

export function post(at: Reference, deliveries: readonly Delivery[]): Step {
	let writes = false
	for (const delivery of deliveries) {
		if (at.deliveries.some(({ id }) => id === delivery.id)) continue
		at.deliveries.push(delivery)
		writes = true
	}
	return { writes }
}

function live(network: ReferenceNetwork): Backfill[] {
	return network.backfills
		.map(({ next, ...rest }) => ({
			...rest,
			span: { from: next > rest.span.from ? next : rest.span.from, to: rest.span.to },
		}))
		.filter(({ span }) => span.from <= span.to)
}

export function enrol(at: Reference, name: string, change: Enrolment): Step {
	const network = at.networks[name]
	if (!network) return { refused: true, writes: false }
	Object.assign(network.covered, Object.fromEntries(change.covered))
	const before = live(network).map(({ id }) => id)
	if (change.backfills) {
		network.backfills = change.backfills.map((wished) => {
			const known = network.backfills.find(({ id }) => id === wished.id && before.includes(id))
			const same =
				known && wished.span.from >= known.span.from && wished.addresses.every((each) => known.addresses.includes(each))
			return { ...wished, next: same ? known.next : wished.span.from }
		})
	}
	return { writes: change.covered.size > 0 || change.backfills !== null }
}

const isHeld = ({ status, digestAtMs, nextAttemptAtMs }: Delivery) =>
	status === 'pending' && digestAtMs !== undefined && digestAtMs === nextAttemptAtMs

/** As operators are shown it. */
const shownStatus = (delivery: Delivery) => (isHeld(delivery) ? 'held' : delivery.status)

const queueOf = ({ receiver, recipient }: Delivery) => `${receiver} ${recipient}`

function firstOfFreeQueues(at: Reference): Delivery[][] {
	const held = at.deliveries.filter(({ id }) => at.taken.includes(id)).map(queueOf)
	const pending = at.deliveries.filter((each) => each.status === 'pending' && !held.includes(queueOf(each)))
	return [...new Set(pending.map(queueOf))].map((queue) => pending.filter((each) => queueOf(each) === queue))
}

export function claim(at: Reference, nowMs: number, perQueue: number): Step {
	const queues: string[][] = []
	for (const queue of firstOfFreeQueues(at)) {
		const inOrder = queue.filter((each) => each.attempts < 5 && (!isHeld(each) || each.nextAttemptAtMs <= nowMs))
		const stop = inOrder.findIndex(({ nextAttemptAtMs }) => nextAttemptAtMs > nowMs)
		const beside = queue.filter(({ attempts, nextAttemptAtMs }) => attempts >= 5 && nextAttemptAtMs <= nowMs)
		const first = stop < 0 ? inOrder : inOrder.slice(0, stop)
		const all = [...first, ...beside]
		// The first place of those beside it, where not all can be claimed; a test claims at most ten.
		const [one] = all.length > perQueue && first.length > 0 ? beside.splice(0, 1) : []
		if (one !== undefined) all.splice(0, all.length, ...first.slice(0, 1), one, ...first.slice(1), ...beside)
		const due = all.slice(0, perQueue).map(({ id }) => id)
		if (due.length > 0) queues.push(due)
	}
	at.taken.push(...queues.flat())
	return { result: queues.map(String).sort(), writes: false }
}

function nextDueMs(at: Reference): number | null {
	const times = firstOfFreeQueues(at).flatMap((queue) => {
		const inOrder = queue.filter(({ attempts }) => attempts < 5)
		const stop = inOrder.findIndex((each) => !isHeld(each))
		const first = stop < 0 ? inOrder : inOrder.slice(0, stop + 1)
		return [...first, ...queue.filter(({ attempts }) => attempts >= 5)].map(({ nextAttemptAtMs }) => nextAttemptAtMs)
	})
	return times.length === 0 ? null : Math.min(...times)
}

export function release(at: Reference, ids: readonly string[]): Step {
	at.taken = at.taken.filter((id) => !ids.includes(id))
	return { writes: false }
}

export function resolve(at: Reference, resolutions: readonly Resolution[], further: readonly Delivery[]): Step {
	let writes = false
	for (const resolution of resolutions) {
		const index = at.deliveries.findIndex(({ id }) => id === resolution.id)
		const found = at.deliveries[index]
		if (!found) continue
		writes = true
		if (resolution.result === 'delivered') {
			at.deliveries.splice(index, 1)
			const announcements = 'alerts' in found.message.data ? found.message.data.alerts.length : 1
			at.delivered[found.receiver] = (at.delivered[found.receiver] ?? 0) + announcements
		} else if (resolution.result === 'wait') {
			const { digestAtMs: _, ...rest } = found
			const as = resolution.as === 'digest' ? { digestAtMs: resolution.untilMs } : { alone: true as const }
			at.deliveries[index] = { ...rest, ...as, status: 'pending', nextAttemptAtMs: resolution.untilMs }
		} else {
			at.deliveries[index] = {
				...found,
				status: resolution.result === 'retry' ? 'pending' : resolution.result,
				attempts: found.attempts + 1,
				lastError: resolution.error,
				lastErrorCode: resolution.code,
				...(resolution.result === 'dead' ? {} : { nextAttemptAtMs: resolution.nextAttemptAtMs }),
			}
		}
	}
	writes = post(at, further).writes || writes
	release(
		at,
		resolutions.map(({ id }) => id),
	)
	return { writes }
}

export function retry(at: Reference, ids: readonly string[], nowMs: number): Step {
	const found = at.deliveries.filter(({ id }) => ids.includes(id))
	at.deliveries = at.deliveries.map((each) => {
		if (!found.includes(each)) return each
		const due = { ...each, status: 'pending' as const, nextAttemptAtMs: nowMs }
		if (!isHeld(each)) return due
		const { digestAtMs: _, ...rest } = due
		return { ...rest, alone: true as const }
	})
	return { result: found.length, writes: found.length > 0 }
}

export function drop(at: Reference, ids: readonly string[]): Step {
	const found = at.deliveries.filter(({ id }) => ids.includes(id))
	at.deliveries = at.deliveries.filter((each) => !found.includes(each))
	release(at, ids)
	return { result: found.length, writes: found.length > 0 }
}

/** Fails where a store holds anything else. */
export async function expectStored(now: Reference, store: Store): Promise<void> {
	for (const name of ['ethereum', 'base']) {
		const expected = now.networks[name]
		const announcements = new Map(expected?.announcements.map((entry) => [entry.id, entry]))
		const found = await readState(await store.network(name))
		expect(found).toEqual(
			expected
				? {
						chainId: expected.chainId,
						checkpoint: expected.checkpoint,
						settled: expected.settled,
						announcements,
						covered: new Map(Object.entries(expected.covered)),
						backfills: live(expected),
						updatedAtMs: expected.updatedAtMs,
						books: new Map(),
						gaps: new Map(),
						contracts: new Map(),
					}
				: null,
		)
		if (found) expect([...found.announcements.keys()]).toEqual([...announcements.keys()])
	}
	expect(await store.deliveries()).toEqual(now.deliveries)
	expect(await store.nextDueMs()).toBe(nextDueMs(now))
	const { receivers, networks } = await store.summary()
	for (const [name, expected] of Object.entries(now.networks)) {
		expect(networks.get(name)?.backfills).toEqual(live(expected))
	}
	for (const [name, told] of receivers) {
		const own = now.deliveries.filter(({ receiver }) => receiver === name)
		const count = (status: string) => own.filter((each) => shownStatus(each) === status).length
		expect(told).toMatchObject({
			pending: count('pending'),
			held: count('held'),
			parked: count('parked'),
			dead: count('dead'),
			delivered: now.delivered[name] ?? 0,
		})
	}
}
