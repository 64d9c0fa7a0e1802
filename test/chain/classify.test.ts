import { describe, expect, test } from 'vitest'
import { batchLimitIn, classify, type Refusal, type Verdict } from '../../src/chain/classify.js'

const plain: Refusal = {
	text: '',
	status: 200,
	code: null,
	method: 'trace_filter',
	retryAfter: null,
	data: null,
	nowMs: 0,
}
const of = (refusal: Partial<Refusal>) => classify({ ...plain, ...refusal })
const large = (limit?: number): Verdict => ({ kind: 'too-large', ...(limit !== undefined && { limit }) })
const kind = (name: Verdict['kind']): Verdict => ({ kind: name })

/** Who says it, the code it comes with, the words, and what it means: written by hand from what is known of the nodes. */
const said: readonly (readonly [who: string, code: number | null, text: string, verdict: Verdict])[] = [
	// Nodes: too large.
	['Reth', -32602, 'Block range too large; currently limited to 100 blocks', large(100)],
	['Reth', -32602, 'block range too large; currently limited to 2,500 blocks', large(2_500)],
	['Reth', -32008, 'Response is too big', large()],
	['Reth', -32602, 'query exceeds max block range 100000', large(100_000)],
	['Anvil', -32602, 'block range too large, currently limited to 300', large(300)],
	['Besu', -32005, 'Requested range exceeds maximum RPC range limit', large()],
	['Besu', -32005, 'Number of requests exceeds max batch size', large()],
	// Nodes: other refusals.
	['Besu', -32603, 'Timeout expired', kind('timeout')],
	['Besu', -32604, 'Method not enabled', kind('unsupported')],
	['Besu', -32000, 'World state unavailable', kind('no-data')],
	['Besu', 4444, 'Pruned history unavailable', kind('no-data')],
	['Besu', -32602, 'toBlock (20) is greater than latest block (10)', kind('no-data')],
	['Besu', -32602, 'fromBlock (20) is greater than toBlock (10)', kind('bad-params')],
	['Nethermind', -32016, 'Request timed out', kind('timeout')],
	['Nethermind', -32005, '', kind('rate')],
	['Nethermind', -32002, 'No state available for block 0x10', kind('no-data')],
	['Nethermind', -39001, 'Unknown block error', kind('no-data')],
	['Nethermind', -32000, 'Block 0x10 could not be found', kind('no-data')],
	['Nethermind', -32000, 'From block number: 20 is greater than to block number 10', kind('bad-params')],
	['Nethermind', -32602, 'invalid trace filter mode, expected union or intersection', kind('bad-params')],
	['Nethermind', -32603, 'Missing trie node', kind('no-data')],
	['Reth', -32001, 'block not found: 0x10', kind('no-data')],
	['Reth', 4444, 'pruned history unavailable: requested 1, earliest available 100', kind('no-data')],
	['Reth', -32602, 'invalid parameters: fromBlock cannot be greater than toBlock', kind('bad-params')],
	['Reth', -32602, 'unknown field `mode`, expected one of `fromBlock`', kind('bad-params')],
	['Reth', -32603, 'unimplemented', kind('unsupported')],
	['Anvil', -32602, 'invalid block range, ensure that to block is greater than from block', kind('bad-params')],
	['Erigon', -32000, 'invalid parameters: fromBlock cannot be greater than toBlock', kind('bad-params')],
	['Erigon', -32000, 'first run for txIndex 0 error: nonce too high', kind('unsettled')],
	['Erigon', -32000, 'max allowed page size: 25', kind('bad-params')],
	['Erigon', -32000, `transaction 0x${'ab'.repeat(32)} not found`, kind('no-data')],
	['Erigon', -32000, 'finalized block not found', kind('no-data')],
	['Erigon, old', -32000, 'method handler crashed', kind('server')],
	['Erigon', -32000, 'batch limit 100 exceeded', large()],
	['Bor', -32000, 'tracer not found', kind('unsupported')],
	['geth', -32601, 'the method trace_filter does not exist/is not available', kind('unsupported')],
	['geth', -32000, 'missing trie node 9f…', kind('no-data')],
	['geth', -32000, 'genesis is not traceable', kind('no-data')],
	['geth', -32000, 'execution timeout', kind('timeout')],
	['Avalanche', -32000, 'cannot query unfinalized data', kind('no-data')],
	['any', -32603, 'Internal error', kind('server')],
	['any', -32000, 'something went wrong', kind('server')],
	['any', -32602, 'missing value for required argument 0', kind('bad-params')],

	// Providers.
	[
		'Infura',
		-32005,
		'query returned more than 10000 results. Try with this block range [0x3e8, 0x44b].',
		large(0x44b - 0x3e8 + 1),
	],
	['Infura', -32005, 'daily request count exceeded, request rate limited', kind('quota')],
	['Alchemy', -32600, 'this block range should work: [0x10, 0x1f]', large(16)],
	[
		'Alchemy',
		-32602,
		'You can make eth_getLogs requests with up to a 2K block range. Based on your parameters, this block range should work: [100, 149]',
		large(50),
	],
	['Alchemy', -32600, 'You can make eth_getLogs requests with up to a 2K block range.', large(2_000)],
	['Alchemy', 429, 'Monthly capacity limit exceeded.', kind('quota')],
	['Alchemy', 429, 'Your app has exceeded its compute units per second capacity', kind('rate')],
	['Chainstack', -32000, 'Block range limit exceeded.', large()],
	['Ankr', -32055, 'too many requests', kind('rate')],
	['dRPC', 30, 'Request timeout on the free tier, please upgrade your tier to the paid one', kind('timeout')],
	['dRPC', 31, 'Batch of more than 3 requests are not allowed on free tier', large()],
	['dRPC', 35, 'ranges over 10000 blocks are not supported on freetier', large(10_000)],
	['Goldsky', -32005, 'too many requests', kind('rate')],
	['Goldsky', -32012, 'range too large', large()],
	['Goldsky', -32014, 'missing data', kind('no-data')],
	['Goldsky', -32015, 'node timeout', kind('timeout')],
	['Goldsky', -32016, 'unauthorized', kind('auth')],
	['QuickNode', -32614, 'eth_getLogs is limited to a 10,000 range', large(10_000)],
	['QuickNode', -32007, '15/second request limit reached', kind('rate')],

	// Texts that other software looks for: ranges with a number.
	['ponder', -32000, 'requested too many blocks from 1 to 9000, maximum is set to 2048', large(2_048)],
	['ponder', -32000, 'Max range: 800', large(800)],
	['ponder', -32000, 'Maximum allowed number of requested blocks is 500', large(500)],
	['ponder', 3000, 'block range is too wide', large()],
	['ponder', -32600, 'block range is too wide (maximum 1000)', large(1_000)],
	['ponder', -32000, 'limited to 1000 blocks', large(1_000)],
	['ponder', -32000, 'exceeds the range allowed for your plan (5000 > 1,000)', large(1_000)],
	['ponder', -32000, 'please limit the query to at most 1000 blocks', large(1_000)],
	['ponder', -32000, 'maximum block range: 3000', large(3_000)],
	['ponder', -32000, 'block range greater than 1024 max', large(1_024)],
	['ponder', -32000, 'block range exceeds 2000', large(2_000)],
	['ponder', -32000, 'eth_getLogs range is too large, max is 10k blocks', large(10_000)],
	['ponder', -32000, 'eth_getLogs range is too large, max is 1k blocks', large(1_000)],
	['ponder', -32000, 'query must be smaller than size 1024', large(1_024)],
	['ponder', -32000, 'up to a 500 block range', large(500)],
	['ponder', -32000, 'maximum [from, to] blocks distance: 128', large(128)],
	['ponder', -32000, 'exceed max block range: 5000', large(5_000)],
	// … and without one, or with one that counts something else.
	['ponder', -32000, 'allowed block range threshold exceeded', large()],
	['ponder', -32000, 'exceeded max allowed', large()],
	['ponder', -32000, 'range threshold exceeded', large()],
	['ponder', -32000, 'Block range is too large', large()],
	['ponder', -32000, 'backend response too large', large()],
	['ponder', -32000, 'query exceeds max results', large()],
	['ponder', -32000, 'logs matched by query exceeds limit of 10000', large()],
	['ponder', -32000, 'query returned more than 10000 results', large()],
	['ponder', -32000, 'response size should not greater than 10000000 bytes', large()],
	['ponder', -32000, 'no backend is currently healthy to serve traffic', kind('server')],
	['ponder', -32000, 'limited to 10,000 logs', large()],
	['ponder', -32000, 'limited to 10,000, or else', large(10_000)],
	['ponder', 3, 'execution reverted', kind('bad-params')],
	['erpc', -32000, 'query exceeds limit', large()],
	['erpc', -32000, 'specify less number of address', large()],
	['erpc', -32000, 'requests limited to 15/sec', kind('rate')],
	['erpc', -32000, 'your account has exceeded it', kind('rate')],
	['erpc', -32000, 'Exceeded the quota usage', kind('rate')],
	['erpc', -32000, 'you have reached the quota', kind('rate')],
	['erpc', -32000, 'Too many requests', kind('rate')],
	['erpc', -32000, 'the node is under too much load', kind('rate')],
	['erpc', -32000, 'rate limited', kind('rate')],
	['erpc', -32000, 'you have reached the free tier limit', kind('quota')],
	['erpc', -32000, 'Unsupported method', kind('unsupported')],
	['erpc', -32000, 'tracing is not supported', kind('unsupported')],
	['erpc', -32000, 'method is not whitelisted', kind('unsupported')],
	['erpc', -32000, 'trace_filter is not included in your current plan', kind('unsupported')],
	['erpc', -32000, 'module trace is disabled', kind('unsupported')],
	['erpc', -32004, '', kind('unsupported')],
	['squid', -32000, 'response too large', large()],

	// Codes alone.
	['the standard', -32700, '', kind('bad-params')],
	['the standard', -32600, '', kind('bad-params')],
	['the standard', -32601, '', kind('unsupported')],
	['the standard', -32602, '', kind('bad-params')],
	['the standard', -32603, '', kind('server')],
	['Besu', -32604, '', kind('unsupported')],
	['Nethermind', -32002, '', kind('no-data')],
	['Nethermind', -32016, '', kind('timeout')],
	['unknown', -31999, '', kind('server')],
]

