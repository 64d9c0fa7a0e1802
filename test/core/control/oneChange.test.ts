// One change of control, one alert: what storage shows beside what an event announced.
import { expect, test } from 'vitest'
import { alertId } from '../../../src/core/alerts/alertId.js'
import { deniedEvents, withoutAnnounced } from '../../../src/core/control/oneChange.js'
import type { ControlChanged } from '../../../src/model/kind.js'
import type { Announcement } from '../../../src/model/state.js'
import { address, alert, blockRef, hash } from '../build.js'

const [before, after] = [address(7), address(8)]
const logged: ControlChanged = {
	...{ kind: 'control', change: 'role', action: 'added', watch: address(1), contract: address(1), role: hash(0) },
	...{ previous: null, current: after, evidence: 'event', member: null, place: null, slot: null },
	event: 'RoleGranted(bytes32,address,address)',
	...{ txHash: hash(0xabc), txIndex: 2, initiator: address(9), logIndex: 3, fromBlock: 10n, block: blockRef(10) },
}
const revoked = { ...logged, action: 'removed', previous: before, current: null, logIndex: 2 } as const
const shown: ControlChanged = {
	...{ ...logged, change: 'admin', action: 'set', role: null, previous: before, current: after, evidence: 'storage' },
	...{ place: 'defaultAdmin()', event: null, logIndex: null, txHash: null, txIndex: null, initiator: null },
}

function announcedBy(events: readonly ControlChanged[]): ReadonlyMap<string, Announcement> {
	const announced = events.map((one): Announcement => {
		const { kind, change, action, contract, previous, current, role, evidence, event } = one
		const id = alertId(31337, one, one.watch)
		const said = alert(id, { kind, change, action, contract, previous, current, role, evidence, event })
		return { id, block: one.block, txHash: hash(0xabc), alerts: [said], status: 'announced', revision: 0 }
	})
	return new Map(announced.map((entry) => [entry.id, entry]))
}

function newBeside(found: ControlChanged, ...events: readonly ControlChanged[]) {
	const { news, confirmed } = withoutAnnounced([found], announcedBy(events))
	return [news.length, ...confirmed.map(({ id }) => id.split(':')[2])]
}

test('default: the default admin, and an owner that repeats it, are reported by the events of role 0 alone', () => {
	expect(newBeside(shown, revoked, logged)).toEqual([0, 'log_3'])
	expect(newBeside({ ...shown, change: 'owner', place: 'owner()' }, revoked, logged)).toEqual([0, 'log_3'])
	expect(newBeside({ ...shown, current: null }, revoked)).toEqual([0, 'log_2'])
})

test('behavior: another account, role or place is news', () => {
	expect(newBeside(shown, { ...logged, current: address(66) })).toEqual([1])
	expect(newBeside(shown, { ...logged, role: hash(5) })).toEqual([1])
	expect(newBeside({ ...shown, place: 'admin' }, logged)).toEqual([1])
	expect(newBeside({ ...shown, current: null }, { ...revoked, previous: address(66) })).toEqual([1])
	expect(newBeside(shown, revoked)).toEqual([1])
})

test.each([
	['accepts within the blocks, and nobody is pending: not denied', after, null, []],
	['accepts, and another one is pending without an event: denied', after, address(66), ['pendingOwner']],
	['is not the one who accepts: denied', address(66), null, ['pendingOwner']],
] as const)(
	'behavior: a pending owner is logged beside another one before, and %s',
	(_, accepts, pending, expected) => {
		const started = { ...logged, change: 'pendingOwner', action: 'set', role: null, current: after } as const
		const named = { ...started, event: 'OwnershipTransferStarted(address,address)' }
		const owner = { ...started, change: 'owner', current: accepts, logIndex: 5 } as const
		const transferred = { ...owner, event: 'OwnershipTransferred(address,address)' }
		// Ownable2StepUpgradeable of OpenZeppelin keeps it in a slot of ERC-7201.
		const place = 'pendingOwner'
		const values = { before: { [place]: before }, now: pending === null ? {} : { [place]: pending } }
		const span = { from: 10n, to: 10n }
		const denied = deniedEvents({ watch: address(1), ...values, span }, announcedBy([named, transferred]))
		expect(denied.map(({ change }) => change)).toEqual(expected)
	},
)
