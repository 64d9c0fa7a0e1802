import { expect, test } from 'vitest'
import { type Difference, noDifference } from '../../src/core/reconcile/reconcile.js'
import type { Announcement, NetworkState } from '../../src/model/state.js'
import { createCommitted, isIn, judgeAndCommit } from '../../src/scan/committed.js'
import { announcementOf } from '../state/samples.js'

const stateOf = (...entries: readonly Announcement[]) =>
	({ announcements: new Map(entries.map((entry) => [entry.id, entry])) }) as unknown as NetworkState

const differenceOf = (...announcements: readonly Announcement[]): Difference => ({ ...noDifference, announcements })

/** Judges blocks 5 to 7 while the other follower commits `meanwhile`; resolves to how often it judged. */
async function judged(before: NetworkState, meanwhile: NetworkState, difference = noDifference): Promise<number> {
	const committed = createCommitted()
	committed.state = before
	const seen: NetworkState[] = []
	let commits = 0
	await judgeAndCommit(
		committed,
		isIn({ from: 5n, to: 7n }),
		async (state) => {
			seen.push(state)
			committed.state = meanwhile
			return { difference }
		},
		async () => void commits++,
	)
	expect(commits).toBe(1)
	expect(seen.at(-1)).toBe(seen.length === 1 ? before : meanwhile)
	return seen.length
}

test('default: an announcement that nothing changed is judged once', async () => {
	const state = stateOf(announcementOf('a', 6))
	expect(await judged(state, state)).toBe(1)
})

test.each([
	['an announcement of its blocks that came', stateOf(), stateOf(announcementOf('a', 6)), 2],
	[
		'an announcement of its blocks that was retracted',
		stateOf(announcementOf('a', 6)),
		stateOf(announcementOf('a', 6, 1)),
		2,
	],
	['an announcement that left its blocks', stateOf(announcementOf('a', 6)), stateOf(announcementOf('a', 9)), 2],
	['an announcement of later blocks', stateOf(), stateOf(announcementOf('a', 8)), 1],
	['an announcement that was forgotten', stateOf(announcementOf('a', 6)), stateOf(), 1],
])('behavior: the other follower commits %s', async (_, before, meanwhile, times) => {
	expect(await judged(before, meanwhile)).toBe(times)
})

test('behavior: an announcement that it changes itself was changed, in whatever block', async () => {
	const before = stateOf(announcementOf('a', 2))
	const difference = differenceOf(announcementOf('a', 6))
	expect(await judged(before, stateOf(announcementOf('a', 3, 1)), difference)).toBe(2)
})

test('behavior: commits wait for each other, and a failed one does not hold up the next', async () => {
	const committed = createCommitted()
	const order: string[] = []
	const act = (name: string) =>
		committed.locked(async () => {
			order.push(`${name} begins`)
			await new Promise((resolve) => setImmediate(resolve))
			order.push(`${name} ends`)
			if (name === 'one') throw new Error('disk full')
		})
	await Promise.allSettled([act('one'), act('two')])
	expect(order).toEqual(['one begins', 'one ends', 'two begins', 'two ends'])
})