describe('texts', () => {
	test.each(said)('%s (%s): %s', (_who, code, text, verdict) => {
		expect(of({ code, text })).toEqual(verdict)
	})

	test('behavior: the text comes before the status, the status before the code', () => {
		expect(of({ text: 'Block range is too large', status: 429, code: -32602 })).toEqual(large())
		expect(of({ text: 'try later', status: 429, code: -32602 })).toEqual(kind('rate'))
		expect(of({ text: 'try later', status: 500, code: -32602 })).toEqual(kind('bad-params'))
	})

	test('behavior: a number too large to be one of blocks is no limit', () => {
		expect(of({ text: `Max range: ${'9'.repeat(40)}` })).toEqual(large())
		expect(of({ text: 'Max range: 0' })).toEqual(large())
		expect(of({ text: 'Try with this block range [0x20, 0x10]' })).toEqual(large())
	})

	test('behavior: a text of megabytes is judged by its beginning, at once', () => {
		const startedAtMs = performance.now()
		expect(of({ text: `rate limited ${'method not a_b '.repeat(500_000)}` })).toEqual(kind('rate'))
		expect(performance.now() - startedAtMs).toBeLessThan(500)
	})
})

describe('statuses', () => {
	test.each([
		[400, 'bad-params'],
		[401, 'auth'],
		[402, 'quota'],
		[407, 'auth'],
		[408, 'timeout'],
		[413, 'too-large'],
		[415, 'unsupported'],
		[429, 'rate'],
		[500, 'server'],
		[501, 'unsupported'],
		[502, 'server'],
		[503, 'server'],
		[504, 'timeout'],
		[522, 'timeout'],
		[524, 'timeout'],
		[302, 'malformed'],
	] as const)('%i without a word is %s', (status, expected) => {
		expect(of({ status })).toEqual(kind(expected))
	})

	test('behavior: 403 and 404 refuse the method where it is a special one, else the key', () => {
		expect(of({ status: 403, method: 'trace_filter' })).toEqual(kind('unsupported'))
		expect(of({ status: 404, method: 'ots_getApiLevel' })).toEqual(kind('unsupported'))
		expect(of({ status: 403, method: 'eth_chainId' })).toEqual(kind('auth'))
		expect(of({ status: 404, method: 'eth_blockNumber' })).toEqual(kind('auth'))
	})
})

