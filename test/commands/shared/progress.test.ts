import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Io } from '../../../src/commands/command.js'
import { beside, createStatusLine, whileWaiting } from '../../../src/commands/shared/progress.js'

const erased = '\r\u001b[2K'

beforeEach(() => {
	vi.useFakeTimers()
})
afterEach(() => {
	vi.useRealTimers()
})

/** A terminal, or a file, and what came there. */
function screen(isTTY: boolean, columns = 80) {
	const written: string[] = []
	return { isTTY, columns, written, write: (text: string) => written.push(text) > 0 }
}

test('default: nothing for two seconds, then the words as they are now, and nothing remains', () => {
	const to = screen(true)
	let done = 0
	const line = createStatusLine((seconds) => `${done} of 4 blocks, ${seconds} s`, { to })
	vi.advanceTimersByTime(1_999)
	expect(to.written).toEqual([])
	vi.advanceTimersByTime(1)
	expect(to.written).toEqual([`${erased}0 of 4 blocks, 2 s`])
	done = 3
	vi.advanceTimersByTime(2_000)
	expect(to.written.at(-1)).toBe(`${erased}3 of 4 blocks, 4 s`)
	line.end()
	expect(to.written.at(-1)).toBe(erased)
	const before = to.written.length
	vi.advanceTimersByTime(60_000)
	expect(to.written).toHaveLength(before)
})

test('behavior: nothing where standard error is no terminal', async () => {
	const to = screen(false)
	createStatusLine(() => 'words', { to })
	const waiting = whileWaiting('reading', () => new Promise<void>((resolve) => setTimeout(resolve, 9_000)), { to })
	vi.advanceTimersByTime(9_000)
	await waiting
	expect(to.written).toEqual([])
})

test('behavior: lines printed beside a progress line stand alone, and the progress line fits its terminal', () => {
	const to = screen(true, 30)
	const line = createStatusLine(() => 'x'.repeat(200), { to })
	const outside = { out: (text: string) => to.write(`${text}\n`), err: (text: string) => to.write(`${text}\n`) }
	const io = beside(line, outside as unknown as Io)
	vi.advanceTimersByTime(2_000)
	io.out('found')
	io.err('a warning')
	expect(to.written).toEqual([`${erased}${'x'.repeat(29)}`, erased, 'found\n', 'a warning\n'])
})

test('error: a failure takes the line away too', async () => {
	const to = screen(true)
	const work = async () => {
		await new Promise((resolve) => setTimeout(resolve, 3_000))
		throw new Error('no')
	}
	const waiting = whileWaiting('asking 2 endpoints', work, { to }).catch((error: Error) => error.message)
	await vi.advanceTimersByTimeAsync(3_000)
	expect(await waiting).toBe('no')
	expect(to.written).toContain(`${erased}asking 2 endpoints, 2 s …`)
	expect(to.written.at(-1)).toBe(erased)
})
