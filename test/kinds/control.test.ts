// The record of kind `control`: ids, where its events are seen, what it depends on, and its words.

import { describe, expect, test } from 'vitest'
import { alertOf } from '../../src/core/alerts/alert.js'
import { isAsAnnounced, isSeenIn } from '../../src/core/reconcile/reconcile.js'
import { recordOf } from '../../src/kinds/all.js'
import { noAnswers } from '../../src/kinds/standing.js'
import type { Alert } from '../../src/model/alert.js'
import type { ControlChanged } from '../../src/model/kind.js'
import { controlFields } from '../../src/model/ownFields.js'
import type { Announcement } from '../../src/model/state.js'
import { composeMessage } from '../../src/notify/text/message.js'
import { address, blockRef, hash, header, indexOf, network, watch } from '../core/build.js'

const safe = watch({ address: address(1), label: 'Treasury', kinds: ['control'] })
const slot = `0x${'36'.repeat(32)}` as const

const logged: ControlChanged = {
	...{ kind: 'control', change: 'owner', action: 'set', watch: address(1), contract: address(1), role: null },
	...{ previous: address(7), current: address(8), evidence: 'event', member: null, place: 'owner', slot: null },
	event: 'OwnershipTransferred(address,address)',
	...{ txHash: hash(0xabc), txIndex: 2, initiator: address(9), logIndex: 3, fromBlock: 10n, block: blockRef(10) },
}
const stored: ControlChanged = {
	...logged,
	...{ evidence: 'storage', event: null, slot, logIndex: null, txHash: null, txIndex: null, initiator: null },
}

function told(event: ControlChanged): Alert {
	return alertOf(
		{ event, watch: safe, direction: 'self', receivers: ['mail'] },
		{
			...{ network, block: header(Number(event.block.number)), finality: 'latest', detectedAtMs: 1_700_000_000_000 },
			...{ lateReason: null, watches: indexOf(safe), checksum: (one) => one },
		},
	)
}

function announced(event: ControlChanged): Announcement {
	const alert = told(event)
	const { id, txHash } = alert.data
	return { id, block: event.block, txHash, alerts: [alert], status: 'announced', revision: 0 }
}

function subject(event: ControlChanged): string {
	const alert = told(event)
	const data = { ...alert.data, deliveryId: 'msg_1' }
	return composeMessage({ type: alert.type, timestamp: data.detectedAt, data }).subject
}

describe('ids', () => {
	const cases: readonly (readonly [string, Partial<ControlChanged>, string])[] = [
		['an owner in a block', {}, '10:slot_owner'],
		['a name with capitals', { change: 'safe.fallbackHandler' }, '10:slot_safe-fallback-handler'],
		['a member of a list', { change: 'safe.owner', member: address(5) }, `10:slot_safe-owner_${address(5)}`],
		['a followed beacon', { change: 'implementation', contract: address(6) }, `10:slot_implementation_${address(6)}`],
		['a value of `reads`', { change: 'value', place: 'getGovernor()' }, '10:slot_value_getgovernor--'],
		['a span', { fromBlock: 4n }, '4-10:slot_owner'],
	]
	test.each(cases)('default: %s', (_name, part, expected) => {
		const { id } = told({ ...stored, ...part }).data
		expect(id).toBe(`31337:${expected}:control:${address(1)}`)
	})

	test('default: of a log, by its transaction', () => {
		const { id } = told(logged).data
		expect(id).toBe(`31337:${hash(0xabc)}:log_3:control:${address(1)}`)
	})
})

describe('two witnesses', () => {
	test('default: an event is seen in logs, a slot in the state', () => {
		expect(isSeenIn(announced(logged), 'logs')).toBe(true)
		expect(isSeenIn(announced(logged), 'state')).toBe(false)
		expect(isSeenIn(announced(stored), 'logs')).toBe(false)
		expect(isSeenIn(announced(stored), 'state')).toBe(true)
	})

	test('behavior: a missing log depends on its transaction, which its header may name, a slot on its block', () => {
		const missing = { answers: noAnswers, shown: null }
		expect(recordOf('control').missing(announced(stored), missing)).toEqual({ ask: 'header' })
		const entry = announced(logged)
		const { number, hash: blockHash } = entry.block
		const byHeader = (txHashes: readonly Announcement['txHash'][]) => {
			const header = new Map([[number, { number, hash: blockHash, txHashes }]])
			return recordOf('control').missing(entry, { answers: { ...noAnswers, header }, shown: null })
		}
		expect(recordOf('control').missing(entry, missing)).toEqual({ ask: 'header' })
		expect(byHeader([entry.txHash])).toBe('here')
		expect(byHeader([])).toEqual({ ask: 'transaction' })
	})

	test('behavior: an earlier value may differ between two witnesses; the new value of the log may not', () => {
		const of = (event: ControlChanged, now: ControlChanged) => isAsAnnounced(announced(event), now)
		expect(of(logged, { ...logged, previous: null })).toBe(true)
		expect(of(logged, { ...logged, current: address(77) })).toBe(false)
		const removed = { ...logged, action: 'removed', current: null } as const
		expect(of(removed, { ...removed, previous: address(77) })).toBe(false)
	})
})