describe('Retry-After', () => {
	const nowMs = Date.UTC(2026, 10, 20, 12, 0, 0)
	const after = (retryAfter: string | null, data: unknown = null) =>
		of({ status: 429, retryAfter, data, nowMs }).retryAfterMs

	test.each([
		['seconds', '7', 7_000],
		['none: at least a second', '0', 1_000],
		['a day: at most an hour', '86400', 3_600_000],
		['more digits than a number has', '9'.repeat(400), 3_600_000],
		['a date', 'Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
		['a date that has passed', 'Fri, 20 Nov 2026 11:00:00 GMT', 1_000],
		['a far date', 'Sat, 20 Nov 2027 12:00:00 GMT', 3_600_000],
		['a word', 'soon', undefined],
		['a half', '1.5', undefined],
		['a sign', '-5', undefined],
		['half a date', 'Nov 2026', undefined],
		['nothing', null, undefined],
	])('%s', (_name, header, expected) => {
		expect(after(header)).toBe(expected)
	})

	test.each([
		['retry_after in seconds', { retry_after: 2.5 }, 2_500],
		['backoff_seconds of Infura', { rate: { allowed_rps: 1, backoff_seconds: 30 } }, 30_000],
		['a word', { retry_after: 'soon' }, undefined],
		['another thing', 'text', undefined],
	])('in the JSON: %s', (_name, data, expected) => {
		expect(after(null, data)).toBe(expected)
	})

	test('behavior: the header comes before the JSON', () => {
		expect(after('3', { retry_after: 9 })).toBe(3_000)
	})

	test('behavior: it means nothing where waiting does not help', () => {
		expect(of({ status: 401, retryAfter: '5' })).toEqual(kind('auth'))
	})
})

describe('batches', () => {
	test.each([
		['Batch of more than 3 requests are not allowed on free tier, to use larger batches upgrade to paid tier', 3],
		['batch limit 100 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 150', 100],
		['The batch request was too large: Exceeded max limit of 50', 50],
		['Number of requests exceeds max batch size', 1],
		['Batched requests are not supported by this server', 1],
		['batch too large', 1],
		['Block range is too large', null],
		['rate limit: 3 requests', null],
	])('%s', (text, limit) => {
		expect(batchLimitIn(text)).toBe(limit)
	})
})
