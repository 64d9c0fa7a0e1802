// The arguments of a call: words of 32 bytes, written by hand after the ABI specification of Solidity.
import { expect, test } from 'vitest'
import { call } from '../../src/kinds/call.js'
import type { AbiInput } from '../../src/model/abi.js'
import { address, alert, frame, network, tx, watch } from '../core/build.js'

const word = (value: number | string) => (typeof value === 'number' ? value.toString(16) : value).padStart(64, '0')
const one = '11'.repeat(20)
const checksum = (text: string) => text

function argumentsOf(inputs: readonly AbiInput[] | null, data: string) {
	return fieldsOf(inputs, data, null).arguments
}

function fieldsOf(inputs: readonly AbiInput[] | null, data: string, failure: string | null) {
	const selector = '0xaabbccdd'
	const calls = { functions: new Map([[selector, { signature: 'f', inputs }]]), failed: false }
	const { frames, block } = tx([frame({})])
	const place = { txHash: `0x${word(1)}`, txIndex: 0, traceAddress: [], trace: 'root', block, initiator: null } as const
	const parties = { frameType: 'call', from: address(1), to: address(2), contract: address(2), valueWei: 0n } as const
	const called = { kind: 'call', selector, input: `${selector}${data}`, callType: 'call', failure } as const
	expect(frames).toHaveLength(1)
	const view = { watch: watch({ calls }), direction: 'in', network, checksum } as const
	return call.fields({ ...place, ...parties, ...called }, view)
}

test('default: numbers are text, flags are flags, bytes are hex', () => {
	const inputs = [
		{ name: 'id', type: 'uint256' },
		{ name: 'delta', type: 'int8' },
		{ name: 'isOn', type: 'bool' },
		{ name: 'data', type: 'bytes' },
	]
	const data = [word('f'.repeat(64)), word('f'.repeat(64)), word(1), word(128), word(2), 'abcd'.padEnd(64, '0')]
	expect(argumentsOf(inputs, data.join(''))).toEqual([
		{ name: 'id', type: 'uint256', value: String(2n ** 256n - 1n) },
		{ name: 'delta', type: 'int8', value: '-1' },
		{ name: 'isOn', type: 'bool', value: true },
		{ name: 'data', type: 'bytes', value: '0xabcd' },
	])
})

test('behavior: a list of structs is a list of lists of arguments, even where two members share a name', () => {
	const components = [
		{ name: 'x', type: 'address' },
		{ name: 'x', type: 'uint8[2]' },
	]
	const data = [word(32), word(1), word(one), word(3), word(4)]
	expect(argumentsOf([{ name: 'all', type: 'tuple[]', components }], data.join(''))).toEqual([
		{
			name: 'all',
			type: 'tuple[]',
			value: [
				[
					{ name: 'x', type: 'address', value: `0x${one}` },
					{ name: 'x', type: 'uint8[2]', value: ['3', '4'] },
				],
			],
		},
	])
})

test('behavior: the coins of a failed call are said not to have moved', () => {
	const { data } = alert('1:root', {
		kind: 'call',
		success: false,
		failure: 'execution reverted',
		selector: '0xaabbccdd',
	})
	const names = (one: typeof data) => call.facts(one).map(({ name }) => name)
	expect(names(data)).toContain('Not moved')
	expect(names(data)).not.toContain('Amount')
	expect(names({ ...data, success: true, failure: null })).toContain('Amount')
})

test.each([
	['too short', [word(32)]],
	['a list of more elements than the data has', [word(32), word(2 ** 40), word(1)]],
	['a pointer beyond the data', [word(2 ** 30)]],
])('behavior: null for data that does not fit: %s', (_, data) => {
	expect(argumentsOf([{ type: 'uint256[]' }], data.join(''))).toBeNull()
	expect(argumentsOf([{ type: 'uint256[]' }], `${data.join('')}…`)).toBeNull()
})