test('default: sentences', () => {
	const before = `; before: 0x0000…0007`
	expect(subject(logged)).toBe(`[testnet] CONTROL: Treasury has a new owner: 0x0000…0008${before}`)
	expect(subject({ ...logged, current: null })).toBe(`[testnet] CONTROL: Treasury no longer has an owner${before}`)
	expect(subject({ ...logged, change: 'safe.owner', action: 'added', previous: null })).toBe(
		'[testnet] CONTROL: Treasury has one more Safe owner: 0x0000…0008',
	)
	expect(subject({ ...logged, change: 'safe.threshold', previous: '3', current: '1' })).toBe(
		'[testnet] CONTROL: Treasury now needs the signatures of 1 owners; before: 3',
	)
	expect(subject({ ...logged, change: 'role', action: 'removed', role: hash(0), current: null })).toBe(
		'[testnet] CONTROL: 0x0000…0007 no longer has the role DEFAULT_ADMIN_ROLE of Treasury',
	)
	expect(subject({ ...stored, change: 'implementation', contract: address(6) })).toContain(
		'at 0x0000…0006, which it depends on',
	)
	expect(subject({ ...logged, change: 'paused', previous: '0', current: '1' })).toContain('Treasury is now paused')
	expect(subject({ ...stored, contradicted: true, current: address(7) })).toContain('which still has 0x0000…0007')
})

test('behavior: an event that names no account, no role, a delay or a managed contract, is said so', () => {
	const noAccount = { ...logged, previous: null, current: null } as const
	expect(subject({ ...noAccount, change: 'admin', action: 'scheduled' })).toBe(
		'[testnet] CONTROL: Treasury has no pending admin now',
	)
	const pauser = { ...logged, change: 'role', action: 'added', event: 'PauserChanged(address)' } as const
	expect(subject(pauser)).toBe('[testnet] CONTROL: 0x0000…0008 was given a role of Treasury (PauserChanged(address))')
	expect(subject({ ...logged, change: 'timelock', action: 'scheduled', current: '86400' })).toBe(
		'[testnet] CONTROL: a delay of 86400 s is scheduled for Treasury',
	)
	expect(subject({ ...logged, change: 'authority', role: hash(5) })).toBe(
		'[testnet] CONTROL: a function of 0x0000…0008 now needs the role 0x0000…0005 of Treasury',
	)
})

test('behavior: a slot that was emptied is no initialisation, and a threshold of 0', () => {
	const emptied = { ...stored, previous: '2', current: null } as const
	expect(subject({ ...emptied, change: 'initialized' })).toBe(
		'[testnet] CONTROL: Treasury is no longer initialised; before: 2',
	)
	expect(subject({ ...emptied, change: 'safe.threshold' })).toBe(
		'[testnet] CONTROL: Treasury now needs the signatures of 0 owners; before: 2',
	)
	const setUp = 'SafeSetup(address,address[],uint256,address,address)'
	expect(subject({ ...logged, change: 'initialized', event: setUp, current: null })).toBe(
		'[testnet] CONTROL: Treasury was initialised',
	)
})

test('default: every change has words for every action', () => {
	for (const change of changes()) {
		for (const action of ['set', 'added', 'removed', 'scheduled', 'executed', 'cancelled'] as const) {
			for (const current of [address(8), null]) {
				const words = subject({ ...logged, change, action, current })
				expect(words).toContain('Treasury')
				expect(words).not.toContain('undefined')
			}
		}
	}
})

function changes(): readonly ControlChanged['change'][] {
	return controlFields.shape.change.options
}
