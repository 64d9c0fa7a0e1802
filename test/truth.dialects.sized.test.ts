// The truth test over every dialect and every source that may be believed in it: whatever node answers, the alerts are
// the same. One chain for all, read by watches that cover it from its first block.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alertOf, openBench, watchOf } from './scan/bench.js'
import { startTestAnvil, type TestAnvil } from './support/anvil.js'
import { type Books, expectBooksBalance, keepBooks } from './support/books.js'
import { type Answers, type Dialect, startDialectGateway } from './support/dialectGateway.js'
import { dialects } from './support/dialectTable.js'
import { expectSameIds } from './support/ids.js'
import { divided, sized, testOnce } from './support/longRun.js'
import { planScenario, playScenario } from './support/scenario.js'

/**
 * In `npm test`: each source once, in the dialects that are most unlike the others. Where only one source is left,
 * `auto` takes it. With Anvil it takes the first, read whole: so the expected ids are read.
 */
const few = ['Anvil', 'a filter blind to self-destructs', 'no trace methods, flatCallTracer only, bare']

/**
 * Each dialect with `auto`, which takes its best source, and with its last one; two of them with all. Every second row
 * reads every answer as it comes: each dialect, and each source, is read both ways.
 */
const pairs = dialects.flatMap(([name, dialect, sources], at) =>
	(['auto', ...(at < 2 ? sources : sources.slice(-1))] as const).map((source, nth) => {
		const streams = (at + nth) % 2 === 1
		return [name, source, streams ? 'read as it comes' : 'read whole', dialect, streams] as const
	}),
)
const table = divided(pairs, ([name, source]) => few.includes(name) && (source === 'auto') === (name !== 'Anvil'))

test('each dialect and source is read both ways, and each dialect with `auto` and with its last source', () => {
	const due = new Set<string>()
	for (const [name, , sources] of dialects)
		for (const source of ['auto', ...sources])
			for (const way of ['read whole', 'read as it comes'])
				for (const pair of [`${name}, auto`, `${name}, ${sources.at(-1)}`, `${name}, ${way}`, `${source}, ${way}`])
					due.add(pair)
	const had = pairs.flatMap(([name, source, way]) => [`${name}, ${source}`, `${name}, ${way}`, `${source}, ${way}`])
	expect([...due].filter((pair) => !had.includes(pair))).toEqual([])
	expect(pairs.length).toBe(new Set(pairs.map(([name, source]) => `${name}, ${source}`)).size)
	expect(new Set(table.map(([name]) => name)).size).toBe(sized(few.length, dialects.length))
})

describe('truth in every dialect', () => {
	const answers: Answers = new Map()
	let anvil: TestAnvil
	let books: Books
	let ids: readonly string[]
	beforeAll(async () => {
		const plan = planScenario({ seed: 6, blocks: 60 })
		anvil = await startTestAnvil(plan.anvilArgs)
		books = await keepBooks(await playScenario(plan, anvil), anvil)
		ids = (await alertsOf({}, 'auto')).map(({ id }) => id).sort()
	})
	afterAll(() => anvil.stop())

	async function alertsOf(dialect: Dialect, source: (typeof pairs)[number][1], streams = false) {
		const gateway = await startDialectGateway(anvil.url, dialect, answers)
		const watches = books.watched.map((address) => watchOf(address, { fromBlock: 1n }))
		const bench = await openBench({ urls: [gateway.url], watches, source, streams })
		try {
			await bench.settle()
			return (await bench.posted()).map(alertOf)
		} finally {
			await bench.close()
			await gateway.close()
		}
	}

	testOnce('the ids are those of version 0.1.0', () => expectSameIds(ids, 'truth-dialects'))

	test.each(table)(
		'%s, %s, %s: the alerts are the balance changes, and have the same ids',
		async (_name, source, _way, dialect, streams) => {
			const alerts = await alertsOf(dialect, source, streams)
			expectBooksBalance(alerts, books)
			expect(alerts.map(({ id }) => id).sort()).toEqual(ids)
		},
	)
})
