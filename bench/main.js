// `npm run bench`: measures the built program from outside, one thing after the other on the same machine, and writes
// bench/results.md. `-- --quick`: less of it, in minutes. `-- --cli FILE`: another build, to compare; prints only.
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { measureCatchUp } from './catchUp.js'
import { measureCode, measureLatency, measureMemory, measurePolls } from './daily.js'
import { isOwnBuild, isQuick, startAnvil } from './stage.js'

const startedAtMs = performance.now()
const [loadBefore] = loadavg()
const some = (quick, whole) => (isQuick ? quick : whole)
const tables = []

/** One table: its title, its columns as functions of a row, and a list of measurements. */
async function measure(title, columns, jobs) {
	const rows = []
	for (const job of jobs) {
		const anvil = await startAnvil()
		process.stderr.write(`${((performance.now() - startedAtMs) / 1_000).toFixed(0).padStart(4)} s  ${title}\n`)
		rows.push(...[await job(anvil)].flat())
		await anvil.stop()
	}
	const names = Object.keys(columns)
	const lines = [names, names.map(() => '---'), ...rows.map((row) => names.map((name) => columns[name](row) ?? '?'))]
	tables.push(`## ${title}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`)
}

const count = (number) => number.toLocaleString('en')
const time = (ms) => (ms === null ? '' : ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`)
const bytes = (number) =>
	number < 10_000 ? `${number} B` : number < 10e6 ? `${Math.round(number / 1e3)} kB` : `${Math.round(number / 1e6)} MB`
const ratio = (one, other) => (one === null ? '' : (one / other).toFixed(2))

await measure(
	'Catching up',
	{
		blocks: (row) => count(row.blocks),
		watches: (row) => count(row.addresses),
		'delay of an answer': (row) => time(row.delayMs),
		alerts: (row) => count(row.alerts),
		'requests, calls': (row) => `${count(row.requests)}, ${count(row.calls)}`,
		'`once`, whole': (row) => time(row.wallMs),
		'first request to last answer': (row) => time(row.oursMs),
		'to floor': (row) => ratio(row.oursMs, row.floorMs),
		'to floor, four at a time': (row) => ratio(row.oursMs, row.floorInFourMs),
		'naive script to it': (row) => ratio(row.naiveMs, row.oursMs),
	},
	[
		{ addresses: 1, withNaive: true },
		{ addresses: 100, withNaive: true },
		{ addresses: 1_000 },
		{ addresses: 100_000 },
		{ addresses: 100, delayMs: 300 },
	].map((way) => (anvil) => measureCatchUp(anvil, { blocks: some(60, 500), ...way })),
)
await measure(
	'A poll of one new block with one payment',
	{
		watches: (row) => count(row.addresses),
		'requests, calls': (row) => `${row.requests}, ${row.calls}`,
		answers: (row) => bytes(row.answerBytes),
		processor: (row) => time(row.cpuMs),
		written: (row) => bytes(row.writtenBytes),
	},
	[1, 1_000, 100_000].map((addresses) => (anvil) => measurePolls(anvil, { addresses, polls: some(3, 10) })),
)
await measure(
	'`run` from its start',
	{
		watches: (row) => `${count(row.addresses)}${row.fromBlock ? ', with `from_block`' : ''}`,
		state: (row) => row.state,
		'to the first poll': (row) => time(row.firstPollMs),
		processor: (row) => time(row.cpuMs),
		'most memory': (row) => bytes(row.peakBytes),
		written: (row) => bytes(row.writtenBytes),
	},
	[
		{ addresses: 1, fromBlock: false },
		{ addresses: 100_000, fromBlock: true },
		...some([], [{ addresses: 1_000_000, fromBlock: true }]),
	].map((way) => (anvil) => measureMemory(anvil, way)),
)
const delays = { samples: (row) => row.samples, p50: (row) => time(row.p50Ms), p95: (row) => time(row.p95Ms) }
await measure(
	'From a block to the webhook',
	{ by: (row) => (row.way === 'ws' ? 'new heads (`ws`)' : 'a poll each second'), ...delays },
	['schedule', 'ws'].map((way) => (anvil) => measureLatency(anvil, { way, samples: some(5, 30) })),
)
await measure(
	'A `code` alert over a far endpoint, polled each second',
	{ 'delay of an answer': (row) => time(row.delayMs), ...delays },
	[(anvil) => measureCode(anvil, { samples: some(5, 20), delayMs: 300 })],
)

const load = `load ${loadBefore.toFixed(1)} before, ${loadavg()[0].toFixed(1)} after`
const machine = `${cpus().length} cores, Node ${process.versions.node}, ${load}`
const by = `\`npm run bench${isQuick ? ' -- --quick' : ''}\` on ${new Date().toISOString().slice(0, 10)}`
const text = `# What tracewatch costs

Written by ${by}: ${machine}. Node, receiver and program share the machine. Compare ratios,
not times: two runs on one machine differ by up to a third, and more where the load is above the number of cores.

**Floor**: the program's own requests sent bare, one at a time, each answer parsed. **Naive script**: viem, address by
address.

${tables.join('\n')}`
const file = new URL('results.md', import.meta.url)
// The last soak, which is written by hand, stays.
const [, soak = ''] = /(\n## The soak\n.*)/s.exec(readFileSync(file, 'utf8')) ?? []
if (!isOwnBuild) console.log(text)
else writeFileSync(file, text + soak)
process.exit(0)
