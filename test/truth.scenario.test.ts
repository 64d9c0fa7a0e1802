// The scenario by itself: it holds what the truth tests say it does. On other hardforks plan and balances are compared
// by test/truth.sized.test.ts, through what the watcher tells.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AlertData } from '../src/model/alert.js'
import { startTestAnvil, type TestAnvil } from './support/anvil.js'
import { type Books, type Due, expectBooksBalance, imbalances, keepBooks } from './support/books.js'
import { endings } from './support/endings.js'
import { movements } from './support/movements.js'
import { type Plan, planScenario, playScenario, type Scenario } from './support/scenario.js'
import { undoings } from './support/undoings.js'

interface Trace {
	readonly type: string
	readonly error?: string
	readonly traceAddress: readonly number[]
	readonly transactionHash: string
	readonly action: { readonly callType?: string; readonly value?: string }
}

let anvil: TestAnvil
let plan: Plan
let scenario: Scenario
let books: Books

beforeAll(async () => {
	plan = planScenario()
	anvil = await startTestAnvil(plan.anvilArgs)
	scenario = await playScenario(plan, anvil)
	books = await keepBooks(scenario, anvil)
})
afterAll(() => anvil.stop())

describe('the truth scenario', () => {
	test('default: alerts planned by hand agree with every balance of every watched address', () => {
		expect(imbalances(books.due, books)).toEqual([])
		expect(books.due.length).toBeGreaterThan(400)
		expect(books.changesWei.size).toBeGreaterThan(150)
	})

	test('behavior: the scenario is long, and has every case', () => {
		expect(scenario.span.to).toBeGreaterThanOrEqual(60n)
		const names = new Set(scenario.transactions.map(({ name }) => name))
		for (const name of Object.keys({ ...movements, ...undoings, ...endings })) expect(names).toContain(name)
		expect(scenario.transactions.filter(({ name }) => name === 'random').length).toBeGreaterThan(60)
	})

	test('behavior: every contract of the list has code when it should, and no failed creation ever has', async () => {
		expect(books.deployments.length).toBeGreaterThan(60)
		const born = new Set(books.deployments.map(({ address }) => address))
		const stillborn = new Set(scenario.transactions.flatMap(({ consequence }) => consequence.stillborn))
		const never = [...stillborn].filter((address) => !born.has(address))
		expect(never.length).toBeGreaterThan(10)
		for (const address of never) expect(await anvil.code(address, scenario.span.to)).toBe('0x')
	})

	test('behavior: the scenario has many frames that must not be reported', async () => {
		const traces: Trace[] = []
		for (let block = scenario.span.from; block <= scenario.span.to; block++) {
			traces.push(...(await anvil.rpc<Trace[]>('trace_block', [`0x${block.toString(16)}`])))
		}
		const failed = new Set(traces.filter((t) => t.error).map((t) => `${t.transactionHash} ${t.traceAddress}`))
		const ghosts = traces.filter(
			({ error, transactionHash, traceAddress }) =>
				error === undefined &&
				traceAddress.some((_, depth) => failed.has(`${transactionHash} ${traceAddress.slice(0, depth)}`)),
		)
		const withValue = (callType: string) =>
			traces.filter(({ action }) => action.callType === callType && BigInt(action.value ?? 0) > 0n)
		expect(ghosts.length).toBeGreaterThan(100)
		expect(withValue('delegatecall').length).toBeGreaterThan(20)
		expect(withValue('callcode').length).toBeGreaterThan(10)
		expect(traces.filter(({ type, error }) => type === 'create' && error !== undefined).length).toBeGreaterThan(10)
		expect(traces.filter(({ type }) => type === 'suicide').length).toBeGreaterThan(10)
		expect(Math.max(...traces.map(({ traceAddress }) => traceAddress.length))).toBeGreaterThan(5)
		// Equal in and out in one block: only the list can see whether all of it is told.
		const quiet = books.due.filter(({ address, block }) => !books.changesWei.has(`${address} in block ${block}`))
		expect(quiet.length).toBeGreaterThan(0)
	})

	test('behavior: the same seed plans the same, another seed something else', () => {
		expect(planScenario()).toEqual(plan)
		expect(planScenario({ seed: 2 })).not.toEqual(plan)
	})
})

describe('expectBooksBalance', () => {
	const alertOf = (due: Due, index: number) =>
		({
			id: `${index}`,
			watch: { address: due.address },
			direction: due.direction,
			kind: due.kind,
			txHash: due.txHash,
			blockNumber: Number(due.block),
			from: due.from,
			to: due.to,
			valueWei: due.valueWei.toString(),
		}) as unknown as AlertData
	const all = () => books.due.map(alertOf)

	test('default: the complete list of alerts balances, in any order', () => {
		expectBooksBalance(all().reverse(), books)
	})

	test('error: a list that lacks any single alert does not balance', () => {
		for (let index = 0; index < books.due.length; index += 37) {
			expect(() => expectBooksBalance(all().toSpliced(index, 1), books)).toThrow()
		}
	})

	test('error: a list with an alert too many, by a wei wrong, or twice does not balance', () => {
		const at = books.due.findIndex(({ valueWei, direction }) => valueWei > 0n && direction === 'in')
		const first = all()[at]
		if (first === undefined) throw new Error('no alert')
		expect(() => expectBooksBalance([...all(), { ...first, id: 'more' }], books)).toThrow(/differ/)
		expect(() => expectBooksBalance([...all(), first], books)).toThrow(/twice/)
		const wrong = { ...first, valueWei: `${BigInt(first.valueWei ?? 0) + 1n}` }
		expect(() => expectBooksBalance(all().with(at, wrong), books)).toThrow(/differ/)
	})

	test('error: a transfer of nothing, or to itself, that did not happen', () => {
		const self = all().find(({ direction }) => direction === 'self')
		if (self === undefined) throw new Error('no self transfer')
		expect(() => expectBooksBalance([...all(), { ...self, id: 'more' }], books)).toThrow(/did not happen/)
		expect(() => expectBooksBalance([...all(), { ...self, id: 'zero', valueWei: '0' }], books)).toThrow(
			/did not happen/,
		)
	})
})
