import { followed, isOfShape, placeOf, valueIn } from '../../core/control/places.js'
import type { BlockRef } from '../../model/chain.js'
import type { Contract, ContractState } from '../../model/contract.js'
import type { Address, Clock } from '../../model/glossary.js'

type Contracts = ReadonlyMap<Address, Contract>

/** Rotates through contracts that no frame entered. Its memory is lost at a restart. */
export interface ContractRotation {
	/** The contracts to read now; empty: it is not their turn yet. */
	next(contracts: Contracts): readonly Address[]
	/**
	 * Asks beacons and admins, which no frame to the proxy shows, some of them in turn. Resolves to the contracts that
	 * depend on one whose answer changed, each with the first block that can have changed it. Throws RpcError.
	 */
	follow(
		contracts: Contracts,
		block: BlockRef,
		state: ContractState,
		signal: AbortSignal,
	): Promise<ReadonlyMap<Address, bigint>>
	/** First block after the last reading of a contract. */
	from(address: Address, contract: Contract): bigint
	/** A frame entered them in this block. */
	wereEntered(addresses: Iterable<Address>, block: bigint): void
	/** Whether a frame entered the contract from this block on, as far as this process has seen. */
	isEntered(address: Address, from: bigint): boolean
	/** They were read after this block. */
	wereRead(addresses: Iterable<Address>, block: bigint): void
}

/** Each contract is read within this time, at most this many together and as often as that takes. */
const ROUND_MS = 60 * 60_000
const MOST_TOGETHER = 100
const LONGEST_PAUSE_MS = 5 * 60_000
/** Functions in one call. */
const MOST_ASKED = 80

export interface ContractRotationOptions {
	readonly clock: Clock
	readonly random?: () => number
}

export function createContractRotation({ clock, random = Math.random }: ContractRotationOptions): ContractRotation {
	const readTo = new Map<Address, bigint>()
	/** Block at which those that a contract depends on were asked. */
	const followedTo = new Map<Address, bigint>()
	const enteredAt = new Map<Address, bigint>()
	let dueMs = clock()
	let at: number | null = null
	let followedAt = 0
	/** The block after which followed beacons and admins were read last: read again, they would answer the same. */
	let followedBlock: BlockRef['hash'] | null = null

	function some<T>(all: readonly T[], from: number, most: number): readonly T[] {
		const size = Math.min(most, all.length)
		return Array.from({ length: size }, (_, index) => all[(from + index) % all.length] as T)
	}

	function firstSince(other: bigint | undefined, address: Address, { readAt }: Contract): bigint {
		const blocks = [other ?? 0n, readTo.get(address) ?? 0n, readAt]
		return blocks.reduce((last, block) => (block > last ? block : last)) + 1n
	}

	return {
		next(contracts) {
			if (contracts.size === 0 || clock() < dueMs) return []
			dueMs = clock() + Math.min(LONGEST_PAUSE_MS, (ROUND_MS * MOST_TOGETHER) / contracts.size)
			// The first turn begins at a random contract. With `once`, each run is a first turn: from a fixed place, or one
			// that follows from the block number, some contracts might never be read.
			at ??= contracts.size <= MOST_TOGETHER ? 0 : Math.floor(random() * contracts.size)
			const due = some([...contracts.keys()], at, MOST_TOGETHER)
			at = (at + due.length) % contracts.size
			return due
		},
		async follow(contracts, block, state, signal) {
			const all = [...contracts].flatMap(([owner, { values }]) =>
				followed.flatMap(({ through, signatures }) => {
					const asked = values[through] as Address | undefined
					if (asked === undefined) return []
					const own = signatures.filter((signature) => values[`${through} ${signature}`] !== undefined)
					return own.map((signature) => ({ owner, asked, signature, name: `${through} ${signature}` }))
				}),
			)
			if (all.length === 0 || block.hash === followedBlock) return new Map()
			const due = some(all, followedAt, MOST_ASKED)
			followedAt = (followedAt + due.length) % all.length
			const signatures = new Map<Address, Set<string>>()
			for (const { asked, signature } of due)
				signatures.set(asked, (signatures.get(asked) ?? new Set<string>()).add(signature))
			const questions = [...signatures].map(([address, own]) => ({ address, signatures: [...own] }))
			const answers = await state.getters(questions, block, signal)
			followedBlock = block.hash
			const changed = due.filter(({ owner, asked, signature, name }) => {
				const word = answers.get(asked)?.get(signature)
				const { shape } = placeOf(name)
				const before = contracts.get(owner)?.values[name]
				if (word === undefined || before === undefined || !isOfShape(word, shape)) return false
				return BigInt(valueIn(word, shape) ?? 0) !== BigInt(before)
			})
			const moved = new Map(
				changed.flatMap(({ owner }) => {
					const contract = contracts.get(owner)
					return contract === undefined ? [] : [[owner, firstSince(followedTo.get(owner), owner, contract)] as const]
				}),
			)
			for (const { owner } of due) if (!moved.has(owner)) followedTo.set(owner, block.number)
			return moved
		},
		from: (address, contract) => firstSince(undefined, address, contract),
		wereEntered(addresses, block) {
			for (const address of addresses) enteredAt.set(address, block)
		},
		isEntered: (address, from) => (enteredAt.get(address) ?? -1n) >= from,
		wereRead(addresses, block) {
			for (const address of addresses) readTo.set(address, block)
		},
	}
}
