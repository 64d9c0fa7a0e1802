// What a run has measured, as the tables of docs/performance.md.
import type { BooksCost } from './books.js'
import type { CallCost } from './calls.js'
import type { CatchUp } from './catchUp.js'
import type { ContractsCost } from './contracts.js'
import type { Decoding } from './decoding.js'
import type { Distance } from './distance.js'
import type { FastChains } from './fastChains.js'
import { ratio } from './measure.js'
import type { PollCost } from './polls.js'
import type { TokenCost } from './tokens.js'
import type { Latency, Memory, Million, Start, WholeCatchUp } from './whole.js'

export interface Results {
	readonly measured: string
	readonly machine: {
		readonly node: string
		readonly cpu: string
		readonly cores: number
		readonly load: readonly (number | undefined)[]
	}
	readonly quick: boolean
	readonly catchUp: readonly CatchUp[]
	readonly distances: readonly Distance[]
	readonly calls: { readonly dense: CallCost; readonly sparse: CallCost }
	/** Absent in runs of before there were any. */
	readonly tokens?: readonly TokenCost[]
	readonly largeCatchUp: CatchUp
	readonly decoding: Decoding
	readonly polls: readonly PollCost[]
	/** Absent in runs of before there were any. */
	readonly books?: readonly BooksCost[]
	/** Absent in runs of before there were any. */
	readonly contracts?: readonly ContractsCost[]
	readonly starts: readonly Start[]
	readonly million: Million
	readonly fastChains: FastChains
	readonly latency: { readonly bySchedule: Latency; readonly byHeads: Latency }
	readonly whole: WholeCatchUp
	readonly memory: Memory
}

type Row = readonly [what: string, figure: string, aim: string]

/** Markdown, by the name that each has in the document. */
export function tablesOf(
	results: Results,
): Readonly<Record<'run' | 'measured' | 'distance' | 'calls' | 'tokens', string>> {
	const { distances, calls, tokens = [] } = results
	return {
		run: runOf(results),
		measured: table(['what', 'figure', 'aim'], [...catchUpRows(results), ...programRows(results)]),
		distance: table(
			[`${distances[0]?.blocks} blocks, ${distances[0]?.alerts} alerts`, 'time', 'floor', 'time / floor', 'aim'],
			distances.map(({ delayMs, failEach, oursMs, floorMs, requests, calls }) => [
				failEach > 0 ? `each ${failEach}th request failing` : `${delayMs} ms an answer`,
				`${ms(oursMs)}, ${requests} requests, ${count(calls)} calls`,
				ms(floorMs),
				`${ratio(oursMs, floorMs)}`,
				failEach > 0 ? '5' : '1.5',
			]),
		),
		calls: table(
			['catching up', 'calls'],
			[calls.dense, calls.sparse].flatMap(({ blocks, addresses, alerts, ours, naive }) => [
				[
					`${blocks} blocks, ${count(addresses)} addresses, ${count(alerts)} alerts`,
					`${count(ours.calls)} (${methodsIn(ours.byMethod)})`,
				],
				['the naive script', count(naive.calls)],
			]),
		),
		tokens: table(
			['with tokens', 'the coin only', '`auto`', '`auto`, two endpoints'],
			tokens.map(({ addresses, how, blocks, transfers, costs }) => [
				`${how === 'near' ? 'near the head' : 'catching up'}, ${blocks} blocks, ${addressesIn(addresses)}, ` +
					`${count(transfers)} transfers`,
				...(['off', 'auto', 'witnessed'] as const).map((way) => perBlock(costs[way], blocks)),
			]),
		),
	}
}

function perBlock({ calls, cpuMs }: { readonly calls: number; readonly cpuMs: number }, blocks: number): string {
	return `${(calls / blocks).toFixed(2)} calls, ${(cpuMs / blocks).toFixed(1)} ms`
}

function runOf({ measured, machine, quick }: Results): string {
	const load = machine.load.map((one) => (one ?? 0).toFixed(1)).join(' before, ')
	const kind = quick ? 'a quick run' : 'one whole run'
	const where = `${machine.cores} cores, Node ${machine.node.slice(1)}, load ${load} after`
	return `Of ${kind} of \`npm run bench\` on ${measured.slice(0, 10)}: ${where}.`
}

function catchUpRows({ catchUp, largeCatchUp, decoding }: Results): readonly Row[] {
	const large = `${largeCatchUp.blocks} large blocks (${megabytes(largeCatchUp.answerBytes)})`
	return [
		...catchUp.map(
			({ blocks, addresses, oursMs, floorMs, floorInFourMs }): Row => [
				`catching up ${blocks} blocks, ${addressesIn(addresses)}: time / floor one at a time, four at a time`,
				`${ratio(oursMs, floorMs)}, ${ratio(oursMs, floorInFourMs)} (${ms(oursMs)})`,
				'1.25',
			],
		),
		[
			`${large}, ${addressesIn(largeCatchUp.addresses)}: the same`,
			`${ratio(largeCatchUp.oursMs, largeCatchUp.floorMs)}, ` +
				`${ratio(largeCatchUp.oursMs, largeCatchUp.floorInFourMs)} (${ms(largeCatchUp.oursMs)})`,
			'1.25',
		],
		[
			'processor time of decoding and matching, above `JSON.parse` of the same bytes',
			`${ratio(decoding.oursCpuMs - decoding.parseCpuMs, decoding.parseCpuMs)}`,
			'0.5',
		],
		...catchUp.flatMap(({ addresses, oursMs, naiveMs }): Row[] =>
			naiveMs === null
				? []
				: [[`time of the naive script / ours, ${addressesIn(addresses)}`, `${ratio(naiveMs, oursMs)}`, '']],
		),
	]
}

