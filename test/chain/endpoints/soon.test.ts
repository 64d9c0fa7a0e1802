// A question that is not worth a long wait, where another endpoint may be asked.
import { expect, onTestFinished, test } from 'vitest'
import type { Rpc } from '../../../src/chain/rpc/rpc.js'
import * as faults from '../../support/faults.js'
import { at, errorOf, never, openPool } from '../../support/pool.js'

const onName = { method: 'test_name' }

async function open(count: number, timeoutMs: number) {
	const pool = await openPool(count, { timeoutMs })
	onTestFinished(pool.close)
	return pool
}

test('behavior: where another is at hand, one that hangs is waited for as long as was said, and rests', async () => {
	const pool = await open(2, 600_000)
	await pool.ask()
	at(pool.nodes, 0).fail(faults.hang, onName)
	const ask = (soonMs: number) =>
		pool.use(async (rpc, signal) => String(await rpc.call('test_name', [], signal)), never, { soonMs })
	expect(await ask(200)).toBe('B')
	expect(pool.states().map(({ restingUntilMs }) => restingUntilMs !== null)).toEqual([true, false])
	expect(pool.states()[0]?.lastError).toMatch(/did not answer within 0.2 s/)
	expect(at(pool.nodes, 0).count('test_name')).toBe(2)
})

test('behavior: a request that waits for its turn, or is optional, does not count against the endpoint', async () => {
	const pool = await open(2, 20_000)
	await pool.ask()
	at(pool.nodes, 0).fail(faults.hang, onName)
	const late = new AbortController()
	const ask = (rpc: Rpc, signal: AbortSignal) => rpc.call('test_name', [], signal)
	expect(await pool.use(ask, never, { soonMs: 100, isMild: true })).toBe('B')
	expect(pool.states()[0]?.restingUntilMs).toBeNull()
	// Six go at once: the next one is not sent at all.
	const hung = Array.from({ length: 6 }, () => pool.use(ask, late.signal).catch(() => null))
	await expect.poll(() => at(pool.nodes, 0).count('test_name')).toBeGreaterThanOrEqual(8)
	expect(await pool.use(ask, never, { soonMs: 100 })).toBe('B')
	expect(pool.states()[0]?.restingUntilMs).toBeNull()
	late.abort()
	await Promise.all(hung)
})

test('behavior: the last one has all its time', async () => {
	const pool = await open(1, 300)
	at(pool.nodes, 0).fail(faults.hang, onName)
	const ask = (rpc: Rpc, signal: AbortSignal) => rpc.call('test_name', [], signal)
	const error = await errorOf(pool.use(ask, never, { soonMs: 20 }))
	expect(error.message).toMatch(/there was no whole answer within 0.3 s/)
})
