// Alerts out of matches: the fields that all kinds share.
import { expect, test } from 'vitest'
import { alertOf } from '../../../src/core/alerts/alert.js'
import { callsIn } from '../../../src/core/events/calls.js'
import { eventsOf } from '../../../src/core/events/events.js'
import { match } from '../../../src/core/matching/match.js'
import { recordOf } from '../../../src/kinds/all.js'
import type { Happened } from '../../../src/kinds/record.js'
import { address, frame, header, indexOf, network, tx, watch } from '../build.js'

const selector = '0xaabbccdd'
const calls = { functions: new Map([[selector, { signature: 'pause()', inputs: [] }]]), failed: false }
const vault = watch({ address: address(2), label: 'Vault', kinds: ['transfer', 'call'], calls })
const ops = watch({ address: address(1), label: 'Ops', kinds: ['token'] })
const code = watch({ address: address(3), label: 'Code', kinds: ['token'] })
const watches = indexOf(vault, ops, code)

function alertsOf(events: readonly Happened[]) {
	return match(events, watches, () => true).map(
		(one) =>
			alertOf(one, {
				...{ network, watches, block: header(10), finality: 'latest', detectedAtMs: 0, lateReason: null },
				checksum: (text) => text,
			}).data,
	)
}

test('default: the label of the other side goes along, and the sentence says it', () => {
	const called = tx([frame({ input: selector })])
	const all = alertsOf([...eventsOf(called), ...callsIn(called)])
	expect(all.map(({ kind, counterpartyLabel }) => [kind, counterpartyLabel])).toEqual([
		['transfer', 'Ops'],
		['call', 'Ops'],
	])
	expect(all.map((data) => recordOf(data.kind).sentence(data))).toEqual([
		'Vault received 0.000000000000000001 ETH from Ops',
		'pause() was called at Vault by Ops with 0.000000000000000001 ETH',
	])
})

test('behavior: a call of the contract to its own code has no other side', () => {
	const own = { callType: 'delegatecall', from: address(2), to: address(3), input: `${selector}00` } as const
	const forwarded = { ...own, input: '0x11223344', traceAddress: [0] }
	const called = tx([
		frame({ from: address(9), input: '0x11223344' }),
		frame(forwarded),
		frame({ ...own, traceAddress: [0, 0] }),
	])
	const [data] = alertsOf([...callsIn(called)])
	expect(data).toMatchObject({ kind: 'call', from: address(2), to: address(3) })
	expect(data?.counterpartyLabel).toBeUndefined()
	expect(data && recordOf('call').sentence(data)).toBe('pause() was called at Vault by 0x0000…0002')
})
