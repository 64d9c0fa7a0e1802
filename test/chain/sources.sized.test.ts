import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Rpc } from '../../src/chain/rpc/rpc.js'
import { debugTraceSource } from '../../src/chain/sources/debugTrace.js'
import type { Source } from '../../src/chain/sources/source.js'
import { traceBlockSource } from '../../src/chain/sources/traceBlock.js'
import { traceFilterSource } from '../../src/chain/sources/traceFilter.js'
import type { Span } from '../../src/model/chain.js'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type Books, keepBooks } from '../support/books.js'
import { divided } from '../support/longRun.js'
import { planScenario, playScenario } from '../support/scenario.js'
import { dueIn, linesOf, openRpc, placesOf, readAll } from './reading.js'

const sources: readonly (readonly [string, Source])[] = [
	['trace_filter', traceFilterSource({})],
	['trace_block', traceBlockSource({})],
	['debug_traceBlockByNumber with callTracer', debugTraceSource({ tracer: () => 'callTracer' })],
]

describe.each(divided(['prague', 'shanghai'] as const, (hardfork) => hardfork === 'prague'))(
	'the truth scenario on %s',
	(hardfork) => {
		let anvil: TestAnvil
		let rpc: Rpc
		let books: Books
		let span: Span
		let watched: readonly Address[]
		let block: Awaited<ReturnType<typeof readAll>>
		const read = new Map<string, typeof block>()
		beforeAll(async () => {
			const plan = planScenario({ hardfork, blocks: 40 })
			anvil = await startTestAnvil(plan.anvilArgs)
			rpc = openRpc(anvil.url)
			const scenario = await playScenario(plan, anvil)
			books = await keepBooks(scenario, anvil)
			span = scenario.span
			watched = scenario.watched
			block = await readAll(traceBlockSource({}), rpc, span, new Set(watched), 7)
			for (const [name, source] of sources) read.set(name, await readAll(source, rpc, span, new Set(watched)))
		})
		afterAll(async () => {
			await rpc.close()
			await anvil.stop()
		})

		test.each(sources)('%s reports what the balances say, and nothing else', (name) => {
			expect(linesOf(dueIn(read.get(name) ?? [], watched))).toEqual(linesOf(books.due))
		})

		test.each(sources)('%s puts every event in the same place as the others', (name) => {
			expect(placesOf(read.get(name) ?? [], watched)).toEqual(placesOf(block, watched))
		})
	},
)
