import type { BooksCost } from './books.js'
import type { CallCost } from './calls.js'
import type { CatchUp } from './catchUp.js'
import type { Decoding } from './decoding.js'
import type { Distance } from './distance.js'
import type { FastChains } from './fastChains.js'
import type { PollCost } from './polls.js'
import type { TokenCost } from './tokens.js'
import type { Latency, Memory, Million, WholeCatchUp } from './whole.js'

export interface Results {
	readonly ratios: {
		readonly catchUpToFloor: readonly {
			readonly addresses: number
			readonly toFloor: number
			readonly toFloorInFour: number
		}[]
		readonly largeBlocksToFloor: { readonly toFloor: number; readonly toFloorInFour: number }
		readonly decodingToParse: number
		readonly naiveToOurs: readonly { readonly addresses: number; readonly ratio: number }[]
	}
	readonly catchUp: readonly CatchUp[]
	readonly distances: readonly Distance[]
	readonly calls: { readonly dense: CallCost; readonly sparse: CallCost }
	readonly tokens: readonly TokenCost[]
	readonly largeCatchUp: CatchUp
	readonly decoding: Decoding
	readonly polls: readonly PollCost[]
	readonly books: readonly BooksCost[]
	readonly startMs: { readonly one: number; readonly hundredThousand: number }
	readonly million: Million
	readonly fastChains: FastChains
	readonly latency: { readonly bySchedule: Latency; readonly byHeads: Latency }
	readonly whole: WholeCatchUp
	readonly memory: Memory
}

type Line = readonly [what: string, value: string, aim?: string]

export function printTable(results: Results): void {
	const lines = [...ratioLines(results), ...numberLines(results)]
	const width = Math.max(...lines.map(([what]) => what.length))
	for (const [what, value, aim = ''] of lines) {
		process.stdout.write(`${what.padEnd(width)}  ${value.padStart(12)}  ${aim}\n`)
	}
}

export function ratio(one: number, other: number): number {
	return Math.round((one / other) * 100) / 100
}

function ratioLines({ ratios, memory, startMs, latency, million, fastChains }: Results): readonly Line[] {
	const { catchUpToFloor, largeBlocksToFloor, decodingToParse, naiveToOurs } = ratios
	return [
		...catchUpToFloor.map(
			({ addresses, toFloor }): Line => [
				`catch-up / floor, ${count(addresses)} addresses`,
				`${toFloor}`,
				'aim <= 1.25',
			],
		),
		...catchUpToFloor.map(
			({ addresses, toFloorInFour }): Line => [
				`catch-up / floor four at a time, ${count(addresses)} addresses`,
				`${toFloorInFour}`,
				'aim <= 1.25',
			],
		),
		['catch-up / floor, large blocks, 100,000 addresses', `${largeBlocksToFloor.toFloor}`, 'aim <= 1.25'],
		['catch-up / floor four at a time, large blocks', `${largeBlocksToFloor.toFloorInFour}`, 'aim <= 1.25'],
		['CPU of decoding and matching / JSON.parse', `${decodingToParse}`, 'aim <= 0.3'],
		...naiveToOurs.map(({ addresses, ratio }): Line => [`naive / ours, ${count(addresses)} addresses`, `${ratio}`]),
		[
			`peak RSS over ${count(memory.blocks)} blocks at ${count(memory.addresses)} watches`,
			megabytes(memory.peakRssBytes),
			'aim <= 256 MB',
		],
		['latency by schedule of 1 s, p50 / p95', `${ms(latency.bySchedule.p50Ms)} / ${ms(latency.bySchedule.p95Ms)}`],
		['latency by new heads, p50 / p95', `${ms(latency.byHeads.p50Ms)} / ${ms(latency.byHeads.p95Ms)}`],
		['start to first poll, 1 watch', ms(startMs.one)],
		['start to first poll, 100,000 watches', ms(startMs.hundredThousand)],
		...million.starts.map(
			(start, at): Line => [
				`${at === 0 ? 'first' : 'second'} once, ${count(million.addresses)} watches`,
				ms(start.ms),
				`aim <= 6 s; peak ${megabytes(start.peakRssBytes)}, aim <= 400 MB`,
			],
		),
		[
			`${fastChains.chains} chains with four blocks a second: worst p95, most`,
			`${fastChains.worstP95} / ${fastChains.worstMost} blocks`,
			`aim <= 2${fastChains.cpuShare === null ? '' : `; ${Math.round(fastChains.cpuShare * 100)} % of a core`}`,
		],
	]
}

