import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { whileWaiting } from '../../../src/commands/shared/progress.js'

beforeEach(() => {
	vi.useFakeTimers()
})
afterEach(() => {
	vi.useRealTimers()
})

async function screenOf(isTTY: boolean, tookMs: number, fails = false) {
	const written: string[] = []
	let done = 0
	const work = () =>
		new Promise<void>((resolve, reject) => setTimeout(() => (fails ? reject(new Error('no')) : resolve()), tookMs))
	const to = { isTTY, write: (text: string) => written.push(text) > 0 }
	const waiting = whileWaiting(() => `${done++} of 4 blocks`, work, to).catch((error: Error) => error.message)
	await vi.advanceTimersByTimeAsync(tookMs)
	expect(await waiting).toBe(fails ? 'no' : undefined)
	await vi.advanceTimersByTimeAsync(60_000)
	return written
}

test.each([
	['short work', true, 1_999, []],
	['work of 3 s', true, 3_000, ['0 of 4 blocks …\n']],
	['work of 13 s, in the words as they are then', true, 13_000, ['0 of 4 blocks …\n', '1 of 4 blocks …\n']],
	['long work where standard error is no terminal', false, 13_000, []],
])('default: the words after 2 s and then every 10 s, and none afterwards: %s', async (_, isTTY, tookMs, words) => {
	expect(await screenOf(isTTY, tookMs)).toEqual(words)
})

test('error: a failure is passed on, and ends the words too', async () => {
	expect(await screenOf(true, 3_000, true)).toEqual(['0 of 4 blocks …\n'])
})
