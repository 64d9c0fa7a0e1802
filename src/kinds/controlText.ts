/** A change of control in words. */

import { printable } from '../base/text/printable.js'
import type { AlertData } from '../model/alert.js'
import type { ControlChange } from '../model/ownFields.js'
import { accountFacts } from './account.js'
import { type Fact, fact } from './fact.js'
import { shortAddress, watchName } from './phrases.js'

/** What each change is of. */
export const changesInWords: Readonly<Record<ControlChange, string>> = {
	owner: 'owner',
	pendingOwner: 'pending owner',
	role: 'role',
	roleAdmin: 'admin of a role',
	admin: 'admin',
	implementation: 'implementation',
	beacon: 'beacon',
	facets: 'facets',
	authority: 'authority',
	paused: 'pause',
	timelock: 'timelock',
	'safe.owner': 'Safe owner',
	'safe.threshold': 'Safe threshold',
	'safe.module': 'Safe module',
	'safe.guard': 'Safe guard',
	'safe.moduleGuard': 'Safe module guard',
	'safe.fallbackHandler': 'Safe fallback handler',
	'safe.singleton': 'Safe singleton',
	initialized: 'initialisation',
	module: 'module',
	value: 'value',
}

export function controlSentence(data: AlertData): string {
	const more = data.count === undefined ? '' : `, and ${data.count - 1} more such events in this block`
	return `CONTROL: ${happening(data)}${more}`
}

function happening(data: AlertData): string {
	const { change = 'value', contract, contradicted } = data
	if (contradicted === true) {
		const holds = data.current == null ? 'has none' : `still has ${short(data.current)}`
		return `${watchName(data)} logged another ${changesInWords[change]} than its storage has, which ${holds}`
	}
	const isOther = contract !== undefined && contract.toLowerCase() !== data.watch.address.toLowerCase()
	return `${changed(data, change)}${isOther ? `, at ${shortAddress(contract)}, which it depends on` : ''}`
}

function changed(data: AlertData, change: ControlChange): string {
	switch (change) {
		case 'role':
			return ofRole(data)
		case 'roleAdmin':
			return `the role ${short(data.role)} of ${watchName(data)} is now granted by the role ${short(data.current)}`
		case 'paused':
			return `${watchName(data)} is ${data.current == null || data.current === '0' ? 'no longer' : 'now'} paused`
		case 'facets':
			return `${watchName(data)} changed its facets (diamond), the code that it runs`
		case 'timelock':
			return ofTimelock(data)
		case 'initialized':
			// The slot was emptied. An event without a version is that of a Safe's setup.
			if (data.event == null && data.current == null)
				return `${watchName(data)} is no longer initialised${before(data)}`
			return `${watchName(data)} was initialised${data.current == null ? '' : ` (version ${data.current})`}`
		case 'safe.threshold':
			return `${watchName(data)} now needs the signatures of ${data.current ?? 0} owners${before(data)}`
		case 'value':
			return `${printable(data.place ?? '', 80)} of ${watchName(data)} is now ${short(data.current)}${before(data)}`
		case 'authority':
			// OpenZeppelin's AccessManager: the address is that of a managed contract, no authority.
			if (data.role != null) return ofFunction(data)
			return ofValue(data, changesInWords[change])
		default:
			return ofValue(data, changesInWords[change])
	}
}

function ofFunction(data: AlertData): string {
	const { current, role } = data
	return `a function of ${short(current)} now needs the role ${roleName(role)} of ${watchName(data)}`
}

function ofValue(data: AlertData, noun: string): string {
	const { action, previous, current } = data
	const name = watchName(data)
	switch (action) {
		case 'added':
			return `${name} has one more ${noun}${current == null ? '' : `: ${short(current)}`}`
		case 'removed':
			return previous == null ? `${name} has one ${noun} less` : `${name} no longer has the ${noun} ${short(previous)}`
		case 'scheduled':
			return current == null
				? `${name} has no pending ${noun} now`
				: `a new ${noun} of ${name} is scheduled: ${short(current)}`
		case 'cancelled':
			return `a scheduled change of the ${noun} of ${name} was cancelled`
		default: {
			if (current === null) return `${name} no longer has ${article(noun)}${before(data)}`
			return `${name} has a new ${noun}: ${short(current)}${before(data)}`
		}
	}
}