test('behavior: null for a few words that would unfold to a hundred million', () => {
	// Eight lists in each other; all ten elements of each point to the next list.
	const layer = [word(10), ...Array.from({ length: 10 }, () => word(10 * 32))]
	const data = [
		word(32),
		...Array.from({ length: 7 }, () => layer).flat(),
		word(10),
		...Array<string>(10).fill(word(7)),
	]
	expect(argumentsOf([{ type: `uint256${'[]'.repeat(8)}` }], data.join(''))).toBeNull()
	expect(argumentsOf([{ type: 'uint256[][]' }], [word(32), ...layer, word(1), word(7)].join(''))?.[0]?.value).toEqual(
		Array.from({ length: 10 }, () => ['7']),
	)
})

test('behavior: null for a list whose elements all point to the same bytes', () => {
	const pointers = (count: number) => Array.from({ length: count }, () => word(count * 32))
	const long = [word(4_000), 'ab'.repeat(4_000)]
	expect(argumentsOf([{ type: 'bytes[]' }], [word(32), word(200), ...pointers(200), ...long].join(''))).toBeNull()
	expect(argumentsOf([{ type: 'bytes[]' }], [word(32), word(2), ...pointers(2), ...long].join(''))?.[0]?.value).toEqual(
		[`0x${'ab'.repeat(4_000)}`, `0x${'ab'.repeat(4_000)}`],
	)
	const none = { type: 'tuple[]', components: [{ type: 'uint256[0]' }] }
	expect(argumentsOf([none], [word(32), word(5_000), word(0)].join(''))).toBeNull()
})

test('behavior: structs in structs are decoded, however many words each has', () => {
	const inner = { type: 'tuple', components: [{ type: 'tuple', components: [{ type: 'uint256' }] }] }
	const data = [word(32), word(100), ...Array.from({ length: 100 }, (_, at) => word(at))]
	const value = argumentsOf([{ ...inner, type: 'tuple[]' }], data.join(''))?.[0]?.value
	expect(value).toHaveLength(100)
	expect(value).toContainEqual([{ name: '', type: 'tuple', value: [{ name: '', type: 'uint256', value: '99' }] }])
})

test('behavior: hostile text stays data: no argument breaks out of its line, its row or the alert', () => {
	const hostile = 'a\r\nSubject: x\u202e\u0000<b>|`'
	const bytes = Buffer.from(hostile)
	const data = [word(64), word(1), word(bytes.length), bytes.toString('hex').padEnd(64, '0')].join('')
	const inputs = [{ name: 'no\nte', type: 'string' }, { type: 'bool' }]
	const given = argumentsOf(inputs, data)
	expect(given?.[0]?.value).toBe(hostile)
	const rows = call.facts({
		...alert('id', { kind: 'call' }).data,
		signature: 'f(string,bool)',
		arguments: given ?? null,
	})
	for (const { name, value } of rows) for (const cell of [name, value]) expect(cell).not.toMatch(/[\p{Cc}\u202e]/u)
	expect(rows.filter(({ value }) => value.includes('Subject'))).toHaveLength(1)
})

test('behavior: a link or a mention in an argument or a failure has no effect where a mail shows it', () => {
	const hostile = 'see https://evil.example or @here'
	const bytes = Buffer.from(hostile)
	const data = [word(32), word(bytes.length), bytes.toString('hex').padEnd(128, '0')].join('')
	const fields = fieldsOf([{ type: 'string' }], data, `Reverted: "${hostile}"`)
	expect(fields.arguments?.[0]?.value).toBe(hostile)
	const rows = call.facts({ ...alert('id', { kind: 'call' }).data, ...fields, signature: 'f(string)' })
	const shown = rows.map(({ value }) => value).filter((value) => value.includes('see'))
	const harmless = 'see https[://]evil[.]example or [@]here'
	expect(shown).toEqual([`${harmless} (string)`, `Reverted: "${harmless}"`])
})

test.each([
	['a flag that is neither 0 nor 1', [{ type: 'bool' }], word(2)],
	['text of another length than it says', [{ type: 'string' }], [word(32), word(64), '61'.padEnd(64, '0')].join('')],
	['a pointer into itself', [{ type: 'bytes[]' }], [word(0), word(0)].join('')],
	['no bytes at all', [{ type: 'address' }], ''],
])('behavior: null or an answer, and never an error, for %s', (_, inputs, data) => {
	expect(() => argumentsOf(inputs, data)).not.toThrow()
})

test('behavior: null where only the selector is known', () => {
	expect(argumentsOf(null, '')).toBeNull()
})
