import { expect, test } from 'vitest'
import { movementsOf } from '../../src/pages/movements.js'
import type { AlertRow } from '../../src/pages/rows.js'
import { alertData } from '../notify/samples.js'

const nowMs = Date.parse('2026-11-20T12:00:00Z')
const network = { name: 'ethereum', chainId: 1, symbol: 'ETH', decimals: 18, explorer: null, endpoints: [] }

/** Of messages, the newest first; the pages may have them in another order. */
function sumsOf(types: readonly AlertRow['type'][], isReversed = false) {
	const data = { ...alertData({ valueWei: '7000000000000000000', direction: 'in' }), deliveryId: '' }
	const alert = { ...data, blockTimestamp: '2026-11-20T10:00:00.000Z' }
	const toldAt = (at: number) => new Date(nowMs - at * 1_000).toISOString()
	const rows = types.map((type, at) => ({ type, alerts: [alert], toldAt: toldAt(at), deliveries: [] }))
	const { sumIn, sumOut } = movementsOf(
		(isReversed ? rows.toReversed() : rows) as unknown as readonly AlertRow[],
		network,
		nowMs,
	)
	return [sumIn, sumOut]
}

test('default: an alert is counted once, whatever the number of its messages', () => {
	expect(sumsOf(['alert.transfer', 'alert.transfer'])).toEqual(['7', '0'])
})

test('behavior: the last word about an alert counts: a retraction, or the alert once more', () => {
	for (const isReversed of [false, true]) {
		expect(sumsOf(['alert.removed', 'alert.transfer'], isReversed)).toEqual(['0', '0'])
		expect(sumsOf(['alert.transfer', 'alert.removed', 'alert.transfer'], isReversed)).toEqual(['7', '0'])
	}
})
