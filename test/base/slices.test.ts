import { expect, test } from 'vitest'
import { inSteps, isSliceOver, nextSlice } from '../../src/base/waits/slices.js'

/** Counts the turns of the event loop while the job runs. */
async function turnsDuring(job: () => Promise<unknown>): Promise<number> {
	let isDone = false
	let turns = 0
	const others = (async () => {
		for (; !isDone; turns++) await nextSlice()
	})()
	await job()
	isDone = true
	await others
	return turns
}

function workFor(ms: number): void {
	const untilMs = performance.now() + ms
	while (performance.now() < untilMs);
}

async function* rows(count: number) {
	for (let row = 0; row < count; row++) {
		if (isSliceOver()) await nextSlice()
		yield workFor(0.2)
	}
}

test('default: work of 200 ms leaves other work its turns', async () => {
	const turns = await turnsDuring(async () => {
		for await (const _ of rows(1_000));
	})
	expect(turns).toBeGreaterThan(10)
})

test('behavior: two jobs share one slice, so that others wait no longer for both', async () => {
	const job = async () => {
		for await (const _ of rows(500));
	}
	expect(await turnsDuring(() => Promise.all([job(), job()]))).toBeGreaterThan(10)
})

test('behavior: steps of the core are cut where they take long, and give their result', async () => {
	function* steps(count: number, ms: number): Generator<undefined, number> {
		for (let step = 0; step < count; step++) {
			workFor(ms)
			yield
		}
		return count
	}
	expect(await turnsDuring(async () => expect(await inSteps(steps(20, 10))).toBe(20))).toBeGreaterThan(10)
})
