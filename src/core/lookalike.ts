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
	/** Latest last. */
	readonly payees: readonly Payee[]
	/** Other watches. */
	readonly watched: readonly Address[]
}

export interface Imitation extends Pick<Lookalike, 'prefix' | 'suffix'> {
	readonly of: Address
	/** The watch has paid it; else it is a watch. */
	readonly isPaid: boolean
}

/** Which anchors a counterparty imitates, the nearest first. One that is an anchor itself imitates nobody. */
export function imitations(candidate: Address, amount: string | null, anchors: Anchors): readonly Imitation[] {
	const { payees, watched } = anchors
	if (watched.includes(candidate) || payees.some(({ address }) => address === candidate)) return []
	const found: Imitation[] = []
	for (const [index, payee] of payees.entries()) {
		const isLate = payees.length - index <= WEAK_PAYEES
		const isLikely = isLate && amount !== null && (amount === '0' || amount === payee.amount)
		const agreed = agreement(candidate, payee.address, isLikely ? WEAK : STRONG)
		if (agreed !== null) found.push({ of: payee.address, isPaid: true, ...agreed })
	}
	for (const address of watched) {
		const agreed = agreement(candidate, address, STRONG)
		if (agreed !== null) found.push({ of: address, isPaid: false, ...agreed })
	}
	return found.sort((one, other) => other.prefix + other.suffix - one.prefix - one.suffix)
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

/** Of one watch; of a network, of which each watch may take what is left; and what a watch has in any case. */
const MOST = 1_000
const MOST_OF_ALL = 10_000
const LEAST = 10
const MOST_LISTS = 1_000

export type Payees = ReadonlyMap<Address, readonly Payee[]>

/** The payees of a watch with one more, which is the latest; null when nothing changes. */
export function withPayee(all: Payees, watch: Address, payee: Payee): readonly Payee[] | null {
	const before = all.get(watch) ?? []
	const known = before.find(({ address }) => address === payee.address)
	if (known?.amount === payee.amount) return null
	if (all.size >= MOST_LISTS && !all.has(watch)) return null
	let others = -before.length
	for (const list of all.values()) others += list.length
	const most = Math.max(LEAST, Math.min(MOST, MOST_OF_ALL - others))
	return [...before.filter((one) => one !== known), payee].slice(-most)
}
