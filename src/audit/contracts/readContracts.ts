import { signalWithin } from '../../base/waits/deadline.js'
import {
	followed,
	getterPlaces,
	isOfShape,
	placeOf,
	safeSlots,
	sentinel,
	slotOfRead,
	slotPlaces,
	valueIn,
} from '../../core/control/places.js'
import { mappingSlot } from '../../core/events/mappingSlot.js'
import { RpcError } from '../../errors.js'
import type { BlockRef } from '../../model/chain.js'
import type { Contract, ContractState, ContractValues, ListQuestion } from '../../model/contract.js'
import type { Address, Hash, Hex } from '../../model/glossary.js'

export interface ContractQuestion {
	readonly address: Address
	/** As it is remembered; null: at its first look. */
	readonly known: Contract | null
	/** Values that the watch names besides, such as `slot 7` and `governor()`. */
	readonly reads: readonly string[]
	/** Hash of its code after the block, where it was read already. */
	readonly codeHash?: Hash
	/** Slots of lists that an earlier reading did not finish. */
	readonly hints?: readonly Hash[]
	/** Whether functions that did not answer before are asked again. Default: at the first look only. */
	readonly isWhole?: boolean
}

export interface ContractReading {
	/** Null: it has no code. */
	readonly codeHash: Hash | null
	readonly isSafe: boolean
	/** A place that could not be read has its earlier value. */
	readonly values: ContractValues
	/** Lists that were not read to their ends; absent: none. */
	readonly cut?: CutLists
}

export interface CutLists {
	/** Completes `the storage of 0x… is not read: …`. */
	readonly why: string
	/** True: a list has more members than are read; the first of them are. */
	readonly isLong: boolean
	/** Slots of the links that were read. */
	readonly hints: readonly Hash[]
}

/** More members than this are not read of a list. */
const MOST_MEMBERS = 200
/** In one reading: each gives one link of every list, or 32 where code can be lent. */
const MOST_ROUNDS = 8
/** Time for the lists. What else rules the contracts does not wait longer for them. */
const LISTS_MS = 3_000

const common: readonly Hash[] = [
	...slotPlaces.map(({ slot }) => slot),
	safeSlots.singleton.slot,
	safeSlots.count,
	safeSlots.threshold.slot,
]

/** Reads what rules contracts after a block, in few calls for all of them. Throws RpcError. */
export async function readContracts(
	questions: readonly ContractQuestion[],
	block: BlockRef,
	state: ContractState,
	signal: AbortSignal,
): Promise<ReadonlyMap<Address, ContractReading>> {
	if (questions.length === 0) return new Map()
	const hashes = await hashesOf(questions, block, state, signal)
	const there = questions.filter(({ address }) => hashes.has(address))
	const words = await readWords(there, block, state, signal)
	await readLists(there, words, { block, state, signal })
	const broken = await brokenSafes(there, words, { block, state, signal })
	await readLists(broken, words, { block, state, signal }, true)
	const found = new Map<Address, ContractReading>()
	for (const question of questions) {
		const { address, known } = question
		const codeHash = hashes.get(address) ?? null
		const own = words.get(address)
		if (codeHash === null || own === undefined) {
			found.set(address, { codeHash: null, isSafe: known?.isSafe ?? false, values: {} })
			continue
		}
		found.set(address, { codeHash, ...slotValues(question, own, broken.includes(question)) })
	}
	return await withGetters(there, found, { block, state, signal })
}

async function hashesOf(
	questions: readonly ContractQuestion[],
	block: BlockRef,
	state: ContractState,
	signal: AbortSignal,
): Promise<ReadonlyMap<Address, Hash>> {
	const asked = questions.flatMap(({ address, codeHash }) => (codeHash === undefined ? [address] : []))
	const known = questions.flatMap(({ address, codeHash }) =>
		codeHash === undefined ? [] : [[address, codeHash] as const],
	)
	return new Map([...known, ...(asked.length === 0 ? [] : await state.codeHashes(asked, block, signal))])
}

type Words = ReadonlyMap<Hash, Hash>

