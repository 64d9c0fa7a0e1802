import { expect, test } from 'vitest'
import { createReceiptNeed } from '../../../src/chain/blocks/receiptNeed.js'
import type { Rpc } from '../../../src/chain/rpc/rpc.js'
import { address, frame } from '../../core/build.js'

const [one, other] = [{ endpoint: 'one' } as Rpc, { endpoint: 'other' } as Rpc]
const watched = new Set([address(7)])
const HOUR = 3_600_000

function fresh(fees = false) {
	let nowMs = 0
	const need = createReceiptNeed({ fees, clock: () => nowMs })
	return {
		need,
		later(ms: number) {
			nowMs += ms
		},
	}
}

const fine = frame({ to: address(7) })
const failed = frame({ to: address(7), error: 'Reverted' })

test('default: each, until the endpoint was seen to mark a failure', () => {
	const { need, later } = fresh()
	expect([fine, failed, null].map((root) => need.of(one, 'trace', root, watched))).toEqual([true, true, true])
	// A success proves nothing, nor a receipt that does not say, nor a root of an unknown kind.
	need.note(one, 'trace', fine, true)
	need.note(one, 'trace', failed, null)
	need.note(one, 'trace', { ...failed, callType: null }, false)
	expect(need.of(one, 'trace', fine, watched)).toBe(true)
	need.note(one, 'trace', failed, false)
	expect([fine, failed, null].map((root) => need.of(one, 'trace', root, watched))).toEqual([false, true, false])
	expect(need.of(one, 'debug', fine, watched)).toBe(true)
	expect(need.of(other, 'trace', fine, watched)).toBe(true)
	later(5 * HOUR)
	expect(need.of(one, 'trace', fine, watched)).toBe(true)
})

test('behavior: failed frames seen by the probe spare the receipts of `trace` rows, not those of `debug` calls', () => {
	const need = createReceiptNeed({ fees: false, isProved: (rpc) => rpc === one, clock: () => 0 })
	expect(need.of(one, 'trace', fine, watched)).toBe(false)
	expect(need.of(one, 'trace', failed, watched)).toBe(true)
	expect(need.of(one, 'debug', fine, watched)).toBe(true)
	expect(need.of(other, 'trace', fine, watched)).toBe(true)
})

test('behavior: a root frame of an unknown call type does not spare the receipt', () => {
	const { need } = fresh()
	need.note(one, 'trace', failed, false)
	expect(need.of(one, 'trace', { ...fine, callType: null }, watched)).toBe(true)
})

test('behavior: where fees are wanted, of all that an address has sent', () => {
	const { need } = fresh(true)
	need.note(one, 'trace', failed, false)
	expect(need.of(one, 'trace', frame({ from: address(7) }), watched)).toBe(true)
	expect(need.of(one, 'trace', frame({ to: address(7) }), watched)).toBe(false)
})