function numberLines({
	catchUp,
	distances,
	calls,
	tokens,
	largeCatchUp,
	decoding,
	polls,
	books,
	whole,
	memory,
}: Results): readonly Line[] {
	return [
		...catchUp.map(
			({ addresses, blocks, alerts, requests, oursMs, floorMs, naiveMs }): Line => [
				`  ${blocks} blocks, ${count(addresses)} addresses, ${alerts} alerts: ours`,
				ms(oursMs),
				`floor ${ms(floorMs)}${naiveMs === null ? '' : `, naive ${ms(naiveMs)}`}, ${requests} requests`,
			],
		),
		...distances.map(
			({ delayMs, failEach, blocks, alerts, oursMs, floorMs, requests, calls }): Line => [
				`  ${blocks} blocks, ${alerts} alerts, ` +
					`${failEach > 0 ? `each ${failEach}th request failing` : `${delayMs} ms an answer`}: ours`,
				ms(oursMs),
				`floor ${ms(floorMs)} (${ratio(oursMs, floorMs)}, aim <= 1.5), ${requests} requests, ${calls} calls`,
			],
		),
		...[calls.dense, calls.sparse].map(
			({ blocks, addresses, alerts, ours, naive }): Line => [
				`  calls of ${blocks} blocks, ${count(addresses)} addresses, ${alerts} alerts: ours`,
				count(ours.calls),
				`${creditsIn(ours.credits)}; naive ${count(naive.calls)} calls, ${creditsIn(naive.credits)}`,
			],
		),
		...tokens.map(
			({ addresses, how, blocks, transfers, native, withTokens }): Line => [
				`  calls with tokens, ${how === 'near' ? 'near the head' : 'catching up'}, ${blocks} blocks, ` +
					`${count(addresses)} addresses, ${transfers} transfers`,
				count(withTokens.calls),
				`coin only ${count(native.calls)}; CPU ${ms(withTokens.cpuMs)}, coin only ${ms(native.cpuMs)}`,
			],
		),
		[
			`  ${largeCatchUp.blocks} large blocks, ${megabytes(largeCatchUp.answerBytes)}, 100,000 addresses: ours`,
			ms(largeCatchUp.oursMs),
			`floor ${ms(largeCatchUp.floorMs)}, four at a time ${ms(largeCatchUp.floorInFourMs)}, ` +
				`${largeCatchUp.requests} requests`,
		],
		[
			`  CPU of reading them from memory (${megabytes(decoding.bytes)}): ours`,
			ms(decoding.oursCpuMs),
			`JSON.parse alone ${ms(decoding.parseCpuMs)}`,
		],
		...polls.map(
			({ addresses, requests, traceRequests, calls, requestBytes, bytesWritten }): Line => [
				`  requests of a poll, ${count(addresses)} watches`,
				`${requests}`,
				`${traceRequests} for traces, ${calls} calls, ${count(requestBytes)} bytes asked, ` +
					`${count(bytesWritten)} bytes written`,
			],
		),
		...books.map(
			({ addresses, pollsToOpen, calls, bytes, bytesWritten, ...times }): Line => [
				`  books of ${count(addresses)} watches, more calls a poll`,
				`${calls}`,
				`${count(bytes)} bytes, ${ms(times.ms - times.msWithout)}, ` +
					`${ms(times.cpuMs - times.cpuMsWithout)} of processor, ` +
					`${count(bytesWritten)} bytes written; opened in ${pollsToOpen} polls`,
			],
		),
		[
			`  once, ${whole.blocks} blocks, ${whole.transactions} transactions, ${whole.alerts} alerts delivered`,
			ms(whole.ms),
		],
		[
			`  once, ${count(memory.blocks)} large blocks, ${count(memory.addresses)} watches, ${memory.alerts} alerts`,
			ms(memory.ms),
			`memory with nothing to do ${megabytes(memory.idleRssBytes)}`,
		],
	]
}

function creditsIn(credits: Readonly<Record<string, number>>): string {
	return Object.entries(credits)
		.map(([name, number]) => `${name} ${count(number)}`)
		.join(', ')
}

function count(number: number): string {
	return number.toLocaleString('en-GB')
}

function ms(value: number): string {
	return value < 10_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`
}

function megabytes(bytes: number | null): string {
	return bytes === null ? 'not told' : `${Math.round(bytes / 1_048_576)} MB`
}
