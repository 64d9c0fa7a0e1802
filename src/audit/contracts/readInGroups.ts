/** Reads contracts so that one that cannot be read fails alone, and remembers which are not read. */

import { signalWithin } from '../../base/waits/deadline.js'
import { addTo, cut } from '../../core/lists.js'
import { RpcError } from '../../errors.js'
import type { BlockRef } from '../../model/chain.js'
import type { ContractState, UnreadContract } from '../../model/contract.js'
import type { Address, Clock, Hash } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import { type ContractQuestion, type ContractReading, type CutLists, readContracts } from './readContracts.js'

/** Time limit for one reading; what it found is then compared and committed. */
const READ_MS = 6_000
/** Failed groups, before any group was read: then it is the endpoint. */
const MOST_FAILED = 2
/** After this many failures while others are read, a contract does not hold back its blocks any more. */
const MOST_TRIES = 2
/** In one line of the log. */
const MOST_NAMED = 10

export interface ContractReads {
	/** Readings of the contracts that could be read. Throws RpcError where none could. */
	read(
		questions: readonly ContractQuestion[],
		block: BlockRef,
		state: ContractState,
		signal: AbortSignal,
	): Promise<ReadonlyMap<Address, ContractReading>>
	/** Whether it fails again and again while others are read: the rotation alone reads it then. */
	isLeft(address: Address): boolean
	/** The contract may have changed without a frame. */
	askAgain(address: Address): void
	/** Contracts to read with the next poll, including failed ones and ones whose list was not read to its end. */
	toRead(): readonly Address[]
	/** Forgets those for which this is false. */
	keep(isWatched: (address: Address) => boolean): void
	/** What is not read, the longest first. */
	unread(): readonly UnreadContract[]
}

interface Unread {
	readonly why: string
	readonly sinceMs: number
	/** Failures in a row, or readings that got no further in a list. */
	readonly tries: number
	/** At most as many contracts are read together with it: after a failure, half of those that failed with it. */
	readonly together: number
	/** Readings of any contract before the first failure; null: it is read but for its lists. */
	readonly readsBefore: number | null
	readonly hints: readonly Hash[]
	readonly isLong: boolean
}

/** What it remembers is lost at a restart: then each contract is read in turn. */
export function createContractReads({ clock, log }: { readonly clock: Clock; readonly log?: Log }): ContractReads {
	const unread = new Map<Address, Unread>()
	const asked = new Set<Address>()
	let reads = 0
	/** At most as many are read together: after a reading whose first group took all its time, half of that group. */
	let most = Number.POSITIVE_INFINITY

	function noteRead(address: Address, cut: CutLists | undefined, group: number): void {
		reads++
		asked.delete(address)
		const before = unread.get(address)
		unread.delete(address)
		if (cut === undefined) return
		const isFurther = cut.isLong || cut.hints.length > (before?.hints.length ?? 0)
		const tries = isFurther ? 0 : (before?.tries ?? 0) + 1
		const together = isFurther ? Number.POSITIVE_INFINITY : halfOf(group)
		if (cut.isLong && before?.isLong !== true)
			log?.warn({ contract: address }, `a contract is not read whole: ${cut.why}`)
		unread.set(address, { ...cut, sinceMs: before?.sinceMs ?? clock(), tries, together, readsBefore: null })
	}

	/** Whether it is time to say so. */
	function noteFailed(address: Address, why: string, group: number): boolean {
		const { sinceMs = clock(), tries = 0, readsBefore, hints = [] } = unread.get(address) ?? {}
		const failed = { why, sinceMs, tries: tries + 1, together: halfOf(group), readsBefore: readsBefore ?? reads }
		unread.set(address, { ...failed, hints, isLong: false })
		return tries + 1 === MOST_TRIES
	}

	/** Those that did not fail come first and together. */
	function groupsOf(questions: readonly ContractQuestion[]): readonly (readonly ContractQuestion[])[] {
		const bySize = new Map<number, ContractQuestion[]>()
		for (const question of questions) {
			const { together = Number.POSITIVE_INFINITY, hints = [] } = unread.get(question.address) ?? {}
			addTo(bySize, together, hints.length === 0 ? question : { ...question, hints })
		}
		return [...bySize]
			.sort(([one], [other]) => (one > other ? -1 : 1))
			.flatMap(([together, all]) => cut(all, Math.min(together, most, all.length)))
	}

	return {
		async read(questions, block, state, outer) {
			const signal = signalWithin(READ_MS, outer)
			const readings = new Map<Address, ContractReading>()
			let failure: RpcError | null = null
			let failed = 0
			const given: Address[] = []
			for (const group of groupsOf(questions)) {
				try {
					for (const [address, one] of await readContracts(group, block, state, signal)) {
						readings.set(address, one)
						noteRead(address, one.cut, group.length)
					}
				} catch (error) {
					outer.throwIfAborted()
					if (!(error instanceof RpcError) && !signal.aborted) throw error
					if (error instanceof RpcError && error.kind === 'unsettled') throw error
					failure = error instanceof RpcError ? error : tooSlow
					for (const { address } of group) if (noteFailed(address, failure.message, group.length)) given.push(address)
					failed++
					if (signal.aborted && readings.size === 0) most = halfOf(group.length)
					if (signal.aborted || (readings.size === 0 && failed === MOST_FAILED)) break
				}
			}
			if (!signal.aborted) most *= 2
			if (given.length > 0)
				log?.warn(
					{ contracts: given.slice(0, MOST_NAMED), count: given.length, err: failure },
					'contracts are not read',
				)
			if (readings.size === 0 && failure !== null) throw failure
			return readings
		},
		isLeft(address) {
			const { tries = 0, readsBefore = null } = unread.get(address) ?? {}
			return readsBefore !== null && tries >= MOST_TRIES && reads > readsBefore
		},
		askAgain: (address) => void asked.add(address),
		toRead: () => [...asked, ...[...unread].flatMap(([address, { isLong }]) => (isLong ? [] : [address]))],
		keep(isWatched) {
			for (const address of unread.keys()) if (!isWatched(address)) unread.delete(address)
			for (const address of asked) if (!isWatched(address)) asked.delete(address)
		},
		unread: () =>
			[...unread]
				.map(([address, { why, sinceMs }]) => ({ address, why, forMs: clock() - sinceMs }))
				.sort((one, other) => other.forMs - one.forMs),
	}
}

const tooSlow = new RpcError(`no endpoint gave it within ${READ_MS / 1000} s`, {
	kind: 'no-data',
	endpoint: '',
	forNow: true,
})

function halfOf(group: number): number {
	return Math.max(1, Math.floor(group / 2))
}
