// One chain, many nodes: whatever dialect a node speaks, the same gets the same blocks, or it is said that
// nothing can be.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { probe } from '../../../src/chain/capabilities/probe.js'
import { createChain } from '../../../src/chain/chain.js'
import { createEndpoints } from '../../../src/chain/endpoints/endpoints.js'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import type { SourceName } from '../../../src/chain/sources/source.js'
import type { Part, Span } from '../../../src/model/chain.js'
import { startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { type Books, keepBooks } from '../../support/books.js'
import { type Answers, type Dialect, type DialectGateway, startDialectGateway } from '../../support/dialectGateway.js'
import { dialects, noTraces } from '../../support/dialectTable.js'
import { divided, testOnce } from '../../support/longRun.js'
import { errorOf, never } from '../../support/pool.js'
import { planScenario, playScenario } from '../../support/scenario.js'
import { silent } from '../../support/silent.js'
import { standingClock } from '../../support/standingClock.js'
import { dueIn, linesOf } from '../reading.js'

let anvil: TestAnvil
const answers: Answers = new Map()
let books: Books
let span: Span
beforeAll(async () => {
	const plan = planScenario({ blocks: 70 })
	anvil = await startTestAnvil(plan.anvilArgs)
	const scenario = await playScenario(plan, anvil)
	books = await keepBooks(scenario, anvil)
	span = scenario.span
})
afterAll(() => anvil.stop())

interface Session {
	readonly gateway: DialectGateway
	/** Walks the whole scenario, as a program that has asked for the head. */
	walk(): Promise<readonly Part[]>
}

async function open(dialect: Dialect, source: SourceName | 'auto', job: (session: Session) => Promise<void>) {
	const gateway = await startDialectGateway(anvil.url, dialect, answers)
	const rpcs = [createRpc({ url: gateway.url })]
	const wait = async () => {}
	const endpoints = createEndpoints({ rpcs, chainId: 31337, clock: standingClock, log: silent, wait })
	const chain = createChain({ endpoints, source, log: silent })
	const walk = async () => {
		const parts: Part[] = []
		await chain.head(never)
		for await (const part of chain.walk(span, new Set(books.watched), never)) parts.push(part)
		return parts
	}
	try {
		await job({ gateway, walk })
	} finally {
		await chain.close()
		await gateway.close()
	}
}

function isWhole(parts: readonly Part[]): void {
	expect(parts[0]?.span.from).toBe(span.from)
	expect(parts.at(-1)?.span.to).toBe(span.to)
	for (const [index, part] of parts.entries()) {
		expect(part.last.number).toBe(part.span.to)
		if (index > 0) expect(part.span.from).toBe((parts[index - 1]?.span.to ?? -1n) + 1n)
	}
}

test.each(divided(dialects, (_, at) => at % 12 === 0))(
	'%s: is read, and reports what the balances say, and nothing else',
	async (_name, dialect) => {
		await open(dialect, 'auto', async ({ walk }) => {
			const parts = await walk()
			isWhole(parts)
			expect(linesOf(dueIn(parts, books.watched))).toEqual(linesOf(books.due))
		})
	},
)

test.each(divided(dialects, (_, at) => at % 6 === 0))('%s: is seen for what it is', async (_name, dialect, sources) => {
	const gateway = await startDialectGateway(anvil.url, dialect, answers)
	const rpc = createRpc({ url: gateway.url })
	const seen = await probe(rpc, { setting: 'auto' }, never)
	await rpc.close()
	await gateway.close()
	expect(seen.sources).toEqual(sources)
	expect(seen.proved).toBe(true)
	if (seen.methods.trace_filter === 'yes')
		expect(seen.filterMode).toBe(dialect.lists === 'both' ? 'intersection' : 'union')
	expect(seen.otsLevel).toBe(typeof dialect.ots === 'number' ? dialect.ots : dialect.ots === null ? null : 8)
	expect([seen.safeTag, seen.finalizedTag]).toEqual([!dialect.noTags, !dialect.noTags])
	if (seen.methods.trace_filter === 'wrong') expect(seen.reasons.join()).toMatch(/trace_filter/)
})

testOnce('error: a node that reports nothing of the inside of transactions is not read', async () => {
	await open({ lacks: [...noTraces, 'debug_traceBlockByNumber'] }, 'auto', async ({ walk }) => {
		const error = await errorOf(walk())
		expect(error.kind).toBe('unsupported')
		expect(error.message).toMatch(/cannot tell what happens inside of transactions/)
	})
})
