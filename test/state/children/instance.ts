/**
 * One of several instances on one database: stands by until it has the state, then commits the next block of each
 * network and delivers what is posted. Says `C network number` after each commit, and `D queue id ns` at each telling
 * (which is what a receiver would have seen), by a clock that all processes of a machine share. Ends itself when
 * another instance has taken over, and its polling at `stop`.
 */

import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { StateError } from '../../../src/errors.js'
import type { Delivery, Resolution } from '../../../src/model/delivery.js'
import type { Store } from '../../../src/model/ports.js'
import { createChance } from '../../support/chance.js'
import { openPgStore } from '../postgres/pgStore.js'
import { blockOf, commitOf, deliveryOf } from '../samples.js'

const [, , url = '', owner = '', seed = '1', leaseMs = '1500', networks = ''] = process.argv
const clock = Date.now
const chance = createChance(Number(seed))
const stop = new AbortController()

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Another instance may have it, or the database may be out of reach for a while. */
async function opened(): Promise<Store> {
	for (;;) {
		try {
			return await openPgStore(url, {
				clock,
				owner,
				leaseMs: Number(leaseMs),
				leastJournalBytes: 20_000,
				historyMs: 3_600_000,
				onLost: () => process.exit(),
			})
		} catch (error) {
			if (!(error instanceof StateError)) throw error
			await pause(50)
		}
	}
}

async function poll(store: Store, network: string): Promise<void> {
	const next = Number((await store.network(network))?.checkpoint.number ?? -1n) + 1
	// What a node takes to answer.
	await pause(chance.number(30))
	const deliveries = [`own-${network}`, 'shared'].map((receiver) =>
		deliveryOf(`${network}-${String(next).padStart(6, '0')}-${receiver}`, {
			receiver,
			createdAtMs: clock(),
			nextAttemptAtMs: clock(),
		}),
	)
	await store.commit(commitOf({ network, checkpoint: blockOf(next), deliveries }))
	say(`C ${network} ${next}`)
}

async function work(store: Store, queue: readonly Delivery[]): Promise<void> {
	for (const [index, { id, receiver }] of queue.entries()) {
		const fails = chance.percent(5)
		if (!fails) say(`D ${receiver} ${id} ${process.hrtime.bigint()}`)
		await pause(chance.number(4))
		await recorded(
			store,
			fails
				? { id, result: 'retry', code: 'failed', error: 'HTTP 503', nextAttemptAtMs: clock() + 40 }
				: { id, result: 'delivered' },
		)
		if (!fails) continue
		return await store.release(queue.slice(index + 1).map((one) => one.id))
	}
}

async function recorded(store: Store, resolution: Resolution): Promise<void> {
	for (;;) {
		try {
			return await store.resolve([resolution])
		} catch (error) {
			if (!(error instanceof StateError)) throw error
			await pause(20)
		}
	}
}

/** Over and over; a database out of reach is what this is about. */
async function keepOn(signal: AbortSignal | null, work: () => Promise<void>) {
	while (!signal?.aborted) {
		try {
			await work()
		} catch (error) {
			if (!(error instanceof StateError)) throw error
		}
		await pause(5)
	}
}

const store = await opened()
const polling = networks.split(',').map((network) => keepOn(stop.signal, () => poll(store, network)))
void keepOn(null, async () => {
	const queues = await store.claim({ nowMs: clock(), perQueue: 7 })
	await Promise.all(queues.map((queue) => work(store, queue)))
})
for await (const line of createInterface({ input: process.stdin })) {
	if (line !== 'stop') continue
	stop.abort()
	await Promise.all(polling)
	say('stopped')
}
process.exit()