function programRows({
	polls,
	books = [],
	contracts = [],
	starts,
	million,
	fastChains,
	latency,
	whole,
	memory,
}: Results): readonly Row[] {
	const watches = `${count(million.addresses)} watches`
	return [
		...polls.map(
			({ addresses, requests, traceRequests, calls, bytesWritten }): Row => [
				`a poll of one new block, ${watchesIn(addresses)}`,
				`${requests} requests (${traceRequests} for traces), ${calls} calls, ${count(bytesWritten)} bytes written`,
				'4 requests',
			],
		),
		...books.map(
			({ addresses, pollsToOpen, calls, bytes: moved, bytesWritten, ...times }): Row => [
				`books of ${watchesIn(addresses)}: more of a poll`,
				`${calls} calls, ${bytes(moved)}, processor ${ms(times.cpuMs - times.cpuMsWithout)}, ` +
					`${bytes(bytesWritten)} written; opened in ${pollsToOpen} polls`,
				'2 calls',
			],
		),
		...contracts.map(
			({ contracts: watched, untouched, touched }): Row => [
				`a poll and its audit, ${count(watched)} contracts: none entered; all entered`,
				`${untouched.calls} calls, ${ms(untouched.ms)}; ${touched.calls} calls, ${ms(touched.ms)} ` +
					`(processor ${ms(touched.cpuMs)}), ${bytes(touched.bytes)}`,
				'',
			],
		),
		...starts.map(
			({ addresses, ms: tookMs, cpuMs, peakRssBytes }): Row => [
				`\`run\`, start to first poll, ${watchesIn(addresses)}`,
				`${ms(tookMs)} (processor ${ms(cpuMs)}), ${megabytes(peakRssBytes)}`,
				addresses > 1 ? '130 MB' : '',
			],
		),
		...million.starts.map(
			({ ms: tookMs, cpuMs, peakRssBytes }, at): Row => [
				`\`once\`, ${watches}, ${at === 0 ? 'with a state to be made' : 'with one that is there'}`,
				`${ms(tookMs)} (processor ${ms(cpuMs)}), ${megabytes(peakRssBytes)}`,
				'6 s, 400 MB',
			],
		),
		[
			`\`run\`, ${watches}, start to first poll, nothing changed`,
			`${ms(million.run.ms)} (processor ${ms(million.run.cpuMs)}), ${megabytes(million.run.peakRssBytes)}, ` +
				`${bytes(million.run.writtenBytes)} written`,
			'6 s, 400 MB',
		],
		[
			'the same, one line of the file edited while it runs',
			`${bytes(million.run.editWrittenBytes)} written; peak ${megabytes(million.run.editPeakRssBytes)}`,
			'',
		],
		[
			`${count(memory.blocks)} large blocks, ${watchesIn(memory.addresses)}: peak (with nothing to do)`,
			`${megabytes(memory.peakRssBytes)} (${megabytes(memory.idleRssBytes)})`,
			'256 MB',
		],
		[
			`\`once\`, ${whole.blocks} blocks, ${count(whole.transactions)} transactions, ${whole.alerts} alerts delivered`,
			ms(whole.ms),
			'',
		],
		[
			`${fastChains.chains} chains, four blocks a second, 20 ms away, and a slow one: blocks behind, p95, most`,
			`${fastChains.worstP95}, ${fastChains.worstMost}` +
				(fastChains.cpuShare === null ? '' : `; ${Math.round(fastChains.cpuShare * 100)} % of a core`),
			'2',
		],
		['block mined to webhook received, polling each second: p50, p95', latencyIn(latency.bySchedule), ''],
		['the same by new heads (`ws`)', latencyIn(latency.byHeads), ''],
	]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
	const lines = [head, head.map(() => '---'), ...rows]
	return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function latencyIn({ p50Ms, p95Ms }: Latency): string {
	return `${ms(p50Ms)}, ${ms(p95Ms)}`
}

function methodsIn(byMethod: Readonly<Record<string, number>>): string {
	return Object.entries(byMethod)
		.map(([method, number]) => `${number} \`${method}\``)
		.join(', ')
}

function addressesIn(number: number): string {
	return `${count(number)} address${number === 1 ? '' : 'es'}`
}

function watchesIn(number: number): string {
	return `${count(number)} watch${number === 1 ? '' : 'es'}`
}

function count(number: number): string {
	return number.toLocaleString('en-GB')
}

function ms(value: number | null): string {
	if (value === null) return 'not told'
	return value < 1_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`
}

function bytes(value: number | null): string {
	if (value === null) return 'not told'
	return value < 1_000_000 ? `${Math.round(value / 1_000)} kB` : megabytes(value)
}

function megabytes(value: number | null): string {
	return value === null ? 'not told' : `${Math.round(value / 1_048_576)} MB`
}