/** The slots of all contracts. Of lists, their beginnings, the known members and what an earlier reading found. */
async function readWords(
	questions: readonly ContractQuestion[],
	block: BlockRef,
	state: ContractState,
	signal: AbortSignal,
): Promise<ReadonlyMap<Address, Map<Hash, Hash>>> {
	const asked = questions.map(({ address, known, reads, hints = [] }) => {
		return { address, slots: [...reads.flatMap((read) => slotOfRead(read) ?? []), ...listSlots(known), ...hints] }
	})
	const found = asked.length === 0 ? new Map() : await state.slots(common, asked, block, signal)
	return new Map(questions.map(({ address }) => [address, new Map(found.get(address))]))
}

/** Adds the rest of the lists of Safes, those of all contracts together. A failure leaves them unread, nothing else. */
async function readLists(
	questions: readonly ContractQuestion[],
	words: ReadonlyMap<Address, Map<Hash, Hash>>,
	{ block, state, signal }: Asking,
	isProved = false,
): Promise<void> {
	const limited = signalWithin(LISTS_MS, signal)
	for (let round = 0; round < MOST_ROUNDS; round++) {
		const asked = questions.flatMap(({ address, known }) => {
			const own = words.get(address) ?? new Map()
			return isProved || mayBeSafe(known, own) ? openLists(address, own) : []
		})
		if (asked.length === 0) return
		try {
			const found = await state.links(asked, block, limited)
			for (const [address, own] of found) for (const [slot, word] of own) words.get(address)?.set(slot, word)
		} catch (error) {
			signal.throwIfAborted()
			if (error instanceof RpcError ? error.kind === 'unsettled' : !limited.aborted) throw error
			return
		}
	}
}

/**
 * Those that are Safes at their first look although their list of owners does not close: the threshold that a Safe
 * answers is its slot's. What cannot be a Safe may hold anything in these slots, and is not asked.
 */
async function brokenSafes(
	questions: readonly ContractQuestion[],
	words: ReadonlyMap<Address, Words>,
	{ block, state, signal }: Asking,
): Promise<readonly ContractQuestion[]> {
	const looksBroken = ({ address, known }: ContractQuestion) => {
		const own = words.get(address) ?? new Map()
		return (
			known === null && hasThreshold(own) && !mayBeSafe(known, own) && walk(own, safeSlots.owners).members.length > 0
		)
	}
	const some = questions.filter(looksBroken)
	if (some.length === 0) return []
	const signature = 'getThreshold()'
	const asked = some.map(({ address }) => ({ address, signatures: [signature] }))
	const answers = await state.getters(asked, block, signal)
	return some.filter(({ address }) => {
		const answer = answers.get(address)?.get(signature)
		return answer !== undefined && answer === words.get(address)?.get(safeSlots.threshold.slot)
	})
}

/** The lists whose next link was not read. */
function openLists(address: Address, words: Words): readonly ListQuestion[] {
	return [safeSlots.owners, safeSlots.modules].flatMap((mapping) => {
		const { next } = walk(words, mapping)
		return next === null ? [] : [{ address, mapping, from: next }]
	})
}

/** The slots of the lists: of a contract that may be a Safe, their beginnings and the known members. */
function listSlots(known: Contract | null): readonly Hash[] {
	const members = Object.keys(known?.values ?? {}).flatMap((name) => {
		const { member, change } = placeOf(name)
		return member === null ? [] : [mappingSlot(member, mappingOf(change))]
	})
	return [...beginnings, ...members]
}

const beginnings = [mappingSlot(sentinel, safeSlots.owners), mappingSlot(sentinel, safeSlots.modules)]

function mappingOf(change: string): bigint {
	return change === 'safe.module' ? safeSlots.modules : safeSlots.owners
}

interface Walk {
	readonly members: readonly Address[]
	/** Whether the list leads back to where it begins. */
	readonly closes: boolean
	/** The member whose link is to be read next; null: the list ends, or was not read at all. */
	readonly next: Address | null
	/** It has more members than are read. */
	readonly isLong: boolean
}

