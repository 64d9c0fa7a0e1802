import { getEventListeners } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { DeadlinePassed, signalWithin, withDeadline } from '../../../src/base/waits/deadline.js'
import { linkedAbort } from '../../../src/base/waits/linkedAbort.js'
import { unlessAborted, waitMs } from '../../../src/base/waits/wait.js'

const hang = (signal: AbortSignal) =>
	new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted within'))))
const late = () => 'late' as const
const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

describe('withDeadline', () => {
	test('default', async () => {
		expect(await withDeadline(1_000, async () => 'done', late, new AbortController().signal)).toBe('done')
	})

	test('behavior: nothing is left behind, however many run at once', async () => {
		const warnings: Error[] = []
		const onWarning = (warning: Error) => warnings.push(warning)
		process.on('warning', onWarning)
		const { signal } = new AbortController()
		const before = timers()
		const jobs = Array.from({ length: 50 }, () => withDeadline(60_000, async () => waitMs(1, signal), late, signal))
		await Promise.all(jobs)
		expect(getEventListeners(signal, 'abort')).toEqual([])
		// One that was there before may have ended meanwhile.
		expect(timers()).toBeLessThanOrEqual(before)
		process.off('warning', onWarning)
		expect(warnings).toEqual([])
	})

	test('default: the time is up: what `late` makes of it', async () => {
		expect(await withDeadline(20, hang, late, new AbortController().signal)).toBe('late')
	})

	test('error: the time is up: what `late` throws', async () => {
		const fail = () => {
			throw new RangeError('too slow')
		}
		await expect(withDeadline(20, hang, fail, new AbortController().signal)).rejects.toThrow('too slow')
	})

	test('behavior: an answer that came while the process stood still counts as in time', async () => {
		const reading = (signal: AbortSignal) => Promise.race([readFile(import.meta.filename, 'utf8'), hang(signal)])
		const read = withDeadline(500, reading, late, new AbortController().signal)
		standStill(1_000)
		expect(await read).toContain('came in time')
	})

	test('error: the time is up, also of one that hangs while this process stands still now and then', async () => {
		const work = withDeadline(20, hang, late, new AbortController().signal)
		standStill(200)
		expect(await work).toBe('late')
	})

	test('error: an abort gives the reason of the signal, whatever the job makes of it', async () => {
		const controller = new AbortController()
		const reason = new Error('stop')
		const work = withDeadline(60_000, hang, late, controller.signal)
		controller.abort(reason)
		await expect(work).rejects.toBe(reason)
		await expect(withDeadline(1_000, async () => 1, late, controller.signal)).rejects.toBe(reason)
	})

	test('error: the error of the job', async () => {
		const bug = new Error('bug')
		await expect(withDeadline(1_000, () => Promise.reject(bug), late, new AbortController().signal)).rejects.toBe(bug)
	})
})

describe('waitMs', () => {
	test('error: an abort gives the reason of the signal', async () => {
		const reason = new Error('stop')
		await expect(waitMs(60_000, AbortSignal.abort(reason))).rejects.toBe(reason)
	})
})

describe('unlessAborted', () => {
	test('default', async () => {
		const { signal } = new AbortController()
		expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1)
		await expect(unlessAborted(Promise.reject(new Error('bug')), signal)).rejects.toThrow('bug')
		expect(getEventListeners(signal, 'abort')).toEqual([])
	})

	test('error: an abort gives the reason of the signal, and nothing is left behind', async () => {
		const controller = new AbortController()
		const work = unlessAborted(new Promise(() => {}), controller.signal)
		controller.abort(new Error('stop'))
		await expect(work).rejects.toThrow('stop')
		expect(getEventListeners(controller.signal, 'abort')).toEqual([])
	})
})

describe('linkedAbort', () => {
	test('default: a linked signal ends with the caller’s signal, with its reason', () => {
		const caller = new AbortController()
		const { signal } = linkedAbort(caller.signal)
		caller.abort('the stop')
		expect(signal.reason).toBe('the stop')
		expect(linkedAbort(caller.signal).signal.reason).toBe('the stop')
	})

	test('behavior: a linked signal ends alone, and after `release` no listener is left on the caller’s signal', () => {
		const caller = new AbortController()
		const own = linkedAbort(caller.signal)
		own.abort('enough')
		expect([own.signal.reason, caller.signal.aborted]).toEqual(['enough', false])
		own.release()
		expect(getEventListeners(caller.signal, 'abort')).toEqual([])
	})
})

describe('signalWithin', () => {
	/** Everything that nothing holds is gone afterwards. */
	function tidyMemory(): void {
		setFlagsFromString('--expose-gc')
		const gc: () => void = runInNewContext('gc')
		for (let times = 0; times < 3; times++) gc()
	}

	test('behavior: a signal with a deadline fires even though memory is collected meanwhile', async () => {
		const outer = new AbortController()
		const aborted: unknown[] = []
		const listen = (signal: AbortSignal) => {
			signal.addEventListener('abort', () => aborted.push(signal.reason), { once: true })
		}
		for (let at = 0; at < 20; at++) listen(signalWithin(200, outer.signal))
		await waitMs(20, outer.signal)
		tidyMemory()
		await waitMs(600, outer.signal)
		expect(aborted).toHaveLength(20)
		expect(aborted.every((reason) => reason instanceof DeadlinePassed)).toBe(true)
		expect(getEventListeners(outer.signal, 'abort')).toEqual([])
	})

	test('behavior: a signal with a deadline ends with the caller’s signal, even one already ended', () => {
		const outer = new AbortController()
		const signal = signalWithin(60_000, outer.signal)
		expect(signal.aborted).toBe(false)
		outer.abort('the stop')
		expect(signal.reason).toBe('the stop')
		expect(signalWithin(60_000, outer.signal).reason).toBe('the stop')
	})
})
