/**
 * Which logs of a contract tell who rules it. One table: an event without a row is not reported, and an anonymous log
 * is not guessed.
 */

import * as Bytes from 'ox/Bytes'
import * as Hash256 from 'ox/Hash'
import type { Address, Hash } from '../../model/glossary.js'
import type { ControlAction, ControlChanged } from '../../model/kind.js'
import type { ControlChange } from '../../model/ownFields.js'
import type { TxLog, TxLogs } from './tokenLogs.js'

/** Where a value stands: the number of the argument, from 0; or the value itself. */
type Where = number | { readonly is: string }

interface Values {
	readonly previous?: Where
	readonly current?: Where
	readonly role?: number
	/** The boolean argument that says whether it was added; else it was removed. */
	readonly isAddedBy?: number
	/** The slot that holds the value, where a standard names it. */
	readonly slot?: Hash
	/** Any account can cause it: not reported. */
	readonly isByAnybody?: true
	/** Reported only of contracts that answer this function: others log the same for something else. */
	readonly onlyOf?: string
}

export interface ControlRow extends Values {
	readonly event: string
	readonly topic: Hash
	readonly change: ControlChange
	readonly action: ControlAction
	/** Which arguments are indexed (`i`) or data (`d`); several where versions differ: the number of topics decides. */
	readonly forms: readonly string[]
}

function row(
	event: string,
	what: `${ControlChange} ${ControlAction}`,
	forms: readonly string[],
	values: Values = {},
): ControlRow {
	const [change, action] = what.split(' ') as [ControlChange, ControlAction]
	return { event, topic: Hash256.keccak256(Bytes.fromString(event), { as: 'Hex' }), change, action, forms, ...values }
}

/** Both ways of one argument: a Safe indexes from version 1.4 on. */
const one = ['i', 'd'] as const
const two = ['ii', 'dd', 'id'] as const
const none = [''] as const
const on = { is: '1' } as const
const off = { is: '0' } as const

const slots = {
	implementation: '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
	admin: '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103',
	beacon: '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50',
	guard: '0x4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8',
	moduleGuard: '0xb104e0b93118902c651344349b610029d694cfdec91c589c91ebafbcd0289947',
	fallbackHandler: '0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5',
	singleton: `0x${'0'.repeat(64)}`,
	threshold: `0x${'0'.repeat(63)}4`,
} as const satisfies Readonly<Record<string, Hash>>

/** Changes whose value in force `Contract.values` has under the name of the change. */
const places: ReadonlySet<ControlChange> = new Set<ControlChange>([
	...(['owner', 'pendingOwner', 'admin', 'implementation', 'beacon', 'authority', 'paused'] as const),
	...(['initialized', 'safe.threshold'] as const),
	...(['safe.guard', 'safe.moduleGuard', 'safe.fallbackHandler', 'safe.singleton'] as const),
])
/** Lists, whose members it has under the name of the change and the address. */
const lists: ReadonlySet<ControlChange> = new Set<ControlChange>(['safe.owner', 'safe.module'])

