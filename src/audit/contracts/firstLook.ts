/** The room looks at watched contracts. This file finds the watches that have code, and opens an entry for each. */

import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { type AddressTable, createAddressTable } from '../../core/packed/addressTable.js'
import { asksForContracts } from '../../kinds/all.js'
import type { BlockRef } from '../../model/chain.js'
import type { Contract, ContractState } from '../../model/contract.js'
import type { Address, Clock } from '../../model/glossary.js'
import type { NetworkState } from '../../model/state.js'
import type { Coverage, Watch, WatchIndex } from '../../model/watch.js'
import type { ContractReads } from './readInGroups.js'

/** Watches that are asked for their code in one poll; they fit one call. */
const MOST_ASKED = 2_000
/** After a failure. Some nodes never give code: on a fast chain, asking with each poll would double the requests. */
const REST_MS = 30_000
/** Contracts that are read in one poll: about 12 calls. */
const MOST_READ = 100
/** Watches without code are asked again this often at most: some get code by an authorisation that was not seen. */
const AGAIN_MS = 5 * 60_000
/** For each of them; a million are asked in 67 minutes. */
const AGAIN_EACH_MS = 4
/** Most blocks before the first look of which events are read: where it is known when the code came, and else. */
const [MOST_BEHIND, MOST_UNKNOWN] = [1_024n, 128n]

export interface FirstLook {
	/**
	 * Entries to write: new ones at a block, and null for those that no watch asks for any more. Each watch without an
	 * entry is asked for its code once and every few minutes, at most 2,000 of them at a time. Throws RpcError; asks the
	 * same again 30 s later.
	 */
	open(
		at: BlockRef,
		facts: { readonly watches: WatchIndex } & Pick<NetworkState, 'contracts' | 'covered'>,
		signal: AbortSignal,
	): Promise<ReadonlyMap<Address, Contract | null>>
	/** The address may have code since this block: it is asked again. */
	askAgain(address: Address, since: bigint): void
	/** Whether any watch that asks had no code. */
	awaitsCode(): boolean
}

export interface FirstLookOptions {
	readonly state: ContractState
	readonly reads: ContractReads
	readonly clock: Clock
	/** Whether a watch asks what rules it. Default: by its kinds. */
	readonly asks?: (watch: Pick<Watch, 'kinds'>) => boolean
}

/**
 * What it remembers is lost at a restart: then watches without an entry are asked once more. It holds no address as
 * text beyond those of contracts, since there may be a million watches.
 */
