import { describe, expect, test } from 'vitest'
import { explain } from '../../../src/core/alerts/explainFrames.js'
import type { Frame } from '../../../src/model/chain.js'
import type { Watch } from '../../../src/model/watch.js'
import { address, frame, indexOf, network, tx, watch } from '../build.js'

const treasury = watch({ address: address(2), label: 'Treasury', minValueWei: 5n })
const drawn = (frames: readonly Frame[], ...watches: readonly Watch[]) =>
	explain(tx(frames), { network, watches: indexOf(...watches), checksum: (text) => text })

describe('explain', () => {
	test('draws the tree with a line for each frame', () => {
		const frames = [[], [0], [0, 0], [0, 1], [1]].map((traceAddress) => frame({ traceAddress }))
		expect(drawn(frames).map(({ branch }) => branch)).toEqual(['', '├─ ', '│  ├─ ', '│  └─ ', '└─ '])
	})

	test.each([
		['counts for Treasury (a.yaml): transfer, in → mail', frame({ valueWei: 5n })],
		['no alert for Treasury (a.yaml): below its min_value', frame({ valueWei: 4n })],
		['counts, but neither side is watched', frame({ to: address(3) })],
		['does not count: it failed', frame({ error: 'Reverted', valueWei: 9n })],
		['does not count: this kind of call moves no coins, whatever value it shows', frame({ callType: 'delegatecall' })],
		['does not count: no coins move', frame({ valueWei: 0n })],
	])('behavior: %s', (words, one) => {
		expect(drawn([one], treasury)[0]?.verdicts).toEqual([words])
	})

	test('behavior: a frame under a failed one says so', () => {
		const frames = [frame({ error: 'Reverted' }), frame({ traceAddress: [0], valueWei: 9n })]
		expect(drawn(frames, treasury)[1]?.verdicts).toEqual([
			'does not count: it stands under a call that failed, so it was undone',
		])
	})

	test('behavior: an endowed deployment is explained once for a watch of both kinds', () => {
		const [one] = drawn([frame({ type: 'create2', valueWei: 9n })], treasury)
		expect(one?.verdicts).toEqual(['counts for Treasury (a.yaml): deployment, in → mail'])
	})

	test('behavior: each watch of an address has its say', () => {
		const out = watch({ address: address(2), label: 'B', direction: 'out', watchlist: 'b.yaml' })
		expect(drawn([frame({ valueWei: 5n })], treasury, out)[0]?.verdicts).toEqual([
			'counts for Treasury (a.yaml): transfer, in → mail',
			'no alert for B (b.yaml): the other direction is watched',
		])
	})
})

describe('explain calls', () => {
	const calls = { functions: new Map([['0x8456cb59', { signature: 'pause()', inputs: [] }]]), failed: false }
	const vault = watch({ address: address(2), label: 'Vault', kinds: ['call'], calls })

	test.each([
		['counts for Vault (a.yaml): call, in → mail', frame({ valueWei: 0n, input: '0x8456cb59' })],
		[
			'no alert for Vault (a.yaml): this function is not one of its `calls`',
			frame({ valueWei: 0n, input: '0x3f4ba83a' }),
		],
		[
			'no alert for Vault (a.yaml): it failed, and `failed_calls` is not set',
			frame({ valueWei: 0n, input: '0x8456cb59', error: 'Reverted' }),
		],
	])('behavior: %s', (words, one) => {
		expect(drawn([one], vault)[0]?.verdicts).toEqual([expect.stringContaining('does not count'), words])
	})
})

describe('explain code that a watch ran in its own storage', () => {
	const safe = watch({ address: address(2), label: 'Safe' })
	const [singleton, helper, library] = [address(3), address(4), address(5)]
	const word = (one: string) => one.slice(2).padStart(64, '0')
	const exec = `0x6a761202${word(helper)}`
	const lent = { callType: 'delegatecall', from: address(2), valueWei: 0n } as const
	const enters = frame({ valueWei: 0n, input: exec })
	const ran = (frames: readonly Frame[]) =>
		drawn(frames, safe).map(({ verdicts }) => verdicts.find((line) => line.includes(' ran the code of ')) ?? null)
	const said = (code: string, why: string) => `Safe (a.yaml) ran the code of ${code} in its own storage; ${why}`

	test('behavior: a Safe forwards to its singleton, which runs what the caller chose, and a library', () => {
		expect(
			ran([
				enters,
				frame({ ...lent, to: singleton, traceAddress: [0], input: exec }),
				frame({ ...lent, to: helper, traceAddress: [0, 0], input: '0xa9059cbb' }),
				frame({ ...lent, to: library, traceAddress: [0, 1], input: '0x01020304' }),
			]),
		).toEqual([
			null,
			said(singleton, 'it handed on the whole call, as a proxy does'),
			said(helper, 'the caller chose this code: its address stands in the data of the call above'),
			said(library, 'the call above does not name this code'),
		])
	})

	test('behavior: below an input that was cut, who chose the code is not known', () => {
		const frames = [
			frame({ ...enters, input: '0x6a761202…' }),
			frame({ ...lent, to: helper, traceAddress: [0], input: '0x' }),
		]
		const words = 'the data of the call above is too long to say whether the caller chose this code'
		expect(ran(frames)[1]).toBe(said(helper, words))
	})

	test('behavior: an address that stands between two bytes names nothing', () => {
		const shifted = `0x6a761202f${word(helper)}f`
		const frames = [
			frame({ valueWei: 0n, input: shifted }),
			frame({ ...lent, to: helper, traceAddress: [0], input: '0x' }),
		]
		expect(ran(frames)[1]).toBe(said(helper, 'the call above does not name this code'))
	})

	test.each([
		['its own code', [enters, frame({ ...lent, to: address(2), traceAddress: [0], input: '0x01020304' })]],
		['undone', [enters, frame({ ...lent, to: helper, traceAddress: [0], input: '0x', error: 'Reverted' })]],
		[
			'undone above',
			[frame({ ...enters, error: 'Reverted' }), frame({ ...lent, to: helper, traceAddress: [0], input: '0x' })],
		],
		[
			'under a staticcall',
			[frame({ ...enters, callType: 'staticcall' }), frame({ ...lent, to: helper, traceAddress: [0], input: '0x' })],
		],
	])('behavior: nothing is said of %s', (_, frames) => {
		expect(ran(frames)).toEqual([null, null])
	})
})
