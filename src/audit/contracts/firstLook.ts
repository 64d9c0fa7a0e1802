/** The room looks at watched contracts. This file finds the watches that have code, and opens an entry for each. */

import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { type AddressTable, createAddressTable } from '../../core/packed/addressTable.js'
import { asksForContracts } from '../../kinds/all.js'
import type { BlockRef } from '../../model/chain.js'
import type { Contract, ContractState } from '../../model/contract.js'
import type { Address, Clock } from '../../model/glossary.js'
import type { NetworkState } from '../../model/state.js'
import type { Watch, WatchIndex } from '../../model/watch.js'
import { readContracts } from './readContracts.js'

/** Watches that are asked for their code in one poll; they fit one call. */
const MOST_ASKED = 2_000
/** After a failure. Some nodes never give code: on a fast chain, asking with each poll would double the requests. */
const REST_MS = 30_000
/** Contracts that are read in one poll: about 20 calls. */
const MOST_READ = 250

export interface FirstLook {
	/**
	 * Entries to write: new ones at a block, and null for those that no watch asks for any more. Each watch without an
	 * entry is asked for its code once, at most 2,000 of them at a time. Throws RpcError; asks the same again 30 s later.
	 */
	open(
		at: BlockRef,
		facts: { readonly watches: WatchIndex; readonly contracts: NetworkState['contracts'] },
		signal: AbortSignal,
	): Promise<ReadonlyMap<Address, Contract | null>>
	/** The address may have code by now: it is asked again. */
	askAgain(address: Address): void
	/** Any watch without an entry may have code by now: each is asked again. */
	askAll(): void
}

export interface FirstLookOptions {
	readonly state: ContractState
	readonly clock: Clock
	/** Whether a watch asks what rules it. Default: by its kinds. */
	readonly asks?: (watch: Pick<Watch, 'kinds'>) => boolean
}

/**
 * What it remembers is lost at a restart: then watches without an entry are asked once more. It holds no address as
 * text beyond those of contracts, since there may be a million watches.
 */
export function createFirstLook({ state, clock, asks = asksForContracts }: FirstLookOptions): FirstLook {
	let watched: WatchIndex = new Map()
	/** The watches that are still to be visited; null: none. */
	let walk: Iterator<readonly [Address, readonly Watch[]]> | null = null
	/** Watches that had no code when they were asked. */
	let without = createAddressTable()
	/** Those that this walk found, where `without` is of an earlier one. */
	let visited: AddressTable | null = null
	/** To be asked before the walk goes on. */
	const pending = new Set<Address>()
	/** Those that have an entry, or had code when they were asked. */
	const found = new Set<Address>()

	let restsUntilMs = 0

	const isWanted = (address: Address) => watched.get(address)?.some(asks) === true

	function follow(watches: WatchIndex): void {
		if (watches === watched) return
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

	/** Fills `pending` with those that are next. */
	async function visit(contracts: ReadonlyMap<Address, Contract>): Promise<void> {
		while (walk !== null && pending.size < MOST_ASKED) {
			const next = walk.next()
			if (next.done === true) {
				walk = null
				// Without those that are not watched any more.
				without = visited ?? without
				visited = null
				return
			}
			const [address, list] = next.value
			if (contracts.has(address)) found.add(address)
			else if (without.has(address)) visited?.add(address)
			else if (list.some(asks)) pending.add(address)
			if (isSliceOver()) await nextSlice()
		}
	}

	return {
		async open(at, { watches, contracts }, signal) {
			follow(watches)
			const changes = new Map<Address, Contract | null>()
			for (const address of contracts.keys()) if (!isWanted(address)) changes.set(address, null)
			// It was dropped with the block of its first look, or the commit failed.
			for (const address of found) {
				if (contracts.has(address)) continue
				found.delete(address)
				pending.add(address)
			}
			for (const address of pending) {
				if (contracts.has(address)) found.add(address)
				if (contracts.has(address) || !isWanted(address)) pending.delete(address)
			}
			await visit(contracts)
			const some = [...pending].slice(0, MOST_ASKED)
			if (some.length === 0 || clock() < restsUntilMs) return changes
			restsUntilMs = clock() + REST_MS
			const hashes = await state.codeHashes(some, at, signal)
			const read = [...hashes].slice(0, MOST_READ)
			const questions = read.map(([address, codeHash]) => {
				return { address, codeHash, known: null, reads: readsOf(watches, address) }
			})
			const readings = await readContracts(questions, at, state, signal)
			restsUntilMs = 0
			for (const address of some) {
				const { codeHash = null, isSafe = false, values = {} } = readings.get(address) ?? {}
				// The others that have code are read with the next poll.
				if (hashes.has(address) && codeHash === null) continue
				pending.delete(address)
				if (codeHash === null) {
					noteWithout(address)
					continue
				}
				found.add(address)
				changes.set(address, { since: at.number, readAt: at.number, codeHash, isSafe, values })
			}
			return changes
		},
		askAgain(address) {
			found.delete(address)
			if (isWanted(address)) pending.add(address)
		},
		askAll() {
			watched = new Map()
			without = createAddressTable()
		},
	}
}

/** The values that watches of an address name besides. */
export function readsOf(watches: WatchIndex, address: Address): readonly string[] {
	const lists = watches.get(address)?.map(({ reads = [] }) => reads) ?? []
	return [...new Set(lists.flat())]
}
