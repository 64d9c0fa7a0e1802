import { expect, test } from 'vitest'
import { createLine, type Line } from '../../../src/base/waits/line.js'
import { linkedAbort } from '../../../src/base/waits/linkedAbort.js'
import { makeLowPriority } from '../../../src/base/waits/priority.js'

const urgent = new AbortController().signal
const patientAbort = new AbortController()
makeLowPriority(patientAbort.signal)
/** As derived by a deadline. */
const patient = linkedAbort(patientAbort.signal).signal

/** One caller passes with each call of `free`, on a clock that `pass` moves. */
function gated() {
	let nowMs = 0
	let room = 0
	const line = createLine(() => nowMs)
	let wake: (() => void)[] = []
	const order: string[] = []
	const turn = () => new Promise((resolve) => setImmediate(resolve))
	const go = (name: string, signal: AbortSignal): Promise<void> =>
		line.pass(() => {
			if (room === 0) return { wait: () => new Promise<void>((resolve) => wake.push(resolve)) }
			room -= 1
			order.push(name)
			return { done: undefined }
		}, signal)
	const knock = async () => {
		const all = wake
		wake = []
		for (const each of all) each()
		await turn()
	}
	return {
		...{ line, order, go, turn },
		async free() {
			room += 1
			await knock()
			await turn()
		},
		async pass(ms: number) {
			nowMs += ms
			await knock()
		},
	}
}

test('default: urgent callers overtake patient ones, each kind in its order', async () => {
	const { order, go, free, turn } = gated()
	const all = [go('p1', patient), go('p2', patient)]
	await turn()
	all.push(go('u1', urgent), go('u2', urgent))
	await turn()
	for (let count = 0; count < 4; count++) await free()
	await Promise.all(all)
	expect(order).toEqual(['u1', 'u2', 'p1', 'p2'])
})

test('behavior: after 5 s a patient caller is overtaken no more', async () => {
	const { order, go, free, turn, pass } = gated()
	const all = [go('p1', patient)]
	await turn()
	await pass(5_000)
	all.push(go('u1', urgent), go('u2', urgent))
	await turn()
	for (let count = 0; count < 3; count++) await free()
	await Promise.all(all)
	expect(order).toEqual(['p1', 'u1', 'u2'])
})

test('behavior: patient callers do not make the line busy for others', async () => {
	const { line, go, free, turn } = gated()
	const one = go('p1', patient)
	await turn()
	expect(line.isBusy()).toBe(false)
	const other = go('u1', urgent)
	expect(line.isBusy()).toBe(true)
	await turn()
	await free()
	await free()
	await Promise.all([one, other])
	expect(line.isBusy()).toBe(false)
})

test('error: a caller that gives up leaves its place', async () => {
	const line: Line = createLine(() => 0)
	const leaving = new AbortController()
	let free = () => {}
	const held = new Promise<void>((resolve) => {
		free = resolve
	})
	let isFree = false
	const first = line.pass(() => (isFree ? { done: 1 } : { wait: () => held }), urgent)
	const second = line.pass(() => ({ done: 2 }), leaving.signal)
	const third = line.pass(() => ({ done: 3 }), urgent)
	leaving.abort(new Error('gave up'))
	await expect(second).rejects.toThrow('gave up')
	isFree = true
	free()
	expect(await Promise.all([first, third])).toEqual([1, 3])
})

test('error: a caller that gives up in the step in which it is called lets the next pass', async () => {
	const line: Line = createLine(() => 0)
	const leaving = new AbortController()
	let isFree = false
	let free = () => {}
	const held = new Promise<void>((resolve) => {
		free = resolve
	})
	const giveUp = () => {
		// The next caller is called when this attempt returns.
		queueMicrotask(() => leaving.abort(new Error('gave up')))
		return { done: 1 }
	}
	const first = line.pass(() => (isFree ? giveUp() : { wait: () => held }), urgent)
	const second = line.pass(() => ({ done: 2 }), leaving.signal).catch(() => 'gave up')
	const third = line.pass(() => ({ done: 3 }), urgent)
	isFree = true
	free()
	expect([await first, await third]).toEqual([1, 3])
	expect(await second).toBe('gave up')
	expect(line.isBusy()).toBe(false)
})
