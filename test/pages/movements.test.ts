import { expect, test } from 'vitest'
import { movementsOf } from '../../src/pages/movements.js'
import type { AlertRow } from '../../src/pages/rows.js'
import { alertData } from '../notify/samples.js'

const nowMs = Date.parse('2026-11-20T12:00:00Z')
const network = { name: 'ethereum', chainId: 1, symbol: 'ETH', decimals: 18, explorer: null, endpoints: [] }

/** Newest first, as the pages have them. */
function sumsOf(...types: readonly AlertRow['type'][]) {
	const data = { ...alertData({ valueWei: '7000000000000000000', direction: 'in' }), deliveryId: '' }
	const alert = { ...data, blockTimestamp: '2026-11-20T10:00:00.000Z' }
	const rows = types.map((type) => ({ type, alerts: [alert] }) as unknown as AlertRow)
	const { sumIn, sumOut } = movementsOf(rows, network, nowMs)
	return [sumIn, sumOut]
}

test('default: an alert is counted once, whatever the number of its messages', () => {
	expect(sumsOf('alert.transfer', 'alert.transfer')).toEqual(['7', '0'])
})

test('behavior: the last word about an alert counts: a retraction, or the alert once more', () => {
	expect(sumsOf('alert.removed', 'alert.transfer')).toEqual(['0', '0'])
	expect(sumsOf('alert.transfer', 'alert.removed', 'alert.transfer')).toEqual(['7', '0'])
})
