import { describe, expect, test } from 'vitest'
import { explain } from '../../src/core/explain.js'
import type { Frame } from '../../src/model/chain.js'
import type { Watch } from '../../src/model/watch.js'
import { address, frame, indexOf, network, tx, watch } from './build.js'

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
