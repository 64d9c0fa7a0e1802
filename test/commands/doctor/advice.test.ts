import { expect, test } from 'vitest'
import { adviceFor, witnessInWords } from '../../../src/commands/doctor/advice.js'

const found: Parameters<typeof adviceFor>[0] = {
	client: 'Geth/v1.16.0',
	chainId: '1',
	tags: ['safe', 'finalized'],
	methods: {
		trace_filter: 'unknown',
		trace_block: 'unknown',
		trace_transaction: 'unknown',
		debug_traceBlockByNumber: 'yes',
	},
	trusted: true,
	source: 'debug_traceBlockByNumber',
	blooms: 'plain',
	headAgeSeconds: 0,
}
const expected = { chainId: 1, confirmations: 0, settle: 'finalized' } as const

test('default: nothing to do', () => {
	expect(adviceFor(found, expected)).toEqual([])
})

test.each([
	['by its number', found, { ...expected, chainId: 42_161 }, '42161'],
	['by the name of its client', { ...found, client: 'nitro/v3.6.4' }, expected, '1'],
] as const)(
	'behavior: the movements of Arbitrum outside of the EVM are named in the advice, %s',
	(_, one, options, chainId) => {
		const advice = adviceFor({ ...one, chainId }, options)
		expect(advice).toEqual([expect.stringContaining('deposits, retryable tickets and their refunds')])
	},
)

test('error: the source that is forced is not there', () => {
	const advice = adviceFor({ ...found, source: 'trace_filter', trusted: false }, expected)
	expect(advice).toEqual([expect.stringContaining('`source: trace_filter` is not what it can do')])
})

test('behavior: a single endpoint is warned of as unable to prove whole blocks, and two are not', () => {
	expect(witnessInWords(1)).toMatch(/^one endpoint: .* none that makes up whole blocks/)
	expect([witnessInWords(0), witnessInWords(2)]).toEqual([null, null])
})

test('behavior: blooms that prove nothing are said, with what to do', () => {
	const advice = adviceFor({ ...found, blooms: 'extra bits' }, expected)
	expect(advice).toEqual([
		expect.stringMatching(/^the bloom of its newest header .* compare with an endpoint of another/),
	])
})
