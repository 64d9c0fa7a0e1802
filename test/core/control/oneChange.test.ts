// One change of control, one alert: what storage shows beside what an event announced.
import { expect, test } from 'vitest'
import { alertId } from '../../../src/core/alerts/alertId.js'
import { withoutAnnounced } from '../../../src/core/control/oneChange.js'
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

function newBeside(found: ControlChanged, ...events: readonly ControlChanged[]) {
	const announced = events.map((event): Announcement => {
		const { kind, change, action, contract, previous, current, role, evidence } = event
		const id = alertId(31337, event, event.watch)
		const said = alert(id, { kind, change, action, contract, previous, current, role, evidence })
		return { id, block: event.block, txHash: hash(0xabc), alerts: [said], status: 'announced', revision: 0 }
	})
	const { news, confirmed } = withoutAnnounced([found], new Map(announced.map((entry) => [entry.id, entry])))
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
