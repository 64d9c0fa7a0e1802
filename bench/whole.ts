// The whole program: its start, its catch-up, its memory, and how long an alert takes.
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestAnvil } from '../test/support/anvil.js'
import { startHookServer } from '../test/support/hookServer.js'
import { quantile } from './measure.js'
import { openGround, type Program, startLargeNode } from './program.js'
import { seedBlocks, seeded, startChain, watched, watchedUpTo } from './seed.js'

const everySecond = '* * * * * *'
/** The first of January: the schedule is out of the way. */
const onceAYear = '0 0 0 1 1 *'

export interface Start {
	readonly addresses: number
	readonly ms: number
	/** Of the processor, in all threads; null where the system does not tell. */
	readonly cpuMs: number | null
	/** Of the whole process; null where the system does not tell. */
	readonly peakRssBytes: number | null
}

/** `run` from the start of the process to its first poll, with a state to be made. */
export async function measureStart(rpc: string, addresses: number): Promise<Start> {
	const hook = await startHookServer()
	const ground = openGround({ rpc, hook: hook.origin, addresses: watchedUpTo(addresses), schedule: everySecond })
	const startedAtMs = performance.now()
	const program = ground.start('run')
	const polledAtMs = await program.said('polled')
	const cpuMs = program.usedMs()
	const peakRssBytes = program.peakRssBytes()
	await program.stop()
	ground.close()
	await hook.close()
	return { addresses, ms: polledAtMs - startedAtMs, cpuMs, peakRssBytes }
}

export interface WholeCatchUp {
	readonly blocks: number
	readonly transactions: number
	readonly alerts: number
	readonly ms: number
}

/** `once` after a long pause, from the start of the process to its end, every alert delivered. */
export async function measureWholeCatchUp(blocks: number): Promise<WholeCatchUp> {
	const anvil = await startChain()
	const hook = await startHookServer()
	const ground = openGround({ rpc: anvil.url, hook: hook.origin, addresses: watchedUpTo(100), schedule: everySecond })
	await finish(ground.start('once'))
	const { transactions } = await seedBlocks(anvil, blocks)
	const startedAtMs = performance.now()
	await finish(ground.start('once'))
	const ms = performance.now() - startedAtMs
	const alerts = hook.hits.length
	ground.close()
	await hook.close()
	await anvil.stop()
	return { blocks, transactions, alerts, ms }
}

export interface Memory {
	readonly blocks: number
	readonly addresses: number
	readonly alerts: number
	readonly ms: number
	/** Of the whole process; null where the system does not tell. */
	readonly peakRssBytes: number | null
	/** The same with nothing to catch up on. */
	readonly idleRssBytes: number | null
}

export async function measureMemory(blocks: number, addresses: number): Promise<Memory> {
	const node = await startLargeNode()
	const hook = await startHookServer()
	const ground = openGround({
		rpc: node.url,
		hook: hook.origin,
		addresses: watchedUpTo(addresses),
		schedule: everySecond,
	})
	await node.setHead(200)
	const idle = await finish(ground.start('once'))
	await node.setHead(200 + blocks)
	const startedAtMs = performance.now()
	const peak = await finish(ground.start('once'))
	const ms = performance.now() - startedAtMs
	ground.close()
	await hook.close()
	node.close()
	return { blocks, addresses, alerts: hook.hits.length, ms, peakRssBytes: peak, idleRssBytes: idle }
}

export interface Million {
	readonly addresses: number
	/** `once`, with a state to be made and with one that is there. */
	readonly starts: readonly Omit<Start, 'addresses'>[]
	/** `run` after that: until its first poll, and until one line that was edited is in effect and kept. */
	readonly run: Omit<Start, 'addresses'> & {
		readonly writtenBytes: number | null
		readonly editWrittenBytes: number | null
		readonly editPeakRssBytes: number | null
	}
}

