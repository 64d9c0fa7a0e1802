/** Remembers the addresses that each watch has paid, and marks alerts whose counterparty imitates one of them. */

import { formatAmount } from '../../base/amount.js'
import { counterpartyOf, imitations, isOfOthers, type Payees, withPayee } from '../../core/matching/lookalike.js'
import type { SeenEvent } from '../../kinds/list.js'
import type { Alert, Lookalike } from '../../model/alert.js'
import type { AddressSet } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Chain } from '../../model/ports.js'
import type { Payee } from '../../model/state.js'
import type { Network, WatchIndex } from '../../model/watch.js'

/** With more watches, digits agree by chance too often: watched addresses are then not compared. */
const MOST_WATCHED = 1_000
/** Most addresses per part for which the node is asked whether they are contracts. Each address is asked about once. */
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

/** Follows a part in the order of the chain: call `mark` for each new alert and `note` for each event. */
export interface PayeeLedger {
	/** Remembers the payee of a payment by a watch, and whether the watch started the transaction itself. */
	note(event: SeenEvent): void
	/** Returns the alert, marked if its counterparty imitates a payee or another watch. */
	mark(alert: Alert): Promise<Alert>
	/** The payee lists that changed, by watch. */
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

	/** Contracts are not imitated: thousands of vanity ones share digits. Unknown counts as no contract. */
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
			// Payees from transactions that others started must not keep out a payee of the watch itself.
			const payees = startedBy === 'watch' ? before.filter((one) => !isOfOthers(one)) : before
			// An imitation that was paid by mistake must not become a payee.
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
 * The payment in an event: coins moved by a call, or a known token; null for everything else. `startedBy` is 'other' if
 * the watch did not send the transaction: a Safe pays this way, but a stranger can also make a router pay this way.
 */
function paymentIn(event: SeenEvent, { decimals, tokens }: Network) {
	if (event.kind !== 'token' && event.kind !== 'transfer') return null
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
