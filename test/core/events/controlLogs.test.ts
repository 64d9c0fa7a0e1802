// The table of events that tell who rules a contract: its topics, and what is read from logs of each form.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { controlEventOf, controlRows, controlTopics, isControlLog } from '../../../src/core/events/controlLogs.js'
import type { Address, Hash, Hex } from '../../../src/model/glossary.js'
import { address, blockRef, hash } from '../build.js'

/** Worked out elsewhere: topic, then signature. */
const known = new Map(
	readFileSync(new URL('../../fixtures/controlTopics.txt', import.meta.url), 'utf8')
		.trim()
		.split('\n')
		.map((line) => line.split(' ').toReversed() as [string, string]),
)
const [alice, bob] = [address(0xa11ce), address(0xb0b)]
const word = (value: bigint | string): Hash =>
	`0x${(typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')}`
const tx = { txHash: hash(7), txIndex: 2, block: blockRef(10), initiator: address(9), logs: [] }

function read(event: string, indexed: readonly (bigint | string)[], data: readonly (bigint | string)[] = []) {
	const topics = [known.get(event) as Hash, ...indexed.map(word)]
	const bytes: Hex = `0x${data.map((one) => word(one).slice(2)).join('')}`
	return controlEventOf(tx, { address: address(1), topics, data: bytes }, 4)
}

test('default: every topic is the hash of its signature, and stands once', () => {
	expect(controlRows.map(({ event, topic }) => [event, topic])).toEqual(
		controlRows.map(({ event }) => [event, known.get(event)]),
	)
	expect(new Set(controlRows.map(({ topic }) => topic)).size).toBe(controlRows.length)
	expect(known.size).toBe(controlRows.length)
})

test('default: an event that any account can cause, or of another contract, is not read as a control event', () => {
	const log = (event: string) => ({ address: address(1), topics: [known.get(event) as Hash], data: '0x' as Hex })
	const own: ReadonlySet<Address> = new Set([address(1)])
	expect(isControlLog(log('Pause()'), own)).toBe(true)
	expect(isControlLog(log('Pause()'), new Set([address(2)]))).toBe(false)
	expect(isControlLog(log('OwnershipHandoverRequested(address)'), own)).toBe(false)
	expect(controlTopics.size).toBe(controlRows.filter(({ isByAnybody }) => isByAnybody !== true).length)
	expect(isControlLog({ ...log('Pause()'), topics: [] }, own)).toBe(false)
})

describe('values', () => {
	const cases: readonly (readonly [string, ReturnType<typeof read>, readonly unknown[]])[] = [
		['indexed', read('AddedOwner(address)', [bob]), ['safe.owner', 'added', null, bob, `safe.owner ${bob}`]],
		['not indexed', read('AddedOwner(address)', [], [bob]), ['safe.owner', 'added', null, bob, `safe.owner ${bob}`]],
		['two in the data', read('AdminChanged(address,address)', [], [alice, bob]), ['admin', 'set', alice, bob, 'admin']],
		['no account', read('OwnershipTransferred(address,address)', [alice, 0n]), ['owner', 'set', alice, null, 'owner']],
		['a number', read('ChangedThreshold(uint256)', [], [3n]), ['safe.threshold', 'set', null, '3', 'safe.threshold']],
		['a pause', read('Paused(address)', [], [bob]), ['paused', 'set', null, '1', 'paused']],
		['the end of a pause', read('Unpause()', []), ['paused', 'set', null, '0', 'paused']],
		['a role', read('RoleGranted(bytes32,address,address)', [5n, bob, alice]), ['role', 'added', null, bob, null]],
		[
			'what a boolean adds',
			read('SetPermission(address,address,bytes32,bool)', [bob, alice, 5n], [1n]),
			['role', 'added', null, bob, null],
		],
		[
			'what a boolean removes',
			read('SetPermission(address,address,bytes32,bool)', [bob, alice, 5n], [0n]),
			['role', 'removed', bob, null, null],
		],
		[
			'a call that a timelock will make',
			read(
				'CallScheduled(bytes32,uint256,address,uint256,bytes,bytes32,uint256)',
				[5n, 0n],
				[bob, 0n, 160n, 0n, 9n, 0n],
			),
			['timelock', 'scheduled', null, bob, null],
		],
		['an owner in bytes', read('AddOwner(uint256,bytes)', [1n], [32n, 32n, bob]), ['owner', 'added', null, bob, null]],
		[
			'a key in bytes',
			read('AddOwner(uint256,bytes)', [1n], [32n, 64n, bob, 1n]),
			['owner', 'added', null, null, null],
		],
		[
			'facets',
			read('DiamondCut((address,uint8,bytes4[])[],address,bytes)', [], [96n, 0n, 128n]),
			['facets', 'set', null, null, null],
		],
	]
	test.each(cases)('default: %s', (_name, event, expected) => {
		expect(event && [event.change, event.action, event.previous, event.current, event.place]).toEqual(expected)
	})

	test('default: the place of the log, its transaction and its sender', () => {
		expect(read('RoleRevoked(bytes32,address,address)', [5n, bob, alice])).toMatchObject({
			...{ kind: 'control', watch: address(1), contract: address(1), role: word(5n), member: bob, logIndex: 4 },
			...{ txHash: hash(7), txIndex: 2, initiator: address(9), block: blockRef(10), fromBlock: 10n, evidence: 'event' },
		})
	})

	const others: readonly (readonly [string, ReturnType<typeof read>])[] = [
		['too many topics', read('AddedOwner(address)', [bob, alice])],
		['data that is too short', read('AdminChanged(address,address)', [], [alice])],
		['a word that is no address', read('AddedOwner(address)', [2n ** 200n])],
	]
	test.each(others)('error: %s: it is another event', (_name, event) => {
		expect(event).toBeNull()
	})
})
