import { expect, onTestFinished, test } from 'vitest'
import { createSlowEndpoints } from '../../../src/chain/endpoints/slowEndpoints.js'
import { createRpc } from '../../../src/chain/rpc/rpc.js'

test('behavior: an endpoint that was late comes after others, for longer each time, until it has given blocks', () => {
	const rpc = createRpc({ url: 'http://127.0.0.1:1' })
	onTestFinished(() => rpc.close())
	let now = 0
	const slow = createSlowEndpoints(() => now)
	/** For how many seconds it comes after others when it was late now. */
	const lateFor = () => {
		slow.asks(7n, rpc)
		slow.note(7n)
		const sinceMs = now
		while (slow.rank(rpc) > 0) now += 1_000
		return (now - sinceMs) / 1_000
	}
	expect(slow.rank(rpc)).toBe(0)
	expect([lateFor(), lateFor(), lateFor()]).toEqual([30, 60, 120])
	slow.cameWell(7n, rpc)
	expect(lateFor()).toBe(30)
	// Of what no one was asked for no one is late.
	slow.note(9n)
	expect(slow.rank(rpc)).toBe(0)
})
