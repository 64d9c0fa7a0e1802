// The truth test over every dialect and every source that may be believed in it: whatever node answers, the alerts are
// the same. One chain for all, read by watches that cover it from its first block.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alertOf, openBench, watchOf } from './scan/bench.js'
import { startTestAnvil, type TestAnvil } from './support/anvil.js'
import { type Books, expectBooksBalance, keepBooks } from './support/books.js'
import { type Answers, type Dialect, startDialectGateway } from './support/dialectGateway.js'
import { dialects } from './support/dialectTable.js'
import { expectSameIds } from './support/ids.js'
import { divided, testOnce } from './support/longRun.js'
import { planScenario, playScenario } from './support/scenario.js'

/**
 * In `npm test`: each source once, in the dialects that are most unlike the others. Where only one source is left,
 * `auto` takes it. With Anvil it takes the first, read whole: so the expected ids are read.
 */
const few = ['Anvil', 'a filter blind to self-destructs', 'no trace methods, flatCallTracer only, bare']

/** What these bend is asked of `trace_filter` alone: by name, `trace_block` is the same there as with Anvil. */
const ofFilter = new Set(['lists', 'range', 'mostAddresses', 'beyondHead', 'falseEmpty', 'blindTo', 'ignoresLists'])
const bendsFilterAlone = (dialect: Dialect) =>
	Object.keys(dialect).every((key) => ofFilter.has(key) || key === 'clientVersion' || key === 'errorsInside')

/** The sources that are read by name: the last one, and of two dialects each. */
const namedOf = ([, dialect, sources]: (typeof dialects)[number], at: number) =>
	(at < 2 ? sources : sources.slice(-1)).filter(
		(source) => at === 0 || source !== 'trace_block' || !bendsFilterAlone(dialect),
	)

/**
 * Each dialect with `auto`, which takes its best source, and with those by name. Every second row reads every answer as
 * it comes: each source, and each dialect that has two rows, is read both ways.
 */
const pairs = dialects.flatMap((row, at) =>
	(['auto', ...namedOf(row, at)] as const).map((source, nth) => {
		const streams = (at + nth) % 2 === 1
		return [row[0], source, streams ? 'read as it comes' : 'read whole', row[1], streams] as const
	}),
)
const table = divided(pairs, ([name, source]) => few.includes(name) && (source === 'auto') === (name !== 'Anvil'))

test('each dialect is read with `auto`, and what can differ in it both ways', () => {
	const due = new Set<string>()
	for (const [at, row] of dialects.entries()) {
		const [name, , sources] = row
		const named = namedOf(row, at)
		due.add(`${name}, auto`)
		for (const way of ['read whole', 'read as it comes']) {
			for (const source of ['auto', ...sources]) due.add(`${source}, ${way}`)
			if (named.length > 0) due.add(`${name}, ${way}`)
		}
	}
	const had = pairs.flatMap(([name, source, way]) => [`${name}, ${source}`, `${name}, ${way}`, `${source}, ${way}`])
	expect([...due].filter((pair) => !had.includes(pair))).toEqual([])
	expect(pairs.length).toBe(new Set(pairs.map(([name, source]) => `${name}, ${source}`)).size)
	expect(few.filter((name) => !pairs.some(([had]) => had === name))).toEqual([])
})

describe('truth in every dialect', () => {
	const answers: Answers = new Map()
	let anvil: TestAnvil
	let books: Books
	let ids: readonly string[]
	beforeAll(async () => {
		const plan = planScenario({ seed: 6, blocks: 40 })
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