export const controlRows: readonly ControlRow[] = [
	// Ownable. solmate names the caller first, so `previous` is that of the last reading where there is one.
	row('OwnershipTransferred(address,address)', 'owner set', two, { previous: 0, current: 1 }),
	row('OwnershipTransferStarted(address,address)', 'pendingOwner set', two, { current: 1 }),
	row('OwnershipHandoverRequested(address)', 'pendingOwner set', one, { current: 0, isByAnybody: true }),
	row('OwnershipHandoverCanceled(address)', 'pendingOwner cancelled', one, { previous: 0, isByAnybody: true }),
	row('CommitOwnership(address)', 'pendingOwner set', one, { current: 0 }),
	row('ApplyOwnership(address)', 'owner set', one, { current: 0 }),
	row('LogSetOwner(address)', 'owner set', one, { current: 0 }),
	row('OwnerAddition(address)', 'owner added', one, { current: 0 }),
	row('OwnerRemoval(address)', 'owner removed', one, { previous: 0 }),
	row('RequirementChange(uint256)', 'safe.threshold set', one, { current: 0 }),
	row('AddOwner(uint256,bytes)', 'owner added', ['id'], { current: 1 }),
	row('RemoveOwner(uint256,bytes)', 'owner removed', ['id'], { previous: 1 }),
	// Roles and authorities.
	row('RoleGranted(bytes32,address,address)', 'role added', ['iii'], { role: 0, current: 1 }),
	row('RoleRevoked(bytes32,address,address)', 'role removed', ['iii'], { role: 0, previous: 1 }),
	row('RoleAdminChanged(bytes32,bytes32,bytes32)', 'roleAdmin set', ['iii'], { role: 0, previous: 1, current: 2 }),
	row('RoleGranted(uint64,address,uint32,uint48,bool)', 'role added', ['iiddd'], { role: 0, current: 1 }),
	row('RoleRevoked(uint64,address)', 'role removed', ['ii'], { role: 0, previous: 1 }),
	row('RoleAdminChanged(uint64,uint64)', 'roleAdmin set', ['ii'], { role: 0, current: 1 }),
	row('TargetFunctionRoleUpdated(address,bytes4,uint64)', 'authority set', ['idi'], { current: 0, role: 2 }),
	row('RolesUpdated(address,uint256)', 'role set', ['ii'], { current: 0, role: 1 }),
	row('SetPermission(address,address,bytes32,bool)', 'role added', ['iiid'], {
		role: 2,
		previous: 0,
		current: 0,
		isAddedBy: 3,
	}),
	row('MasterMinterChanged(address)', 'role added', one, { current: 0 }),
	row('PauserChanged(address)', 'role added', one, { current: 0 }),
	row('AuthorityUpdated(address)', 'authority set', one, { current: 0 }),
	row('AuthorityUpdated(address,address)', 'authority set', two, { current: 1 }),
	row('LogSetAuthority(address)', 'authority set', one, { current: 0 }),
	row('Rely(address)', 'authority added', one, { current: 0 }),
	row('Deny(address)', 'authority removed', one, { previous: 0 }),
	// Admins.
	row('AdminChanged(address,address)', 'admin set', two, { previous: 0, current: 1, slot: slots.admin }),
	row('NewAdmin(address)', 'admin set', one, { current: 0 }),
	row('NewAdmin(address,address)', 'admin set', two, { previous: 0, current: 1 }),
	row('NewPendingAdmin(address)', 'admin scheduled', one, { current: 0 }),
	row('NewPendingAdmin(address,address)', 'admin scheduled', two, { previous: 0, current: 1 }),
	row('DefaultAdminTransferScheduled(address,uint48)', 'admin scheduled', ['id'], { current: 0 }),
	row('DefaultAdminTransferCanceled()', 'admin cancelled', none),
	row('DefaultAdminDelayChangeScheduled(uint48,uint48)', 'timelock scheduled', ['dd'], { current: 0 }),
	// The code that runs. The `Upgraded` of old ZeppelinOS proxies is not indexed.
	row('Upgraded(address)', 'implementation set', one, { current: 0, slot: slots.implementation }),
	row('NewImplementation(address,address)', 'implementation set', two, { previous: 0, current: 1 }),
	row('NewPendingImplementation(address,address)', 'implementation scheduled', two, { previous: 0, current: 1 }),
	row('SetApp(bytes32,bytes32,address)', 'implementation set', ['iid', 'iii'], { role: 1, current: 2 }),
	row('BeaconUpgraded(address)', 'beacon set', one, { current: 0, slot: slots.beacon }),
	row('DiamondCut((address,uint8,bytes4[])[],address,bytes)', 'facets set', ['ddd']),
	row('Initialized(uint64)', 'initialized set', one, { current: 0 }),
	row('Initialized(uint8)', 'initialized set', one, { current: 0 }),
	row('ModuleInstalled(uint256,address)', 'module added', ['dd'], { current: 1 }),
	row('ModuleUninstalled(uint256,address)', 'module removed', ['dd'], { previous: 1 }),
	row('AuthorisedModule(address,bool)', 'module added', ['id'], { previous: 0, current: 0, isAddedBy: 1 }),
	// Pauses.
	row('Paused(address)', 'paused set', one, { current: on }),
	row('Unpaused(address)', 'paused set', one, { current: off }),
	row('Pause()', 'paused set', none, { current: on }),
	row('Unpause()', 'paused set', none, { current: off }),
	// Timelocks: `current` is the contract that will be called, or the delay in seconds.
	row('CallScheduled(bytes32,uint256,address,uint256,bytes,bytes32,uint256)', 'timelock scheduled', ['iiddddd'], {
		current: 2,
	}),
	row('CallExecuted(bytes32,uint256,address,uint256,bytes)', 'timelock executed', ['iiddd'], { current: 2 }),
	// Markets log it for each order.
	row('Cancelled(bytes32)', 'timelock cancelled', ['i'], { previous: 0, onlyOf: 'getMinDelay()' }),
	row('MinDelayChange(uint256,uint256)', 'timelock set', ['dd'], { previous: 0, current: 1 }),
	row('QueueTransaction(bytes32,address,uint256,string,bytes,uint256)', 'timelock scheduled', ['iidddd'], {
		current: 1,
	}),
	row('ExecuteTransaction(bytes32,address,uint256,string,bytes,uint256)', 'timelock executed', ['iidddd'], {
		current: 1,
	}),
	row('CancelTransaction(bytes32,address,uint256,string,bytes,uint256)', 'timelock cancelled', ['iidddd'], {
		current: 1,
	}),
	row('NewDelay(uint256)', 'timelock set', one, { current: 0 }),
	// Safes. Modules that are enabled while a Safe is set up are logged before `SafeSetup`.
	row('SafeSetup(address,address[],uint256,address,address)', 'initialized set', ['idddd']),
	row('AddedOwner(address)', 'safe.owner added', one, { current: 0 }),
	row('RemovedOwner(address)', 'safe.owner removed', one, { previous: 0 }),
	row('ChangedThreshold(uint256)', 'safe.threshold set', one, { current: 0, slot: slots.threshold }),
	row('EnabledModule(address)', 'safe.module added', one, { current: 0 }),
	row('DisabledModule(address)', 'safe.module removed', one, { previous: 0 }),
	row('ChangedGuard(address)', 'safe.guard set', one, { current: 0, slot: slots.guard }),
	row('ChangedModuleGuard(address)', 'safe.moduleGuard set', one, { current: 0, slot: slots.moduleGuard }),
	row('ChangedFallbackHandler(address)', 'safe.fallbackHandler set', one, { current: 0, slot: slots.fallbackHandler }),
	row('ChangedMasterCopy(address)', 'safe.singleton set', one, { current: 0, slot: slots.singleton }),
]