/** Follows a linked list as far as it was read. */
function walk(words: Words, mapping: bigint): Walk {
	const members: Address[] = []
	const seen = new Set<Address>()
	let at: Address = sentinel
	while (members.length <= MOST_MEMBERS) {
		const word = words.get(mappingSlot(at, mapping))
		if (word === undefined) return { members, closes: false, next: at === sentinel ? null : at, isLong: false }
		// Without a link of its own the last one is no member, though the list names it.
		if (BigInt(word) === 0n) members.pop()
		// Anything else than an address is no link.
		if (BigInt(word) === 0n || BigInt(word) >= 1n << 160n) break
		at = `0x${word.slice(26)}`
		if (at === sentinel) return { members, closes: true, next: null, isLong: false }
		if (seen.has(at)) break
		seen.add(at)
		members.push(at)
	}
	return { members, closes: false, next: null, isLong: members.length > MOST_MEMBERS }
}

function slotValues(
	{ known, reads }: ContractQuestion,
	words: Words,
	isProved: boolean,
): Omit<ContractReading, 'codeHash'> {
	const values: Record<string, Hex> = {}
	const put = (name: string, slot: Hash, value: (word: Hash) => Hex | null) => {
		const word = words.get(slot)
		const now = word === undefined ? (known?.values[name] ?? null) : value(word)
		if (now !== null) values[name] = now
	}
	for (const { name, slot, shape } of slotPlaces) put(name, slot, (word) => valueIn(word, shape))
	for (const read of reads) {
		const slot = slotOfRead(read)
		// Zero is kept: it shows that the slot was read before.
		if (slot !== null) put(read, slot, (word) => word)
	}
	if (!isProved && !mayBeSafe(known, words)) return { isSafe: false, values }
	const owners = walk(words, safeSlots.owners)
	const modules = walk(words, safeSlots.modules)
	// A list of which only a part was read would show its other members as new ones later.
	const isSafe = known?.isSafe === true || ((isProved || provesSafe(words, owners)) && modules.next === null)
	const lists = { 'safe.owner': owners, 'safe.module': modules }
	const cut = cutOf(lists)
	if (!isSafe) return { isSafe, values, ...(cut && { cut }) }
	for (const { name, slot, shape } of [safeSlots.singleton, safeSlots.threshold])
		put(name, slot, (word) => valueIn(word, shape))
	for (const [list, { members, closes }] of Object.entries(lists)) {
		for (const member of members) values[`${list} ${member}`] = member
		if (closes) continue
		// Not read to its end, or broken. Of the rest only what was known is judged: a member has a link of its own.
		for (const name of Object.keys(known?.values ?? {})) {
			const { change, member } = placeOf(name)
			if (member === null || change !== list) continue
			if (BigInt(words.get(mappingSlot(member, mappingOf(change))) ?? 1) !== 0n) values[name] = member
		}
	}
	return { isSafe, values, ...(cut && { cut }) }
}

function cutOf(lists: Readonly<Record<string, Walk>>): CutLists | undefined {
	const all = Object.entries(lists)
	const isOpen = all.some(([, { next }]) => next !== null)
	const isLong = !isOpen && all.some(([, list]) => list.isLong)
	if (!isLong && !isOpen) return undefined
	const why = isLong
		? `its owners or modules are more than ${MOST_MEMBERS}, and only the first ${MOST_MEMBERS} are read`
		: 'its list of owners or modules is not read to the end yet'
	const slotsOf = ([list, { members }]: (typeof all)[number]) =>
		members.map((member) => mappingSlot(member, mappingOf(list)))
	return { why, isLong, hints: isOpen ? all.flatMap(slotsOf) : [] }
}

function numberIn(words: Words, slot: Hash): bigint {
	return BigInt(words.get(slot) ?? 0)
}

/** It is a Safe; or its list of owners is not longer than slot 3 says so far, and has a threshold. */
function mayBeSafe(known: Contract | null, words: Words): boolean {
	if (known?.isSafe === true) return true
	if (!hasThreshold(words)) return false
	const owners = walk(words, safeSlots.owners)
	const isShort = BigInt(owners.members.length) <= numberIn(words, safeSlots.count)
	return provesSafe(words, owners) || (owners.next !== null && isShort)
}

