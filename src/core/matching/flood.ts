import type { SeenEvent } from '../../kinds/list.js'
import { noTokens } from '../../kinds/tokenRules.js'
import type { Address } from '../../model/glossary.js'
import type { KnownTokens, TokenEvent } from '../../model/token.js'
import type { Watch, WatchIndex } from '../../model/watch.js'
import type { Payees } from './lookalike.js'
import type { Match } from './match.js'

/**
 * A spammer can log a hundred thousand transfers of unknown tokens in one transaction. A watch gets at most 100 alerts
 * of them per block. Tokens that the network or a watch of the address names have no limit, except for transfers of
 * zero, which anyone can log.
 */
const mostUnknown = 100
/** Most contracts named in the last alert, of those with transfers that get no alert. */
const mostNamed = 20

/** In a block: calls of one function of a watch, by success, and changes of control that one event reports. */
const mostAlike = 20

export type Rest = RestOfTokens | RestOfAlike

/** For the first call or change above the limit: how many it stands for, itself included. */
export interface RestOfAlike {
	readonly count: number
}

export interface RestOfTokens {
	/** Number of transfers of the same watch in the same block that get no alert. */
	readonly more: number
	/** Their contracts, at most 20: those without any alert first, in the order of the chain. */
	readonly moreContracts: readonly Address[]
}

export interface FloodGate<T> {
	/** Call in the order of the chain for every event, watched or not, before its matches are added. */
	note(event: SeenEvent): void
	/** Call in the order of the chain. */
	add(one: T): void
	/** The matches that get an alert, in the order of the chain. The last of a flood carries the rest. */
	kept(): readonly { readonly one: T; readonly rest: Rest | null }[]
}

interface Entry<T> {
	readonly one: T
	readonly rank: Rank | null
	isKept: boolean
	rest: Rest | null
}

/** Lower is better, compared from left to right; on a tie the earlier entry is better. */
type Rank = readonly [cause: number, round: number]

interface Flood<T> {
	readonly block: bigint
	readonly chosen: Entry<T>[]
	readonly ofContract: Map<Address, number>
	readonly ofTransaction: Map<string, number>
	dropped: number
}

/**
 * Chooses which transfers of a flood get an alert, by the chain and the payees alone. First come transfers in
 * transactions that the watch sent, then outgoing ones, then tokens whose contract the watch paid before, then the
 * others, then transfers of zero. Within each of these, the first transfer of each contract and transaction comes
 * before the second, so that one contract takes only the places that others leave.
 */