function ofRole(data: AlertData): string {
	const { action, previous, current, role, event } = data
	const name = watchName(data)
	// The event names the role: `PauserChanged(address)`.
	const which =
		role == null ? `a role of ${name} (${printable(event ?? '', 80)})` : `the role ${roleName(role)} of ${name}`
	if (action === 'removed') return `${short(previous)} no longer has ${which}`
	if (action === 'set') return `the roles of ${short(current)} at ${name} are now ${short(role)}`
	return `${short(current)} was given ${which}`
}

function ofTimelock(data: AlertData): string {
	const name = watchName(data)
	if (data.action === 'scheduled' && /^\d+$/.test(data.current ?? ''))
		return `a delay of ${data.current} s is scheduled for ${name}`
	const target = data.current == null ? 'a call' : `a call to ${short(data.current)}`
	switch (data.action) {
		case 'scheduled':
			return `${target} is scheduled in the timelock ${name}`
		case 'executed':
			return `the timelock ${name} made ${target}`
		case 'cancelled':
			return `a scheduled call of the timelock ${name} was cancelled`
		default:
			return `the delay of ${name} is now ${data.current} s${before(data)}`
	}
}

export function controlFacts(data: AlertData): readonly Fact[] {
	const { change = 'value', contract, previous, current, role, event, slot, place, evidence, fromBlock, toBlock } = data
	const isOther = contract !== undefined && contract.toLowerCase() !== data.watch.address.toLowerCase()
	return accountFacts(
		data,
		[
			fact('Kind', 'change of control'),
			fact('Changed', `${changesInWords[change]}, ${data.action ?? 'set'}`),
			...(isOther ? [fact('At', contract)] : []),
			...(role == null ? [] : [fact('Role', role)]),
			...(current == null ? [] : [fact(data.contradicted ? 'Storage has' : 'Now', printable(current, 100))]),
			...(previous == null ? [] : [fact('Before', printable(previous, 100))]),
			fact('Seen in', seenIn[evidence ?? 'event']),
			...(event == null ? [] : [fact('Event', printable(event, 200))]),
			...(place === undefined ? [] : [fact('Read as', printable(place, 100))]),
			...(slot == null ? [] : [fact('Slot', slot)]),
			...(data.count === undefined ? [] : [fact('Events', `${data.count}, this one and those after it in the block`)]),
			...(fromBlock === undefined
				? []
				: [fact('Between', `blocks ${fromBlock} and ${toBlock}: the state between is gone`)]),
			...(data.unseen ? [fact('Not traced', 'no frame entered the contract: the trace source left a call out')] : []),
			...(data.disputed ? [fact('Disputed', 'another endpoint shows another value after the same block')] : []),
			...(data.contradicts == null ? [] : [fact('Contradicts', data.contradicts)]),
			...(data.related ?? []).map((id) => fact('See also', id)),
			...(data.initiator === undefined ? [] : [fact('Started by', data.initiator)]),
		],
		false,
	)
}

const seenIn = {
	event: 'an event of the contract',
	storage: 'the storage of the contract; no event says so',
	both: 'an event of the contract, and its storage',
} as const

function before({ previous }: AlertData): string {
	return previous == null ? '' : `; before: ${short(previous)}`
}

/** An address as in other sentences, a hash cut likewise, a number as it is. */
function short(value: string | null | undefined): string {
	if (value == null) return 'no account'
	return /^0x[\da-fA-F]{40,}$/.test(value) ? shortAddress(value) : printable(value, 80)
}

function roleName(role: string | null | undefined): string {
	return role != null && /^0x0{64}$/.test(role) ? 'DEFAULT_ADMIN_ROLE' : short(role)
}

function article(noun: string): string {
	return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}
