import { expect, test } from 'vitest'
import type { Capabilities } from '../../../src/chain/capabilities/capabilities.js'
import { adviceFor, type Expected, seenOf, witnessInWords } from '../../../src/commands/doctor/advice.js'

const found: Capabilities = {
	clientVersion: 'Geth/v1.16.0',
	chainId: 1n,
	otsLevel: null,
	head: { number: 5n, timestampS: 1_000n },
	safeTag: true,
	finalizedTag: true,
	methods: {
		trace_filter: 'unknown',
		trace_block: 'unknown',
		trace_transaction: 'unknown',
		debug_traceBlockByNumber: 'yes',
	},
	tracer: 'callTracer',
	marksFailures: false,
	rewards: 'none',
	probed: [4n],
	trusted: true,
	passing: false,
	filterMode: null,
	beyondHead: null,
	proved: true,
	sources: ['debug_traceBlockByNumber'],
	reasons: [],
}
const expected: Expected = {
	chainId: 1,
	confirmations: 0,
	settle: 'finalized',
	source: 'debug_traceBlockByNumber',
	isAble: true,
	blooms: 'plain',
	headAgeSeconds: 0,
}

test('default: nothing to do', () => {
	expect(adviceFor(found, expected)).toEqual([])
})

test.each([
	['by its number', found, { ...expected, chainId: 42_161 }, 42_161n],
	['by the name of its client', { ...found, clientVersion: 'nitro/v3.6.4' }, expected, 1n],
] as const)(
	'behavior: the movements of Arbitrum outside of the EVM are named in the advice, %s',
	(_, one, options, chainId) => {
		const advice = adviceFor({ ...one, chainId }, options)
		expect(advice).toEqual([expect.stringContaining('deposits, retryable tickets and their refunds')])
	},
)

test('error: the source that is forced is not there', () => {
	const advice = adviceFor(found, { ...expected, source: 'trace_filter', isAble: false })
	expect(advice).toEqual([expect.stringContaining('`source: trace_filter` is not what it can do')])
})

test('behavior: a single endpoint is warned of as unable to prove whole blocks, and two are not', () => {
	expect(witnessInWords(1)).toMatch(/^one endpoint: .* none that makes up whole blocks/)
	expect([witnessInWords(0), witnessInWords(2)]).toEqual([null, null])
})

test('behavior: blooms that prove nothing are said, with what to do', () => {
	const advice = adviceFor(found, { ...expected, blooms: 'extra bits' })
	expect(advice).toEqual([
		expect.stringMatching(/^the bloom of its newest header .* compare with an endpoint of another/),
	])
})

test('behavior: silence beyond the head and what is unproved are said as seen, and are nothing to do', () => {
	const silent = { ...found, beyondHead: 'empty', proved: false, reasons: ['first'] } as const
	expect(seenOf(silent)).toEqual(['first', expect.stringMatching(/beyond its head with nothing/)])
	expect(seenOf(found)).toEqual([])
	expect(adviceFor(silent, expected)).toEqual([])
})
