// Whatever share of the requests fails, and in whatever way: everything is told, once, and soon.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as faults from '../support/faults.js'
import type { Fault } from '../support/faultyNode.js'
import { quickest } from '../support/quickest.js'
import { expectBelow, soaked, testInSoak } from '../support/soak.js'
import { byChance, eachNth, type Strained, startStrained } from '../support/strained.js'
import { type Life, type Ride, ride, startLife } from './strain.js'

/** The fault, and how long each costs by its own nature, in milliseconds. */
const kinds = {
	'502': [faults.status(502), 0],
	'429': [faults.status(429), 0],
	'429 with Retry-After': [faults.status(429, '', { 'retry-after': '1' }), 1_000],
	'a cut body': [faults.cutBody, 0],
	'cut JSON': [faults.cutJson, 0],
	'a reset': [faults.reset, 0],
	'a web page': [faults.html, 0],
	'a wrong id': [faults.wrongId, 0],
	'no answer': [faults.hang, 400],
} as const satisfies Readonly<Record<string, readonly [Fault, number]>>

type Kind = keyof typeof kinds
type Case = readonly [kind: Kind | 'any of them', percent: number, way: 'regular' | 'random', endpoints: number]

const grid = (Object.keys(kinds) as Kind[]).flatMap((kind) =>
	[1, 5, 10, 33].flatMap((percent) =>
		(['regular', 'random'] as const).flatMap((way) => [1, 2].map((count): Case => [kind, percent, way, count])),
	),
)

/** Outside the soak one ride meets all kinds, since only its time depends on the kind. */
const some = soaked<readonly Case[]>(
	[
		['any of them', 1, 'regular', 1],
		['any of them', 5, 'random', 2],
		['any of them', 10, 'random', 1],
		['any of them', 33, 'regular', 2],
		['any of them', 33, 'random', 1],
	],
	grid,
)

/** Each kind in turn. */
function inTurn(): Fault {
	const all: readonly Fault[] = Object.values(kinds).map(([fault]) => fault)
	let count = 0
	return (...given) => all[count++ % all.length]?.(...given)
}

const timeoutMs = 400
let life: Life
let healthyMs: number
let healthyCalls: number

interface Strain {
	readonly endpoints: readonly Strained[]
	readonly ride: Ride
}

async function strained(count: number, mostMs: number, next: (at: number) => Strained['next']): Promise<Strain> {
	const endpoints = await Promise.all(Array.from({ length: count }, () => startStrained(life.url, life.answers)))
	for (const [at, endpoint] of endpoints.entries()) {
		endpoint.delayMs = 10
		// Some providers take few calls in a request; it makes for more requests that may fail.
		endpoint.mostBatch = 10
		endpoint.next = next(at)
	}
	const retry = count > 1 ? { withinMs: 3_000 } : {}
	try {
		const urls = endpoints.map(({ url }) => url)
		return { endpoints, ride: await ride(life, urls, mostMs, { timeoutMs, retry }) }
	} finally {
		await Promise.all(endpoints.map(({ close }) => close()))
	}
}

const callsOf = (endpoints: readonly Strained[]) =>
	endpoints.flatMap(({ calls }) => [...calls.values()]).reduce((sum, calls) => sum + calls, 0)

beforeAll(async () => {
	life = await startLife(50, 20, 4)
	const none = () => () => null
	// The first ride makes the node work; what it has answered stays.
	await strained(1, 100_000, none)
	const healthy = await strained(1, 100_000, none)
	expect(healthy.ride.told).toEqual(life.due.toSorted())
	healthyMs = healthy.ride.lastMs ?? Number.NaN
	healthyCalls = callsOf(healthy.endpoints)
})

afterAll(() => life.close())

describe('requests that fail in passing', () => {
	test.each(some)('behavior: %s, %i of 100, %s, over %i', async (kind, percent, way, count) => {
		const [fault, costMs] = kind === 'any of them' ? [inTurn(), 0] : kinds[kind]
		let failed = 0
		const counted: Fault = (ask, response, good) => {
			failed += 1
			fault(ask, response, good)
		}
		const chance = (at: number) => byChance(percent, counted, 7 + at)
		expect(life.due.length).toBeGreaterThan(200)
		// A machine that does much else at this moment is no fault of ours: a second is the least that is compared.
		const times = percent <= 10 ? 5 : 20
		const share = await quickest(soaked(Number.POSITIVE_INFINITY, 1), async () => {
			failed = 0
			const { endpoints, ride } = await strained(count, 100_000, (at) =>
				way === 'regular' ? eachNth(Math.round(100 / percent), counted) : chance(at),
			)
			expect(ride.told).toEqual(life.due.toSorted())
			if (percent <= 10 && count === 1) expect(callsOf(endpoints)).toBeLessThan(1.5 * healthyCalls)
			return (ride.lastMs ?? Number.NaN) / (times * Math.max(1_000, healthyMs) + failed * costMs)
		})
		expectBelow(share, 1)
	})
})

testInSoak('the first alert of a first start comes after seven waits', async () => {
	const endpoint = await startStrained(life.url, life.answers)
	// While the machine works, the auditor asks on.
	endpoint.delayMs = Math.max(1_000, healthyMs)
	let waits = Number.NaN
	const { told } = await ride(life, [endpoint.url], 200_000, { timeoutMs: 60_000 }, () => {
		waits = endpoint.waits
	})
	await endpoint.close()
	expect(told).toEqual(life.due.toSorted())
	// Three of them for the beginning: a head is believed once its block was read. None for a balance.
	expect(waits).toBe(7)
})

testInSoak('behavior: a plan of 25 calls a second is learnt: few requests are refused from then on', async () => {
	const endpoint = await startStrained(life.url, life.answers)
	endpoint.mostBatch = 1
	const passedAtMs: number[] = []
	const ends: boolean[] = []
	endpoint.next = () => {
		const nowMs = performance.now()
		const isRefused = passedAtMs.filter((atMs) => atMs > nowMs - 1_000).length >= 25
		ends.push(isRefused)
		if (isRefused) return faults.status(429)
		passedAtMs.push(nowMs)
		return null
	}
	const { told } = await ride(life, [endpoint.url], 300_000, { timeoutMs: 60_000 })
	await endpoint.close()
	expect(told).toEqual(life.due.toSorted())
	// None of 131 was seen on a machine with a load of 20, and 13 of the first 67.
	const later = ends.slice(75)
	expect(later.length).toBeGreaterThan(75)
	expect(later.filter((isRefused) => isRefused).length / later.length).toBeLessThan(0.15)
})