export function createFirstLook({ state, reads, clock, asks = asksForContracts }: FirstLookOptions): FirstLook {
	let watched: WatchIndex = new Map()
	/** The watches that are still to be visited; null: none. */
	let walk: Iterator<readonly [Address, readonly Watch[]]> | null = null
	/** Watches that had no code when they were asked. */
	let without = createAddressTable()
	/** Those that this walk found, where `without` is of an earlier one. */
	let visited: AddressTable | null = null
	/** Whether the walk asks those in `without`, too; from when on the next one does. */
	let isAgain = false
	let againAtMs = Number.POSITIVE_INFINITY
	/** Those in `without` had none after this block; and where this walk began. */
	let [withoutAt, walkAt] = [0n, 0n]
	/** To be asked before the walk goes on: since which block each may have code; null: not known. */
	const pending = new Map<Address, bigint | null>()
	/** Those that have an entry, or had code when they were asked. */
	const found = new Set<Address>()

	let restsUntilMs = 0

	const isWanted = (address: Address) => watched.get(address)?.some(asks) === true

	function follow(watches: WatchIndex, at: bigint): void {
		const isDue = walk === null && clock() >= againAtMs
		if (watches === watched && !isDue) return
		isAgain = isDue || (isAgain && walk !== null) || without.size === 0
		if (isDue || without.size === 0) walkAt = at
		reads.keep((address) => watches.has(address))
		watched = watches
		// A million watches share a few rules.
		const isAsked = watches.rules?.().some(asks) !== false
		walk = isAsked ? watches[Symbol.iterator]() : null
		visited = isAsked && without.size > 0 ? createAddressTable() : null
		if (!isAsked) without = createAddressTable()
	}

	function noteWithout(address: Address): void {
		without.add(address)
		visited?.add(address)
	}

	function note(address: Address, since: bigint | null): void {
		const before = pending.get(address) ?? since
		pending.set(address, since !== null && before !== null && before < since ? before : since)
	}

	/** The first block of a watch that has just begun. Its code may be read much later; its events count from here. */
	function beginning(coverage: Coverage | undefined, at: bigint): bigint | null {
		return coverage !== undefined && coverage.since + MOST_UNKNOWN >= at ? coverage.since : null
	}

	/** Fills `pending` with those that are next. */
	async function visit({ contracts, covered }: Pick<NetworkState, 'contracts' | 'covered'>, at: bigint): Promise<void> {
		while (walk !== null && pending.size < MOST_ASKED) {
			const next = walk.next()
			if (next.done === true) {
				walk = null
				// Without those that are not watched any more.
				without = visited ?? without
				visited = null
				if (isAgain) withoutAt = walkAt
				isAgain = false
				againAtMs = clock() + Math.max(AGAIN_MS, without.size * AGAIN_EACH_MS)
				return
			}
			const [address, list] = next.value
			if (contracts.has(address)) found.add(address)
			else if (without.has(address) && !isAgain) visited?.add(address)
			else if (list.some(asks))
				note(address, without.has(address) ? withoutAt + 1n : beginning(covered.get(address), at))
			if (isSliceOver()) await nextSlice()
		}
	}

	return {
		async open(at, { watches, contracts, covered }, signal) {
			follow(watches, at.number)
			const changes = new Map<Address, Contract | null>()
			for (const address of contracts.keys()) if (!isWanted(address)) changes.set(address, null)
			// It was dropped with the block of its first look, or the commit failed.
			for (const address of found) {
				if (contracts.has(address)) continue
				found.delete(address)
				note(address, null)
			}
			for (const address of pending.keys()) {
				if (contracts.has(address)) found.add(address)
				if (contracts.has(address) || !isWanted(address)) pending.delete(address)
			}
			await visit({ contracts, covered }, at.number)
			const some = [...pending.keys()].slice(0, MOST_ASKED)
			if (some.length === 0 || clock() < restsUntilMs) return changes
			restsUntilMs = clock() + REST_MS
			const hashes = await state.codeHashes(some, at, signal)
			const read = [...hashes].slice(0, MOST_READ)
			const asked = new Set(read.map(([address]) => address))
			const questions = read.map(([address, codeHash]) => {
				return { address, codeHash, known: null, reads: readsOf(watches, address) }
			})
			const readings = await reads.read(questions, at, state, signal)
			restsUntilMs = 0
			for (const address of some) {
				const { codeHash = null, isSafe = false, values = {}, cut } = readings.get(address) ?? {}
				const since = pending.get(address) ?? null
				// The others that have code are read with the next poll, those of which a part is not read after them.
				if (hashes.has(address) && (codeHash === null || cut?.isLong === false)) {
					if (asked.has(address)) {
						pending.delete(address)
						pending.set(address, since)
					}
					continue
				}
				pending.delete(address)
				if (codeHash === null) {
					noteWithout(address)
					continue
				}
				found.add(address)
				const logsFrom = firstLog(since, covered.get(address)?.since ?? at.number, at.number)
				const isBehind = logsFrom <= at.number
				const entry = { since: at.number, readAt: at.number, codeHash, isSafe, values }
				changes.set(address, { ...entry, ...(isBehind && { logsFrom }) })
			}
			return changes
		},
		askAgain(address, since) {
			if (!isWanted(address)) return
			if (found.delete(address)) reads.askAgain(address)
			note(address, since)
		},
		awaitsCode: () => without.size > 0,
	}
}

/** `since`: the block since which it may have code; null: not known. `covered`: the first block of its watch. */
function firstLog(since: bigint | null, covered: bigint, at: bigint): bigint {
	const earliest = at - (since === null ? MOST_UNKNOWN : MOST_BEHIND)
	return [since ?? 0n, covered, earliest].reduce((one, other) => (one > other ? one : other))
}

/** The values that watches of an address name besides. */
export function readsOf(watches: WatchIndex, address: Address): readonly string[] {
	const lists = watches.get(address)?.map(({ reads = [] }) => reads) ?? []
	return [...new Set(lists.flat())]
}