export async function measureMillion(rpc: string, addresses: number): Promise<Million> {
	const hook = await startHookServer()
	const ground = openGround({ rpc, hook: hook.origin, addresses: watchedUpTo(addresses), schedule: everySecond })
	const starts = []
	for (let time = 0; time < 2; time += 1) {
		const startedAtMs = performance.now()
		const program = ground.start('once')
		let cpuMs: number | null = null
		const timer = setInterval(() => {
			cpuMs = program.usedMs() ?? cpuMs
		}, 50)
		const peakRssBytes = await finish(program)
		clearInterval(timer)
		starts.push({ ms: performance.now() - startedAtMs, cpuMs, peakRssBytes })
	}
	// The first keeps the watchlists, which is done once.
	const keeping = ground.start('run')
	await keeping.said('polled')
	await stillness(keeping)
	await keeping.stop()
	const startedAtMs = performance.now()
	const program = ground.start('run')
	const ms = (await program.said('polled')) - startedAtMs
	const [cpuMs, peakRssBytes] = [program.usedMs(), program.peakRssBytes()]
	await stillness(program)
	const writtenBytes = program.writtenBytes()
	ground.editAddress(Math.floor(addresses / 2))
	await program.said('watchlists are read again and in effect')
	await stillness(program)
	const after = program.writtenBytes()
	const editWrittenBytes = after === null || writtenBytes === null ? null : after - writtenBytes
	const run = { ms, cpuMs, peakRssBytes, writtenBytes, editWrittenBytes, editPeakRssBytes: program.peakRssBytes() }
	await program.stop()
	ground.close()
	await hook.close()
	return { addresses, starts, run }
}

/** Until a program has neither written nor worked for some seconds: polls of a quiet chain are next to nothing. */
async function stillness(program: Program): Promise<void> {
	for (let quiet = 0; quiet < 3; ) {
		const before = { written: program.writtenBytes(), usedMs: program.usedMs() ?? 0 }
		await sleep(1_000)
		const isQuiet = program.writtenBytes() === before.written && (program.usedMs() ?? 0) - before.usedMs < 200
		quiet = isQuiet ? quiet + 1 : 0
	}
}

export interface Latency {
	readonly p50Ms: number
	readonly p95Ms: number
	readonly samples: number
}

export async function measureLatency(anvil: TestAnvil, way: 'schedule' | 'ws', samples: number): Promise<Latency> {
	const [sender] = await anvil.accounts()
	if (sender === undefined) throw new Error('the node has no accounts')
	const hook = await startHookServer()
	const ground = openGround({
		rpc: anvil.url,
		hook: hook.origin,
		addresses: watchedUpTo(100),
		...(way === 'ws' ? { schedule: onceAYear, ws: anvil.url.replace('http', 'ws') } : { schedule: everySecond }),
	})
	const program = ground.start('run')
	await program.said('polled')
	if (way === 'ws') await program.said('new heads are followed')
	const random = seeded(7)
	const tookMs: number[] = []
	// The first delivery opens the connections.
	for (let sample = 0; sample <= samples; sample += 1) {
		await sleep(300 + random() * 1_000)
		const count = hook.hits.length + 1
		const sentAtMs = performance.now()
		await anvil.send({ from: sender, to: watched(0), valueWei: 1n })
		await hook.until(count)
		if (sample > 0) tookMs.push(performance.now() - sentAtMs)
	}
	await program.stop()
	ground.close()
	await hook.close()
	return { p50Ms: quantile(tookMs, 0.5), p95Ms: quantile(tookMs, 0.95), samples }
}

/** Waits for a good end; resolves to the most memory that was seen. */
async function finish(program: Program): Promise<number | null> {
	let peak: number | null = null
	const look = () => {
		peak = program.peakRssBytes() ?? peak
	}
	const timer = setInterval(look, 20)
	look()
	const code = await program.ended
	clearInterval(timer)
	if (code !== 0) throw new Error(`tracewatch once ended with ${code}`)
	return peak
}