const reported: ReadonlyMap<Hash, ControlRow> = new Map(
	controlRows.filter(({ isByAnybody }) => isByAnybody !== true).map((row) => [row.topic, row]),
)

const bySignature: ReadonlyMap<string | null, ControlRow> = new Map(controlRows.map((row) => [row.event, row]))

export function controlRowOf(event: string | null): ControlRow | undefined {
	return bySignature.get(event)
}

/** First topics of the events that are reported. */
export const controlTopics: ReadonlySet<Hash> = new Set(reported.keys())

/** Whether a log may tell who rules one of these contracts. */
export function isControlLog({ address, topics: [topic] }: TxLog, contracts: ReadonlySet<Address>): boolean {
	return topic !== undefined && controlTopics.has(topic) && contracts.has(address)
}

/** What the log at this position among the logs of its transaction reports; null: nothing, or it has another form. */
export function controlEventOf(tx: TxLogs, log: TxLog, logIndex: number): ControlChanged | null {
	const [topic] = log.topics
	const row = topic === undefined ? undefined : reported.get(topic)
	const values = row === undefined ? null : argumentsOf(row, log)
	if (row === undefined || values === null) return null
	const { change, slot = null, event } = row
	const action = actionOf(row, values)
	const at = (where: Where | undefined) =>
		where === undefined ? null : typeof where === 'number' ? (values[where]?.shown ?? null) : where.is
	const previous = action === 'added' ? null : at(row.previous)
	const current = action === 'removed' ? null : at(row.current)
	const member = action === 'added' || action === 'removed' ? asAddress(current ?? previous) : null
	return {
		...{ kind: 'control', change, action, watch: log.address, contract: log.address, previous, current },
		role: row.role === undefined ? null : (values[row.role]?.word ?? null),
		...{ evidence: 'event', event, slot, member },
		place: placeOf(row, action, member),
		...{ txHash: tx.txHash, txIndex: tx.txIndex, initiator: tx.initiator, logIndex },
		...{ fromBlock: tx.block.number, block: tx.block },
	}
}

