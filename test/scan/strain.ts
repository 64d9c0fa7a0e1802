// A chain with a known life, and a watcher that catches up on it through strained endpoints: polled as a
// schedule would, until nothing is left.
import { RpcError } from '../../src/errors.js'
import { type Hand, startTestAnvil } from '../support/anvil.js'
import { createChance } from '../support/chance.js'
import { soaked } from '../support/soak.js'
import type { Answers } from '../support/strained.js'
import { type DueAlert, startTraffic } from '../support/traffic.js'
import { alertOf, type BenchOptions, openBench, watchOf } from './bench.js'

export interface Life {
	readonly url: string
	readonly watched: readonly DueAlert['address'][]
	/** Ids of all alerts that are due, worked out from how the transactions were made and borne out by balances. */
	readonly due: readonly string[]
	readonly head: bigint
	/** What the node has answered to anybody. */
	readonly answers: Answers
	close(): Promise<void>
}

export async function startLife(blocks: number, watches: number, perBlock: number): Promise<Life> {
	const node = await startTestAnvil(['--accounts', String(watches)])
	const watched = await node.accounts()
	const traffic = await startTraffic(node as Hand, watched, createChance(9))
	while ((await node.head()) < BigInt(blocks)) await traffic.step(perBlock)
	const due = (await traffic.due(watched)).map(({ id }) => id)
	return { url: node.url, watched, due, head: await node.head(), answers: new Map(), close: node.stop }
}

export interface Ride {
	/** Ids that were sent, sorted; none is told twice, or this throws. */
	readonly told: readonly string[]
	/** Until nothing was left to be told; null when that did not come within the time given. */
	readonly lastMs: number | null
	/** Polls that failed. */
	readonly failures: number
}

/** A schedule of one second where time is measured; elsewhere nobody waits for a tick. */
const TICK_MS = soaked(50, 1_000)

/** From nothing known to everything told, or until `mostMs` have passed; `onFirst` when the first was posted. */
export async function ride(
	life: Life,
	urls: readonly string[],
	mostMs: number,
	options: Partial<BenchOptions> = {},
	onFirst: () => void = () => {},
): Promise<Ride> {
	const watches = life.watched.map((address) => watchOf(address, { fromBlock: 1n }))
	const bench = await openBench({ urls, watches, timeoutMs: 1_000, ...options })
	const startedAtMs = performance.now()
	const sinceMs = () => performance.now() - startedAtMs
	let isFirst = true
	const stopLooking = bench.store.onPosted(() => {
		if (isFirst) onFirst()
		isFirst = false
	})
	let lastMs: number | null = null
	let failures = 0
	try {
		while (lastMs === null && sinceMs() < mostMs) {
			const tickAtMs = sinceMs()
			try {
				await bench.settle()
				lastMs = sinceMs()
			} catch (error) {
				if (!(error instanceof RpcError)) throw error
				failures += 1
				if (process.env['STRAIN_LOG']) console.log(`${Math.round(sinceMs())} ${error.message}`)
				// The next tick of the schedule.
				const waitMs = Math.min(TICK_MS - ((sinceMs() - tickAtMs) % TICK_MS), Math.max(0, mostMs - sinceMs()))
				await new Promise((resolve) => setTimeout(resolve, waitMs))
			}
		}
		const told = (await bench.posted()).map((delivery) => alertOf(delivery).id).toSorted()
		if (new Set(told).size !== told.length) throw new Error('an alert was told twice')
		return { told, lastMs, failures }
	} finally {
		stopLooking()
		await bench.close()
	}
}
