import { describe, expect, test } from 'vitest'
import { batchLimitIn, classify, type Refusal } from '../../../src/chain/rpc/classify.js'
import { timesOf } from '../../support/processor.js'
import { testInSoak } from '../../support/soak.js'
import { kind, large, said } from './refusals.js'

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

	testInSoak('behavior: a text of megabytes is judged by its beginning, at once', async () => {
		const text = `rate limited ${'method not a_b '.repeat(500_000)}`
		const judged = () => {
			for (let times = 0; times < 20; times++) expect(of({ text })).toEqual(kind('rate'))
		}
		// Cheaper than one search through all of it for each time.
		const searched = () => {
			for (let times = 0; times < 20; times++) expect(text.match(/method \w+ is not/gi)).toBeNull()
		}
		expect(await timesOf(0.5, judged, searched)).toBeLessThan(0.5)
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

	test('behavior: a Retry-After is ignored where waiting does not help', () => {
		expect(of({ status: 401, retryAfter: '5' })).toEqual(kind('auth'))
	})
})

describe('batches', () => {
	test.each([
		['Batch of more than 3 requests are not allowed on free tier, to use larger batches upgrade to paid tier', 3],
		['batch limit 100 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 150', 100],
		['The batch request was too large: Exceeded max limit of 50', 50],
		['Number of requests exceeds max batch size', Number.POSITIVE_INFINITY],
		['maximum batch size is 1,000', 1_000],
		['Batched requests are not supported by this server', 1],
		['batch too large', Number.POSITIVE_INFINITY],
		['batch requests are disabled', 1],
		['Block range is too large', null],
		['rate limit: 3 requests', null],
	])('%s', (text, limit) => {
		expect(batchLimitIn(text)).toBe(limit)
	})
})
