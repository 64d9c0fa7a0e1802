import type { AlertData, Lookalike } from '../../model/alert.js'
import type { Address } from '../../model/glossary.js'
import type { Payee } from '../../model/state.js'

/**
 * Finds addresses made to be confused with others: their first and last hex digits agree, and most wallets show only
 * these. 4 and 4 digits are marked; 3 and 4 if the amount equals the amount paid, or is 0. With 1,000 payees and 1,000
 * other watches, a random address agrees by chance with a probability of 8.1 in ten million; to keep it that low, the
 * weaker rule holds for the latest 100 payees only.
 */
const STRONG = { prefix: 4, suffix: 4 }
const WEAK = { prefix: 3, suffix: 4 }
const WEAK_PAYEES = 100

/** Addresses that an attacker may imitate. */
export interface Anchors {
	/** In the order of `withPayee`. */
	readonly payees: readonly Payee[]
	/** Other watches. */
	readonly watched: readonly Address[]
}

export interface Imitation extends Pick<Lookalike, 'prefix' | 'suffix'> {
	readonly of: Address
	/** Whether the watch has paid the address; otherwise the address is a watch. */
	readonly isPaid: boolean
}

/**
 * The anchors that a counterparty imitates. Anchors that no attacker can have chosen come first, and among them the
 * closest matches. A counterparty that is itself an anchor imitates none; but one paid only in transactions of others,
 * as anyone can make a watched contract do, is checked against the anchors that the watch chose.
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

/** Whether the watch paid it only in transactions of others. */
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

/** The counterparty of an alert; null if there is none that could imitate. */
export function counterpartyOf({ direction, from, to, contractAddress, kind }: AlertData): Address | null {
	if (direction === 'self' || contractAddress !== undefined || (kind !== 'transfer' && kind !== 'token')) return null
	const other = direction === 'in' ? from : to
	const lower = other === null ? null : (other.toLowerCase() as Address)
	return lower === null || BigInt(lower) === 0n ? null : lower
}

/**
 * Most payees of one watch; most of a network, shared by its watches; guaranteed payees of each watch; most watches
 * with payees. Payees from transactions of others have the same limits again.
 */
const MOST = 1_000
const MOST_OF_ALL = 10_000
const LEAST = 10
const MOST_LISTS = 1_000

export type Payees = ReadonlyMap<Address, readonly Payee[]>

/** Adds a payee as the latest of its kind; null: no change. Those of others' transactions never displace its own. */
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

/** How many payees of this kind the watch may have; null if too many watches have payees. */
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
