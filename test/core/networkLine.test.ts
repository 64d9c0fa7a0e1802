import { expect, test } from 'vitest'
import { networkLine } from '../../src/core/networkLine.js'
import type { NetworkSummary } from '../../src/model/state.js'
import type { NetworkHealth } from '../../src/model/trouble.js'

const noon = '2026-11-20T12:00:00.000Z'
const stateAt = (checkpoint: bigint, head?: number) =>
	({
		checkpoint: { number: checkpoint, hash: '0x' },
		...(head !== undefined && { seen: { head } }),
	}) as unknown as NetworkSummary
const health = (facts: Partial<NetworkHealth>): NetworkHealth => ({
	...{ network: 'local', ok: true, reason: null, checkpoint: 8, head: 12, lastPollAt: null },
	...facts,
})

// What is known, and since when it is stale; then checkpoint, head, unknown since, lag.
test.each([
	['nothing', undefined, undefined, null, [null, null, null, null]],
	['a daemon, and no state that can be read', undefined, health({}), null, [8, 12, null, 4]],
	['a state whose head was never read', stateAt(9n), undefined, null, [9, null, null, null]],
	['a fresh state', stateAt(9n, 11), undefined, null, [9, 11, null, 2]],
	['a stale state', stateAt(9n, 11), undefined, noon, [9, null, noon, null]],
	['a state and the head of the daemon', stateAt(9n, 11), health({}), null, [9, 12, null, 3]],
	[
		'a head that no poll has shown',
		stateAt(9n, 11),
		health({ head: null, headUnknownSince: noon }),
		null,
		[9, null, noon, null],
	],
	[
		'a head behind the checkpoint',
		stateAt(9n, 11),
		health({ head: 3, isBehindCheckpoint: true }),
		null,
		[9, 3, null, null],
	],
	[
		'a head that the daemon read before the state was written',
		stateAt(9n, 11),
		health({ head: 7 }),
		null,
		[9, 7, null, 0],
	],
] as const)(
	'default: %s: checkpoint, head and lag are as far as that shows them',
	(_, state, now, staleSince, known) => {
		const { checkpoint, head, headUnknownSince, lagBlocks } = networkLine(state, now, staleSince)
		expect([checkpoint, head, headUnknownSince, lagBlocks]).toEqual(known)
	},
)
