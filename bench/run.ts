// All measurements of one run, one after the other on the same machine: ratios first, then the numbers they are made
// of.
import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { measureBooks } from './books.js'
import { measureCalls } from './calls.js'
import { measureCatchUp } from './catchUp.js'
import { measureContracts } from './contracts.js'
import { measureDecoding } from './decoding.js'
import { measureDistance } from './distance.js'
import { fillDocument } from './document.js'
import { measureFastChains } from './fastChains.js'
import { ratio } from './measure.js'
import { measurePolls } from './polls.js'
import { startLargeNode } from './program.js'
import { tablesOf } from './report.js'
import { seedBlocks, startChain } from './seed.js'
import { measureTokens } from './tokens.js'
import { measureLatency, measureMemory, measureMillion, measureStart, measureWholeCatchUp } from './whole.js'

const quick = process.argv.includes('--quick')
const scale = quick
	? {
			blocks: 60,
			times: 3,
			naive: [1, 100],
			largeBlocks: 100,
			memoryBlocks: 1_000,
			samples: 8,
			lags: 25,
			many: 100_000,
		}
	: {
			blocks: 500,
			times: 5,
			naive: [1, 100],
			largeBlocks: 500,
			memoryBlocks: 10_000,
			samples: 30,
			lags: 150,
			many: 1_000_000,
		}
const startedAtMs = performance.now()
const [loadBefore] = loadavg()

function step(what: string): void {
	process.stderr.write(`${((performance.now() - startedAtMs) / 1_000).toFixed(0).padStart(4)} s  ${what}\n`)
}

step('seeding a chain')
const anvil = await startChain()
const seeded = await seedBlocks(anvil, scale.blocks)
const span = { from: seeded.from + 1n, to: seeded.to }

const catchUp = []
for (const addresses of [1, 100, 1_000, 10_000, 100_000]) {
	step(`catching up with ${addresses} addresses`)
	const withNaive = scale.naive.includes(addresses)
	catchUp.push(await measureCatchUp({ url: anvil.url, span, addresses, times: scale.times, withNaive }))
}

const distances = []
for (const way of [{ delayMs: 20 }, { delayMs: 100 }, { delayMs: 300 }, { failEach: 20 }, { failEach: 10 }]) {
	step(`catching up over ${JSON.stringify(way)}`)
	distances.push(await measureDistance({ url: anvil.url, span, addresses: 100, ...way }))
}

step('counting calls')
const calls = {
	dense: await measureCalls(anvil.url, span, quick ? 100 : 1_000),
	sparse: await measureCalls(anvil.url, span, 3),
}

step('tokens')
const tokens = await measureTokens(scale.blocks)

step('large blocks')
const large = await startLargeNode()
await large.setHead(1_000)
const largeSpan = { from: 100n, to: 99n + BigInt(scale.largeBlocks) }
const largeCatchUp = await measureCatchUp({
	url: large.url,
	span: largeSpan,
	addresses: 100_000,
	times: scale.times,
	withNaive: false,
})
const decoding = await measureDecoding(large.url, largeSpan, 100_000, scale.times)
large.close()

const polls = []
for (const addresses of [1, 100, 10_000, 100_000]) {
	step(`polling with ${addresses} addresses`)
	polls.push(await measurePolls(anvil, addresses))
}

const books = []
for (const addresses of [1, 100, 10_000, 100_000, ...(quick ? [] : [1_000_000])]) {
	step(`keeping books of ${addresses} addresses`)
	books.push(await measureBooks(anvil, addresses))
}

const contracts = []
for (const count of quick ? [100] : [100, 10_000]) {
	step(`reading ${count} contracts`)
	contracts.push(await measureContracts(count))
}

step('starting')
const starts = [await measureStart(anvil.url, 1), await measureStart(anvil.url, 100_000)]
step(`starting with ${scale.many} watches`)
const million = await measureMillion(anvil.url, scale.many)
step('latency by the schedule of a second')
const bySchedule = await measureLatency(anvil, 'schedule', scale.samples)
step('latency by new heads')
const byHeads = await measureLatency(anvil, 'ws', scale.samples)
await anvil.stop()

step('the whole program catches up')
const whole = await measureWholeCatchUp(scale.blocks)
step(`memory over ${scale.memoryBlocks} large blocks`)
const memory = await measureMemory(scale.memoryBlocks, 100_000)
step('ten fast chains')
const fastChains = await measureFastChains(10, scale.lags)
step('done')

const ratios = {
	catchUpToFloor: catchUp.map(({ addresses, oursMs, floorMs, floorInFourMs }) => ({
		addresses,
		toFloor: ratio(oursMs, floorMs),
		toFloorInFour: ratio(oursMs, floorInFourMs),
	})),
	largeBlocksToFloor: {
		toFloor: ratio(largeCatchUp.oursMs, largeCatchUp.floorMs),
		toFloorInFour: ratio(largeCatchUp.oursMs, largeCatchUp.floorInFourMs),
	},
	decodingToParse: ratio(decoding.oursCpuMs - decoding.parseCpuMs, decoding.parseCpuMs),
	naiveToOurs: catchUp.flatMap(({ addresses, oursMs, naiveMs }) =>
		naiveMs === null ? [] : [{ addresses, ratio: ratio(naiveMs, oursMs) }],
	),
}
const results = {
	measured: new Date().toISOString(),
	machine: {
		node: process.version,
		cpu: cpus()[0]?.model ?? 'unknown',
		cores: cpus().length,
		// Of the last minute, before and after: what others did at the same time.
		load: [loadBefore, loadavg()[0]],
	},
	quick,
	ratios,
	catchUp,
	distances,
	calls,
	tokens,
	largeCatchUp,
	decoding,
	polls,
	books,
	contracts,
	starts,
	million,
	fastChains,
	latency: { bySchedule, byHeads },
	whole,
	memory,
}
for (const table of Object.values(tablesOf(results))) process.stdout.write(`\n${table}\n`)
// From bench/.built/bench, where this runs.
const file = fileURLToPath(new URL(quick ? '../../results.quick.json' : '../../results.json', import.meta.url))
writeFileSync(file, `${JSON.stringify(results, rounded, '\t')}\n`)
if (!quick) fillDocument(JSON.parse(JSON.stringify(results, rounded)))

function rounded(_key: string, value: unknown): unknown {
	return typeof value === 'number' ? Math.round(value * 100) / 100 : value
}