export function createFloodGate<T extends { readonly match: Match<SeenEvent> }>(
	known: KnownTokens = noTokens,
	payees: Payees = new Map(),
	watches: WatchIndex = new Map(),
): FloodGate<T> {
	/** By watchlist and address, since a watch may be a new object at each access. */
	const floods = new Map<string, Flood<T>>()
	/** By watch and what is alike. `last`: the alert that stands for those above the limit. */
	const alike = new Map<string, { readonly block: bigint; count: number; last: Entry<T> | null }>()
	const entries: Entry<T>[] = []
	/** `payer payee` pairs of this part; the payees contain earlier ones. */
	const paid = new Set<string>()

	function add(one: T): void {
		const { event, watch } = one.match
		if (event.kind === 'call') {
			const outcome = event.failure === null ? 'succeeded' : 'failed'
			addAlike(one, `${event.selector} ${outcome}`)
			return
		}
		if (event.kind === 'control') {
			addAlike(one, event.event ?? event.change)
			return
		}
		if (
			event.kind !== 'token' ||
			(event.amountRaw !== 0n && isNamed(watches.get(watch.address) ?? [watch], event.contract, known))
		) {
			entries.push({ one, rank: null, isKept: true, rest: null })
			return
		}
		const key = `${watch.network} ${watch.watchlist} ${watch.address}`
		let flood = floods.get(key)
		if (flood === undefined || flood.block !== event.block.number) {
			if (flood !== undefined) finish(flood)
			flood = { block: event.block.number, chosen: [], ofContract: new Map(), ofTransaction: new Map(), dropped: 0 }
			floods.set(key, flood)
		}
		const round = Math.max(count(flood.ofContract, event.contract), count(flood.ofTransaction, event.txHash))
		choose(flood, { one, rank: [causeOf(event, one.match), round], isKept: true, rest: null })
	}

	function addAlike(one: T, what: string): void {
		const { watch, event } = one.match
		const key = `${watch.network} ${watch.watchlist} ${watch.address} ${what}`
		let flood = alike.get(key)
		if (flood === undefined || flood.block !== event.block.number) {
			flood = { block: event.block.number, count: 0, last: null }
			alike.set(key, flood)
		}
		flood.count++
		if (flood.last !== null) flood.last.rest = { count: flood.count - mostAlike }
		else {
			const entry: Entry<T> = { one, rank: null, isKept: true, rest: null }
			entries.push(entry)
			if (flood.count > mostAlike) flood.last = entry
		}
	}

	function choose(flood: Flood<T>, entry: Entry<T>): void {
		const { chosen } = flood
		if (chosen.length >= mostUnknown) {
			flood.dropped++
			const worst = chosen.reduce((last, each) => (isBetter(each, last) ? last : each))
			if (!isBetter(entry, worst)) return
			worst.isKept = false
			chosen.splice(chosen.indexOf(worst), 1)
		}
		chosen.push(entry)
		entries.push(entry)
	}

	function causeOf({ from, amountRaw, contract, initiator }: TokenEvent, { watch }: Match<SeenEvent>): number {
		if (amountRaw === 0n) return 4
		if (initiator === watch.address) return 0
		if (from === watch.address) return 1
		const isPaid =
			paid.has(`${watch.address} ${contract}`) || payees.get(watch.address)?.some(({ address }) => address === contract)
		return isPaid === true ? 2 : 3
	}

	return {
		note(event) {
			if (event.kind !== 'transfer' && event.kind !== 'deployment' && event.kind !== 'request') return
			if (event.from === null) return
			if (event.valueWei > 0n && event.initiator === event.from) paid.add(`${event.from} ${event.to}`)
		},
		add,
		kept() {
			for (const flood of floods.values()) finish(flood)
			floods.clear()
			return entries.filter(({ isKept }) => isKept)
		},
	}
}

function isBetter<T>({ rank: one }: Entry<T>, { rank: other }: Entry<T>): boolean {
	const [cause = 0, round = 0] = one ?? []
	const [otherCause = 0, otherRound = 0] = other ?? []
	return cause < otherCause || (cause === otherCause && round < otherRound)
}

/** Attaches the transfers without an alert to the last transfer with one. */
function finish<T extends { readonly match: Match<SeenEvent> }>(flood: Flood<T>): void {
	const last = flood.chosen.at(-1)
	if (last === undefined || flood.dropped === 0) return
	const kept = new Map<Address, number>()
	for (const { one } of flood.chosen) if (one.match.event.kind === 'token') count(kept, one.match.event.contract)
	const dropped = [...flood.ofContract].filter(([contract, seen]) => seen > (kept.get(contract) ?? 0))
	const named = [
		...dropped.filter(([contract]) => !kept.has(contract)),
		...dropped.filter(([contract]) => kept.has(contract)),
	]
	last.rest = { more: flood.dropped, moreContracts: named.slice(0, mostNamed).map(([contract]) => contract) }
}

/** Returns the count so far, and increments it. */
function count<K>(counts: Map<K, number>, key: K): number {
	const before = counts.get(key) ?? 0
	counts.set(key, before + 1)
	return before
}

/** By any watch of the address: a receiver that several of them name is sent the alert of the first. */
function isNamed(watches: readonly Watch[], contract: Address, known: KnownTokens): boolean {
	return known.has(contract) || watches.some(({ tokens }) => tokens instanceof Object && tokens.has(contract))
}
