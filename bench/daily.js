// What the program costs day by day: polls, memory, bytes on disk, and the time from a block to the webhook.
import { setTimeout as sleep } from 'node:timers/promises'
import { openFolder, quantile, startHook, startProxy, watched } from './stage.js'

/** The first of January: the schedule is out of the way. */
const ONCE_A_YEAR = '0 0 0 1 1 *'
const listOf = (count) => Array.from({ length: count }, (_, index) => watched(index))

/** Polls of one new block with one payment, by the number of watches; the middle of all. */
export async function measurePolls(anvil, { addresses, polls }) {
	const proxy = await startProxy(anvil.url)
	const hook = await startHook()
	const folder = openFolder({ rpc: proxy.url, hook: hook.url, addresses: listOf(addresses) })
	const program = folder.start('run')
	await program.said('polled')
	await program.still()
	const seen = []
	for (let poll = 0; poll < polls; poll += 1) {
		proxy.take()
		const before = [program.usedMs(), program.writtenBytes()]
		const count = hook.hits.length + 1
		await anvil.send({ to: watched(0), value: '0x1' })
		await hook.until(count)
		// What follows the alert, up to the next ticks of the schedule, belongs to it.
		await sleep(2_500)
		const exchanges = proxy.take()
		const isIdle = ({ methods }) => methods.every((method) => method === 'eth_getBlockByNumber')
		const used = exchanges.filter((one) => !isIdle(one))
		seen.push({
			requests: used.length,
			calls: used.reduce((sum, { methods }) => sum + methods.length, 0),
			answerBytes: used.reduce((sum, { answer }) => sum + answer.length, 0),
			cpuMs: program.usedMs() - before[0],
			writtenBytes: program.writtenBytes() - before[1],
		})
	}
	await program.stop()
	folder.close()
	await proxy.close()
	hook.close()
	const middles = Object.keys(seen[0]).map((key) => [
		key,
		quantile(
			seen.map((one) => one[key]),
			0.5,
		),
	])
	return { addresses, ...Object.fromEntries(middles) }
}

/** `run` from its start to its first poll and until it is still: with a state to be made, then with that state. */
export async function measureMemory(anvil, { addresses, fromBlock }) {
	const hook = await startHook()
	const watchlist = fromBlock ? 'from_block: 1\n' : ''
	const folder = openFolder({ rpc: anvil.url, hook: hook.url, addresses: listOf(addresses), watchlist })
	const runs = []
	for (const state of ['new', 'kept']) {
		const startedAtMs = performance.now()
		const program = folder.start('run')
		const firstPollMs = (await program.said('polled')) - startedAtMs
		await program.still()
		const figures = { peakBytes: program.peakBytes(), cpuMs: program.usedMs(), writtenBytes: program.writtenBytes() }
		runs.push({ addresses, fromBlock, state, firstPollMs, ...figures })
		await program.stop()
	}
	folder.close()
	hook.close()
	return runs
}

/** From the block's transaction to the webhook, by the schedule of a second or by new heads (`ws`). */
export async function measureLatency(anvil, { way, samples }) {
	const hook = await startHook()
	const heads = { network: `, ws: "${anvil.url.replace('http', 'ws')}"`, schedule: ONCE_A_YEAR }
	const folder = openFolder({ rpc: anvil.url, hook: hook.url, addresses: listOf(100), ...(way === 'ws' ? heads : {}) })
	const program = folder.start('run')
	await program.said('polled')
	if (way === 'ws') await program.said('new heads are followed')
	const pay = () => anvil.send({ to: watched(0), value: '0x1' })
	const took = await timed({ hook, samples, act: pay, kind: 'alert.transfer' })
	await program.stop()
	folder.close()
	hook.close()
	return { way, ...took }
}

/** Runs the code at the address in its call data in its own context; and a contract of one STOP to be that code. */
const DELEGATOR = '0x600e600c600039600e6000f360006000600060006000355af400'
const STOPPER = '0x6001600c60003960016000f300'

/** `code` alerts over an endpoint that is 300 ms away: a watched contract runs code that it never ran. */
export async function measureCode(anvil, { samples, delayMs }) {
	const proxy = await startProxy(anvil.url, delayMs)
	const hook = await startHook()
	const { contractAddress: contract } = await anvil.send({ data: DELEGATOR })
	const codes = []
	for (let at = 0; at <= samples; at += 1) codes.push((await anvil.send({ data: STOPPER })).contractAddress)
	const folder = openFolder({ rpc: proxy.url, hook: hook.url, addresses: [contract] })
	const program = folder.start('run')
	await program.said('polled')
	await program.still()
	const act = (at) => anvil.send({ to: contract, data: `0x${codes[at].slice(2).padStart(64, '0')}` })
	const took = await timed({ hook, samples, act, kind: 'alert.code' })
	await program.stop()
	folder.close()
	await proxy.close()
	hook.close()
	return { delayMs, ...took }
}

async function timed({ hook, samples, act, kind }) {
	const tookMs = []
	const count = () => hook.hits.filter(({ message }) => message.type === kind).length
	// The first opens the connections, and is not counted.
	for (let sample = 0; sample <= samples; sample += 1) {
		await sleep(300 + ((sample * 377) % 1_000))
		const before = count()
		const startedAtMs = performance.now()
		await act(sample)
		while (count() === before) await hook.until(hook.hits.length + 1)
		if (sample > 0) tookMs.push(performance.now() - startedAtMs)
	}
	return { samples, p50Ms: quantile(tookMs, 0.5), p95Ms: quantile(tookMs, 0.95) }
}
