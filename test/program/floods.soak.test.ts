// Blocks as full as their gas allows of what touches a watch, from a node of our own: what reading them takes, and that
// what gets the block after them is not held up.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bystander, type Flood, startFloodNode, victim } from '../support/floodNode.js'
import { startHookServer } from '../support/hookServer.js'
import { preload } from '../support/preload.js'
import { openSite } from '../support/program.js'
import { expectShortTurns } from '../support/soak.js'
import { polled, told } from './site.js'

/**
 * What fills the block, the least that is told, in wei, and how much memory the program may take at its highest: with
 * 460,000 rows 177 to 183 MB were seen at a load of 17 (534 to 880 before they were packed and asked for once).
 */
const floods: Readonly<Record<string, readonly [Flood, bigint, number]>> = {
	// 100 gas each.
	'100,000 empty calls, of which one is a payment': [{ transactions: 1, calls: 100_000, hits: 1, wei: 1n }, 1n, 350e6],
	'460,000 calls of the watch with nothing': [{ transactions: 1, calls: 460_000, hits: 460_000, wei: 0n }, 1n, 300e6],
	'1,500 transactions of 300 calls, each with a payment': [
		{ transactions: 1_500, calls: 300, hits: 1, wei: 1n },
		2n,
		300e6,
	],
	'4,000 transactions, each with a payment': [{ transactions: 4_000, calls: 1, hits: 1, wei: 1n }, 1n, 350e6],
	// As many as fit 200 million gas.
	'490,000 calls of which none is like another, beside a payment': [
		{ transactions: 1, calls: 1, hits: 1, wei: 1n, square: 700 },
		1n,
		300e6,
	],
	'20,000 payments, each told': [{ transactions: 1, calls: 20_000, hits: 20_000, wei: 1n }, 1n, 500e6],
}

/** A node, a daemon that watches `victim` (from so many wei on) and `bystander`, and what each of them is sent. */
async function open(leastWei: bigint) {
	const node = await startFloodNode()
	const [flooded, quiet] = [await startHookServer(), await startHookServer()]
	const here = openSite({
		'tracewatch.yaml':
			`networks:\n  - {name: local, chain_id: 1, rpc: ["${node.url}"], schedule: "* * * * * *"}\nreceivers:\n` +
			`  - {name: flooded, type: webhook, url: "${flooded.origin}"}\n` +
			`  - {name: quiet, type: webhook, url: "${quiet.origin}"}\n`,
		'watchlists/a.yaml':
			`network: local\nwatches:\n  - {address: "${victim}", receivers: [flooded], min_value: ${leastWei} wei}\n` +
			`  - {address: "${bystander}", receivers: [quiet]}\n`,
	})
	onTestFinished(async () => {
		await here.close()
		await Promise.all([flooded.close(), quiet.close(), node.close()])
	})
	node.head = 100
	const file = join(here.folder, 'loop.json')
	const running = here.start(['run'], { ...preload('loopWatch'), LOOP_WATCH: file })
	await polled(running)
	node.head = 101
	await quiet.until(1)
	running.process.kill('SIGUSR2')
	/** Ends it, and says what it took. */
	const end = async (): Promise<{ longestMs: number; usedMs: number; peakBytes: number }> => {
		expect((await running.stop()).code).toBe(0)
		return JSON.parse(readFileSync(file, 'utf8'))
	}
	return { node, quiet, running, end }
}

test.each(Object.keys(floods))('behavior: %s', async (name) => {
	const [flood, leastWei, mostBytes] = floods[name] as (typeof floods)[string]
	const { node, quiet, running, end } = await open(leastWei)
	node.fill = (block) => (block === 110 ? flood : null)
	const sentAtMs = Date.now()
	node.head = 111
	// Blocks 101 to 109, and the one after the flood.
	await quiet.until(10)
	const tookMs = Date.now() - sentAtMs
	const { longestMs, usedMs, peakBytes } = await end()
	console.log(
		`${name}: told after ${tookMs} ms, ${Math.round(usedMs)} ms of processor in all, longest pause ` +
			`${Math.round(longestMs)} ms, ${Math.round(peakBytes / 1e6)} MB`,
	)
	const wei = told(quiet.hits).map(({ data }) => Number(data.valueWei))
	expect(wei.toSorted((a, b) => a - b)).toEqual([101, 102, 103, 104, 105, 106, 107, 108, 109, 111])
	expect(running.output().split('"msg":"alert"').length).toBeLessThan(1_020)
	expect(peakBytes).toBeLessThan(mostBytes)
	// 51 to 90 ms were seen on a machine at rest, and 132 once.
	expectShortTurns(longestMs, usedMs)
})

test('behavior: of six flooded blocks read one by one none is asked for twice', async () => {
	const { node, quiet, end } = await open(2n)
	node.fill = (block) => (block > 101 && block < 108 ? { transactions: 1, calls: 300_000, hits: 1, wei: 1n } : null)
	const asked = new Map<number, number>()
	node.before = (method, [number]) => {
		if (method === 'trace_block') asked.set(Number(number), (asked.get(Number(number)) ?? 0) + 1)
	}
	const sentAtMs = Date.now()
	node.head = 108
	await quiet.until(2)
	const tookMs = Date.now() - sentAtMs
	const { peakBytes } = await end()
	console.log(`told after ${tookMs} ms, ${Math.round(peakBytes / 1e6)} MB, ${JSON.stringify([...asked])}`)
	expect([...asked.values()]).toEqual(Array.from({ length: 7 }, () => 1))
	expect(peakBytes).toBeLessThan(300e6)
})
