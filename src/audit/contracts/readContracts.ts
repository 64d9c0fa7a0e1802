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
import type { BlockRef } from '../../model/chain.js'
import type { Contract, ContractState, ContractValues, SlotQuestion } from '../../model/contract.js'
import type { Address, Hash, Hex } from '../../model/glossary.js'

/** A contract to be read. */
export interface ContractQuestion {
	readonly address: Address
	/** As it is remembered; null: at its first look. */
	readonly known: Contract | null
	/** Values that the watch names besides, such as `slot 7` and `governor()`. */
	readonly reads: readonly string[]
	/** Hash of its code after the block, where it was read already. */
	readonly codeHash?: Hash
	/** Whether functions that did not answer before are asked again. Default: at the first look only. */
	readonly isWhole?: boolean
}

/** A contract after one block. */
export interface ContractReading {
	/** Null: it has no code. */
	readonly codeHash: Hash | null
	readonly isSafe: boolean
	/** A place that could not be read has its earlier value. */
	readonly values: ContractValues
}

/** More members than this are not read of a list. */
const MOST_MEMBERS = 200

const common: readonly Hash[] = [
	...slotPlaces.map(({ slot }) => slot),
	safeSlots.singleton.slot,
	safeSlots.count,
	safeSlots.threshold.slot,
]

/** Of one contract: the common ones, and where the lists of a Safe begin. */
export const listedSlots = common.length + 2

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
	const found = new Map<Address, ContractReading>()
	for (const question of questions) {
		const { address, known } = question
		const codeHash = hashes.get(address) ?? null
		const own = words.get(address)
		if (codeHash === null || own === undefined) {
			found.set(address, { codeHash: null, isSafe: known?.isSafe ?? false, values: {} })
			continue
		}
		const { isSafe, values } = slotValues(question, own)
		found.set(address, { codeHash, isSafe, values })
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

/** The slots of all contracts. The lists of a Safe are followed from owner to owner, those that are known at once. */
async function readWords(
	questions: readonly ContractQuestion[],
	block: BlockRef,
	state: ContractState,
	signal: AbortSignal,
): Promise<ReadonlyMap<Address, Words>> {
	const words = new Map<Address, Map<Hash, Hash>>(questions.map(({ address }) => [address, new Map()]))
	let asked: readonly SlotQuestion[] = questions.map(({ address, known, reads }) => {
		return { address, slots: [...reads.flatMap((read) => slotOfRead(read) ?? []), ...listSlots(known)] }
	})
	for (let round = 0; asked.length > 0 && round <= MOST_MEMBERS; round++) {
		const found = await state.slots(round === 0 ? common : [], asked, block, signal)
		for (const [address, own] of found) for (const [slot, word] of own) words.get(address)?.set(slot, word)
		asked = questions.flatMap(({ address }) => {
			const own = words.get(address) ?? new Map()
			const next = [safeSlots.owners, safeSlots.modules].flatMap((mapping) => walk(own, mapping).next ?? [])
			return next.length === 0 ? [] : [{ address, slots: next }]
		})
	}
	return words
}

/** The slots of the lists: of a contract that may be a Safe, their beginnings and the known members. */
function listSlots(known: Contract | null): readonly Hash[] {
	const members = Object.keys(known?.values ?? {}).flatMap((name) => {
		const { member, change } = placeOf(name)
		return member === null ? [] : [mappingSlot(member, mappingOf(change))]
	})
	return [mappingSlot(sentinel, safeSlots.owners), mappingSlot(sentinel, safeSlots.modules), ...members]
}

function mappingOf(change: string): bigint {
	return change === 'safe.module' ? safeSlots.modules : safeSlots.owners
}

interface Walk {
	readonly members: readonly Address[]
	/** Whether the list leads back to where it begins. */
	readonly closes: boolean
	/** The slot to read next; null: the list ends, or was not read at all. */
	readonly next: Hash | null
}

/** Follows a linked list as far as it was read. */
function walk(words: Words, mapping: bigint): Walk {
	const members: Address[] = []
	const seen = new Set<Address>()
	let at: Address = sentinel
	while (members.length <= MOST_MEMBERS) {
		const slot = mappingSlot(at, mapping)
		const word = words.get(slot)
		if (word === undefined) return { members, closes: false, next: at === sentinel ? null : slot }
		// Anything else than an address is no link.
		if (BigInt(word) === 0n || BigInt(word) >= 1n << 160n) break
		at = `0x${word.slice(26)}`
		if (at === sentinel) return { members, closes: true, next: null }
		if (seen.has(at)) break
		seen.add(at)
		members.push(at)
	}
	return { members, closes: false, next: null }
}

function slotValues({ known, reads }: ContractQuestion, words: Words): Pick<ContractReading, 'isSafe' | 'values'> {
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
	const owners = walk(words, safeSlots.owners)
	const isSafe = known?.isSafe === true || provesSafe(words, owners)
	if (!isSafe) return { isSafe, values }
	for (const { name, slot, shape } of [safeSlots.singleton, safeSlots.threshold])
		put(name, slot, (word) => valueIn(word, shape))
	const modules = walk(words, safeSlots.modules)
	for (const member of owners.members) values[`safe.owner ${member}`] = member
	for (const member of modules.members) values[`safe.module ${member}`] = member
	return { isSafe, values }
}

/** The list of owners closes, with as many as slot 3 says, and slot 4 holds a threshold between 1 and that number. */
function provesSafe(words: Words, { closes, members }: Walk): boolean {
	const number = (slot: Hash) => BigInt(words.get(slot) ?? 0)
	const [count, threshold] = [number(safeSlots.count), number(safeSlots.threshold.slot)]
	return closes && count > 0n && BigInt(members.length) === count && threshold >= 1n && threshold <= count
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