function actionOf({ action, isAddedBy }: ControlRow, values: readonly Value[]): ControlAction {
	if (isAddedBy === undefined) return action
	return BigInt(values[isAddedBy]?.word ?? 0) === 0n ? 'removed' : 'added'
}

/** A role for a function is no new authority. */
function placeOf({ change, role }: ControlRow, action: ControlAction, member: Address | null): string | null {
	if (lists.has(change)) return member === null ? null : `${change} ${member}`
	return action === 'set' && role === undefined && places.has(change) ? change : null
}

interface Value {
	readonly word: Hash
	/** As alerts have it; null: no account, or bytes that are no address. */
	readonly shown: string | null
}

/** Null: the log has another form than the row, and is another event. */
function argumentsOf({ event, forms }: ControlRow, { topics: [, ...indexed], data }: TxLog): readonly Value[] | null {
	const form = forms.find((each) => [...each].filter((place) => place === 'i').length === indexed.length)
	if (form === undefined) return null
	const types = typesOf(event)
	const values: Value[] = []
	let nextTopic = 0
	let nextWord = 0
	for (const [at, place] of [...form].entries()) {
		const word = place === 'i' ? indexed[nextTopic++] : wordAt(data, nextWord++)
		if (word == null) return null
		const value = readValue(word, types[at] ?? '', data)
		if (value === null) return null
		values.push(value)
	}
	return values
}

/** Null: the word is no value of this type. */
function readValue(word: Hash, type: string, data: string): Value | null {
	if (type === 'address') {
		const account = asAddress(`0x${word.slice(26)}`)
		if (account === null || !word.startsWith(`0x${'0'.repeat(24)}`)) return null
		return { word, shown: /^0x0+$/.test(account) ? null : account }
	}
	if (type === 'bytes32') return { word, shown: word }
	if (type.startsWith('uint')) return { word, shown: BigInt(word).toString() }
	if (type === 'bytes') {
		// An owner of a smart account: an address in 32 bytes, or the two halves of a public key.
		const start = Number(BigInt(word) / 32n)
		const [length, first] = [wordAt(data, start), wordAt(data, start + 1)]
		const isAccount = length !== null && first !== null && BigInt(length) === 32n && /^0x0{24}/.test(first)
		return { word, shown: isAccount ? `0x${first.slice(26)}` : null }
	}
	return { word, shown: null }
}

/** Types of the arguments; those of a tuple count as one. */
function typesOf(event: string): readonly string[] {
	const types: string[] = ['']
	let depth = 0
	for (const letter of event.slice(event.indexOf('(') + 1, -1)) {
		if (letter === '(') depth++
		if (letter === ')') depth--
		if (letter === ',' && depth === 0) types.push('')
		else types[types.length - 1] += letter
	}
	return types
}

function wordAt(data: string, word: number): Hash | null {
	const start = 2 + word * 64
	return word >= 0 && Number.isSafeInteger(start) && data.length >= start + 64
		? `0x${data.slice(start, start + 64)}`
		: null
}

function asAddress(text: string | null): Address | null {
	return text !== null && /^0x[\da-f]{40}$/.test(text) ? (text as Address) : null
}
