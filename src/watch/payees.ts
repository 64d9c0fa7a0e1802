/** Whom the watches have paid, and who is made to be taken for them. */

import { formatAmount } from '../core/amount.js'
import { counterpartyOf, imitations, isOfOthers, type Payees, withPayee } from '../core/lookalike.js'
import type { Alert, ChainEvent, Lookalike } from '../model/alert.js'
import type { AddressSet } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'
import type { Payee } from '../model/state.js'
import type { Network, WatchIndex } from '../model/watch.js'

/** With more of them each alert would be checked against too many to believe what agrees. */
const MOST_WATCHED = 1_000
/** Marks of one part that may cost a question; a storm of the same imitation costs one. */
const MOST_ASKED = 20

const watchedOf = new WeakMap<WatchIndex, readonly Address[]>()

function anchorsAmong(watches: WatchIndex): readonly Address[] {
	if (watches.size > MOST_WATCHED) return []
	const known = watchedOf.get(watches)
	if (known !== undefined) return known
	const all = [...watches.keys()]
	watchedOf.set(watches, all)
	return all
}

/** What was seen of a part in the order of the chain: an alert that is to be told, or a payment. */
export interface PayeeLedger {
	/** Remembers whom a watch pays, and whether it did so itself. */
	note(event: ChainEvent): void
	/** The alert with its mark, where the other side imitates somebody. */
	mark(alert: Alert): Promise<Alert>
	/** Lists that changed. */
	changes(): Payees
}

export interface PayeeLedgerOptions {
	readonly payees: Payees
	readonly network: Network
	readonly watches: WatchIndex & AddressSet
	readonly checksum: (address: Address) => string
	readonly chain: Pick<Chain, 'isContract'>
}

export function createPayeeLedger(options: PayeeLedgerOptions, signal: AbortSignal): PayeeLedger {
	const { payees, network, watches, checksum, chain } = options
	const now = new Map(payees)
	const changed = new Map<Address, readonly Payee[]>()
	const contracts = new Map<Address, boolean>()

	/** People only: vanity contracts share digits by the thousand. Whoever cannot be asked about counts as one. */
	async function isContract(address: Address): Promise<boolean> {
		const known = contracts.get(address)
		if (known !== undefined || contracts.size >= MOST_ASKED) return known ?? false
		const isOne = (await chain.isContract(address, signal)) ?? false
		contracts.set(address, isOne)
		return isOne
	}

	async function lookalikeOf({ data }: Alert): Promise<Lookalike | null> {
		const candidate = counterpartyOf(data)
		if (candidate === null) return null
		const own = now.get(data.watch.address.toLowerCase() as Address) ?? []
		const anchors = { payees: own, watched: anchorsAmong(watches) }
		for (const { of, prefix, suffix, isPaid } of imitations(candidate, data.value, anchors)) {
			if (isPaid && (await isContract(of))) continue
			const label = watches.get(of)?.find((watch) => watch.label !== null)?.label ?? null
			return { of: checksum(of), label, prefix, suffix }
		}
		return null
	}

	return {
		note(event) {
			const paid = paymentIn(event, network)
			if (paid === null || !watches.has(paid.from) || watches.has(paid.to)) return
			const { to: address, amount, startedBy } = paid
			const before = now.get(paid.from) ?? []
			// Strangers who were first must not keep out whom the watch pays itself.
			const payees = startedBy === 'watch' ? before.filter((one) => !isOfOthers(one)) : before
			// Who was paid by mistake is nobody to be imitated.
			if (imitations(address, amount, { payees, watched: anchorsAmong(watches) }).length > 0) return
			const list = withPayee(now, paid.from, { address, amount, startedBy })
			if (list === null) return
			now.set(paid.from, list)
			changed.set(paid.from, list)
		},
		async mark(alert) {
			const lookalike = await lookalikeOf(alert)
			return lookalike === null ? alert : { ...alert, data: { ...alert.data, lookalike } }
		},
		changes: () => changed,
	}
}

/**
 * Coins that a call moves, and known tokens. What the watch has not sent in a transaction of its own is kept apart: so
 * does a Safe pay, but also a router whom a stranger tells to.
 */
function paymentIn(event: ChainEvent, { decimals, tokens }: Network) {
	const { from, to, initiator } = event
	if (from === null || from === to || BigInt(to) === 0n) return null
	const startedBy: NonNullable<Payee['startedBy']> = initiator === from ? 'watch' : 'other'
	if (event.kind === 'token') {
		const { amountRaw, contract, standard } = event
		const token = tokens?.get(contract)
		if (token === undefined || standard === 'erc721' || amountRaw === 0n) return null
		return { from, to, startedBy, amount: formatAmount(amountRaw, token.decimals ?? 0) }
	}
	const { valueWei, frameType } = event
	if (frameType !== 'call' || valueWei === 0n) return null
	return { from, to, startedBy, amount: formatAmount(valueWei, decimals) }
}
