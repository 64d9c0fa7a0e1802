import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createProgress } from '../../../src/chain/rpc/answerProgress.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

test('behavior: an answer that is processed for long counts as progress, until it ends', async () => {
	let nowMs = 0
	let heard = 0
	const progress = createProgress(
		() => nowMs,
		() => heard++,
	)
	expect(progress.sinceMs()).toBe(Number.POSITIVE_INFINITY)
	let end = (_: string) => {}
	const done = progress.during(() => new Promise<string>((resolve) => (end = resolve)))
	for (; nowMs < 10_000; nowMs += 500) vi.advanceTimersByTime(500)
	expect(heard).toBeGreaterThanOrEqual(10)
	expect(progress.sinceMs()).toBeLessThanOrEqual(1_000)
	end('read')
	expect(await done).toBe('read')
	const before = heard
	vi.advanceTimersByTime(10_000)
	expect(heard).toBe(before)
})