/** As many owners as are read of a list, and a threshold between 1 and that number. */
function hasThreshold(words: Words): boolean {
	const [count, threshold] = [numberIn(words, safeSlots.count), numberIn(words, safeSlots.threshold.slot)]
	return count <= MOST_MEMBERS && threshold >= 1n && threshold <= count
}

/** The list of owners closes, with as many as slot 3 says. */
function provesSafe(words: Words, { closes, members }: Walk): boolean {
	return hasThreshold(words) && closes && BigInt(members.length) === numberIn(words, safeSlots.count)
}

interface Asking {
	readonly block: BlockRef
	readonly state: ContractState
	readonly signal: AbortSignal
}

/** Adds what functions answer, of the contracts and of those that rule them. */
async function withGetters(
	questions: readonly ContractQuestion[],
	readings: ReadonlyMap<Address, ContractReading>,
	{ block, state, signal }: Asking,
): Promise<ReadonlyMap<Address, ContractReading>> {
	/** By contract and function, to whom and under which name its answer belongs. */
	const wanted: {
		readonly owner: Address
		readonly name: string
		readonly asked: Address
		readonly signature: string
	}[] = []
	for (const { address, known, reads, isWhole = known === null } of questions) {
		const reading = readings.get(address)
		if (reading === undefined) continue
		const isNew = known === null || isWhole || codeOf(known) !== codeOf(reading)
		const mayAnswer = (name: string) => isNew || known?.values[name] !== undefined
		const names = new Set(getterPlaces.map(({ name }) => name).filter(mayAnswer))
		for (const read of reads) if (slotOfRead(read) === null) names.add(read)
		for (const name of names) wanted.push({ owner: address, name, asked: address, signature: name })
		for (const { through, signatures } of followed) {
			const asked = reading.values[through]
			if (asked === undefined) continue
			for (const signature of signatures)
				wanted.push({ owner: address, name: `${through} ${signature}`, asked, signature })
		}
	}
	const signatures = new Map<Address, Set<string>>()
	for (const { asked, signature } of wanted)
		signatures.set(asked, (signatures.get(asked) ?? new Set<string>()).add(signature))
	const asked = [...signatures].map(([address, all]) => ({ address, signatures: [...all] }))
	const answers =
		asked.length === 0 ? new Map<Address, ReadonlyMap<string, Hash>>() : await state.getters(asked, block, signal)
	const values = new Map<Address, Record<string, Hex>>()
	for (const [address, reading] of readings) values.set(address, { ...reading.values })
	const knownOf = new Map(questions.map(({ address, known }) => [address, known]))
	for (const { owner, name, asked, signature } of wanted) {
		const word = answers.get(asked)?.get(signature)
		const { shape } = placeOf(name)
		// A function that fails keeps its value: one that was taken away shows in the implementation.
		const now = word === undefined || !isOfShape(word, shape) ? knownOf.get(owner)?.values[name] : answered(word, shape)
		const own = values.get(owner)
		if (own !== undefined && now !== undefined) own[name] = now
	}
	return new Map(
		[...readings].map(([address, reading]) => [address, { ...reading, values: values.get(address) ?? {} }]),
	)
}

/** Zero is kept: it shows that the function answers. */
function answered(word: Hash, shape: Parameters<typeof valueIn>[1]): Hex {
	return valueIn(word, shape) ?? (shape === 'address' ? `0x${'0'.repeat(40)}` : word)
}

/** The code that answers: the contract's own, and what it runs by delegatecall. */
function codeOf({ codeHash, values }: Pick<ContractReading, 'codeHash' | 'values'>): string {
	const runs = Object.keys(values).filter(
		(name) => placeOf(name).change === 'implementation' && placeOf(name).slot !== null,
	)
	return [codeHash, values.beacon, values['safe.singleton'], ...runs.toSorted().map((name) => values[name])].join()
}
