import { expect, onTestFinished, test } from 'vitest'
import { createLateness } from '../../src/chain/lateness.js'
import { createRpc } from '../../src/chain/rpc/rpc.js'

test('behavior: an endpoint that was late comes after others, for longer each time, until it has given blocks', () => {
	const rpc = createRpc({ url: 'http://127.0.0.1:1' })
	onTestFinished(() => rpc.close())
	let now = 0
	const lateness = createLateness(() => now)
	/** For how many seconds it comes after others when it was late now. */
	const lateFor = () => {
		lateness.asks(7n, rpc)
		lateness.note(7n)
		const sinceMs = now
		while (lateness.rank(rpc) > 0) now += 1_000
		return (now - sinceMs) / 1_000
	}
	expect(lateness.rank(rpc)).toBe(0)
	expect([lateFor(), lateFor(), lateFor()]).toEqual([30, 60, 120])
	lateness.cameWell(7n, rpc)
	expect(lateFor()).toBe(30)
	// Of what nobody was asked for nobody is late.
	lateness.note(9n)
	expect(lateness.rank(rpc)).toBe(0)
})
