import type { AlertData, Lookalike } from '../model/alert.js'
import type { Address } from '../model/glossary.js'
import type { Payee } from '../model/state.js'

/**
 * Addresses that are made to be taken for others: their first and last hex digits agree, which is all that most wallets
 * show. Four and four are marked; three and four where the amount is the same as was paid, or nothing. A random address
 * agrees so with one of 1,000 payees and 1,000 other watches in less than one of a million cases (8.1 of ten million),
 * and for that the weaker rule holds for the latest 100 payees only.
 */
const STRONG = { prefix: 4, suffix: 4 }
const WEAK = { prefix: 3, suffix: 4 }
const WEAK_PAYEES = 100

/** Whom a watch may be made to pay in the place of another. */
export interface Anchors {
	/** As `withPayee` orders them. */
	readonly payees: readonly Payee[]
	/** Other watches. */
	readonly watched: readonly Address[]
}

export interface Imitation extends Pick<Lookalike, 'prefix' | 'suffix'> {
	readonly of: Address
	/** The watch has paid it; else it is a watch. */
	readonly isPaid: boolean
}

/**
 * Which anchors a counterparty imitates: first those that no stranger can have chosen, of each the nearest first. One
 * that is an anchor itself imitates nobody; but one that was only paid in others' transactions, as anybody can make a
 * watched contract do, is checked against all that were chosen by the watch.
 */
export function imitations(candidate: Address, amount: string | null, anchors: Anchors): readonly Imitation[] {
	const { payees, watched } = anchors
	const known = payees.find(({ address }) => address === candidate)
	if (watched.includes(candidate) || (known !== undefined && !isOfOthers(known))) return []
	const found: (Imitation & { readonly isOfOthers: boolean })[] = []
	for (const [index, payee] of payees.entries()) {
		if (known !== undefined && isOfOthers(payee)) continue
		const isLate = payees.length - index <= WEAK_PAYEES
		const isLikely = isLate && amount !== null && (amount === '0' || amount === payee.amount)
		const agreed = agreement(candidate, payee.address, isLikely ? WEAK : STRONG)
		if (agreed === null) continue
		found.push({ of: payee.address, isPaid: true, isOfOthers: isOfOthers(payee), ...agreed })
	}
	for (const address of watched) {
		const agreed = agreement(candidate, address, STRONG)
		if (agreed !== null) found.push({ of: address, isPaid: false, isOfOthers: false, ...agreed })
	}
	return found
		.sort((one, other) => Number(one.isOfOthers) - Number(other.isOfOthers) || nearness(other) - nearness(one))
		.map(({ isOfOthers: _, ...imitation }) => imitation)
}

/** The watch has not paid it in a transaction of its own. */
export function isOfOthers({ startedBy }: Payee): boolean {
	return startedBy === 'other'
}

function nearness({ prefix, suffix }: Pick<Lookalike, 'prefix' | 'suffix'>): number {
	return prefix + suffix
}

function agreement(one: Address, other: Address, least: Pick<Lookalike, 'prefix' | 'suffix'>) {
	let prefix = 0
	while (prefix < 40 && one[2 + prefix] === other[2 + prefix]) prefix++
	if (prefix < least.prefix) return null
	let suffix = 0
	while (suffix < 40 && one[41 - suffix] === other[41 - suffix]) suffix++
	return suffix < least.suffix ? null : { prefix, suffix }
}

/** The other side of an alert; null where there is none that could imitate. */
export function counterpartyOf({ direction, from, to, contractAddress, kind }: AlertData): Address | null {
	if (direction === 'self' || contractAddress !== undefined || (kind !== 'transfer' && kind !== 'token')) return null
	const other = direction === 'in' ? from : to
	const lower = other === null ? null : (other.toLowerCase() as Address)
	return lower === null || BigInt(lower) === 0n ? null : lower
}

/**
 * Of one watch; of a network, of which each watch may take what is left; and what a watch has in any case. Of a network
 * there is as much again for those who were paid in others' transactions.
 */
const MOST = 1_000
const MOST_OF_ALL = 10_000
const LEAST = 10
const MOST_LISTS = 1_000

export type Payees = ReadonlyMap<Address, readonly Payee[]>

/**
 * The payees of a watch with one more, which is the latest of its sort; null when nothing changes. Those of its own
 * transactions come last, and no payment of another's makes one of them leave, neither of this watch nor of others.
 */
export function withPayee(all: Payees, watch: Address, payee: Payee): readonly Payee[] | null {
	const before = all.get(watch) ?? []
	const known = before.find(({ address }) => address === payee.address)
	const isOwn = payee.startedBy === 'watch'
	if (known?.startedBy === 'watch' && !isOwn) return null
	if (known?.amount === payee.amount && known.startedBy === payee.startedBy) return null
	const room = roomFor(all, watch, isOwn)
	if (room === null) return null
	const left = before.filter((one) => one !== known)
	const own = left.filter(isOwnPayee)
	const rest = left.filter((one) => !isOwnPayee(one))
	if (isOwn) {
		const mine = latest([...own, payee], room)
		return [...latest(rest, MOST - mine.length), ...mine]
	}
	const others = latest([...rest, payee], Math.min(room, MOST - own.length))
	return others.length === 0 ? null : [...others, ...own]
}

/** Of its own payees, or of others': as many as there is room for; null where there are lists enough. */
function roomFor(all: Payees, watch: Address, isOwn: boolean): number | null {
	let elsewhere = 0
	let lists = 0
	for (const [address, list] of all) {
		if (address === watch) continue
		const count = isOwn ? ownCount(list) : list.length - ownCount(list)
		elsewhere += count
		if (count > 0) lists++
	}
	return lists >= MOST_LISTS ? null : Math.max(LEAST, Math.min(MOST, MOST_OF_ALL - elsewhere))
}

const ownCounts = new WeakMap<readonly Payee[], number>()

function isOwnPayee({ startedBy }: Payee): boolean {
	return startedBy === 'watch'
}

function ownCount(list: readonly Payee[]): number {
	let count = ownCounts.get(list)
	if (count === undefined) {
		count = list.filter(isOwnPayee).length
		ownCounts.set(list, count)
	}
	return count
}

function latest(list: readonly Payee[], most: number): readonly Payee[] {
	return list.slice(Math.max(0, list.length - most))
}
