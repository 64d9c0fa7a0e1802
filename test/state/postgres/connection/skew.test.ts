import { expect, test } from 'vitest'
import type { Ask } from '../../../../src/state/postgres/connection/database.js'
import { createSkew } from '../../../../src/state/postgres/connection/skew.js'

/** Ten minutes ahead of us; its answers come when one of us has stood still for so long before or after them. */
function databaseOf(stands: readonly { readonly beforeMs: number; readonly afterMs: number }[]) {
	let nowMs = 1_790_000_000_000
	let asked = 0
	const ask = (async () => {
		const { beforeMs, afterMs } = stands[Math.min(asked++, stands.length - 1)] ?? { beforeMs: 0, afterMs: 0 }
		nowMs += beforeMs
		const row = { ms: String(nowMs + 600_000) }
		nowMs += afterMs
		return [row]
	}) as unknown as Ask
	return { skew: createSkew(ask, () => nowMs, undefined, null), asked: () => asked }
}

test('default: one quick answer reports it', async () => {
	const { skew, asked } = databaseOf([{ beforeMs: 2, afterMs: 2 }])
	await skew.measure()
	expect([skew.toDatabase(0), asked()]).toEqual([600_000, 1])
})

test('behavior: a slow answer is asked for again', async () => {
	const { skew, asked } = databaseOf([
		{ beforeMs: 0, afterMs: 5_000 },
		{ beforeMs: 1, afterMs: 1 },
	])
	await skew.measure()
	expect([skew.toDatabase(0), asked()]).toEqual([600_000, 2])
})

test('behavior: where all are slow, it is known as well as they give it, and no slow answer undoes that', async () => {
	const slow = [
		{ beforeMs: 5_000, afterMs: 0 },
		{ beforeMs: 0, afterMs: 3_000 },
		{ beforeMs: 4_000, afterMs: 0 },
	]
	const { skew } = databaseOf([...slow, { beforeMs: 0, afterMs: 9_000 }])
	await skew.measure()
	expect(skew.toDatabase(0)).toBe(598_500)
	await skew.measure()
	expect(skew.toDatabase(0)).toBe(598_500)
})
