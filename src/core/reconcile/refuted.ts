/** Which announcements a reading refutes, since it explains the balance of a watch and the announced one does not. */

import type { SeenEvent } from '../../kinds/list.js'
import type { Witness } from '../../model/books.js'
import type { Part } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Announcement } from '../../model/state.js'
import { addressOfId, alertId, placeOfId } from '../alerts/alertId.js'
import { eventsByTransaction } from '../events/eventsByTransaction.js'
import { addTo } from '../lists.js'
import { type Difference, isAnnounced, isAsAnnounced, isSeenIn, retractionOf } from './reconcile.js'

/** The reading of a block that closes the book of an address. */
export interface Proof extends Witness {
	readonly address: Address
	/** Whether the balances are certain enough to retract contradicting announcements. */
	readonly refutes: boolean
}

/** Announcements from the frames of blocks, as far as a reading can refute them. */
export interface Announced {
	/** The watches to which transfers of an address in a block were announced, the address itself included. */
	parties(address: Address, block: bigint): ReadonlySet<Address>
	/** Announcements of the part's last block that name the address and that the part lacks or contradicts. */
	refutedBy(part: Part, address: Address): readonly Announcement[]
}

/** If two entries share an id, the later one counts. */
export function announcedIn(chainId: number, ...lists: readonly Iterable<Announcement>[]): Announced {
	let byBlock: ReadonlyMap<bigint, readonly Announcement[]> | null = null
	const entriesOf = (address: Address, block: bigint) => {
		byBlock ??= refutable(lists)
		return (byBlock.get(block) ?? []).filter((entry) => names(entry, address))
	}
	return {
		parties: (address, block) => new Set([address, ...entriesOf(address, block).map(({ id }) => addressOfId(id))]),
		refutedBy(part, address) {
			const { number, hash } = part.last
			const entries = entriesOf(address, number).filter(({ block }) => block.hash === hash)
			if (entries.length === 0) return []
			const owners = new Set(entries.map(({ id }) => addressOfId(id)))
			const events = new Map<string, SeenEvent>()
			for (const happening of eventsByTransaction(part)) {
				for (const event of happening.events)
					for (const owner of owners) events.set(alertId(chainId, event, owner), event)
			}
			return entries.filter((entry) => {
				// All of one block, where no transaction stands twice.
				const event = events.get(entry.id.replace(/~\d+:/, ':'))
				return event === undefined || !isAsAnnounced(entry, event)
			})
		},
	}
}

/** Rewards are left out, since most sources do not give them. Proved announcements stand. */
function refutable(lists: readonly Iterable<Announcement>[]): ReadonlyMap<bigint, readonly Announcement[]> {
	const latest = new Map<string, Announcement>()
	for (const list of lists) for (const entry of list) latest.set(entry.id, entry)
	const blocks = new Map<bigint, Announcement[]>()
	for (const entry of latest.values()) {
		const { id, block, proved } = entry
		if (!isSeenIn(entry, 'frames') || placeOfId(id).startsWith('reward') || proved === true || !isAnnounced(entry))
			continue
		addTo(blocks, block.number, entry)
	}
	return blocks
}

function names({ id, alerts: [first] }: Announcement, address: Address): boolean {
	const { from, to } = first?.data ?? {}
	return addressOfId(id) === address || from?.toLowerCase() === address || to?.toLowerCase() === address
}

/** With these retracted while their block stands; those not yet announced are stored as retracted, never sent. */
export function withRefuted(difference: Difference, refuted: readonly Announcement[]): Difference {
	if (refuted.length === 0) return difference
	const ids = new Set(refuted.map(({ id }) => id))
	const gone = refuted.map((entry): Announcement => ({ ...retractionOf(entry), proved: true }))
	const unsent = new Set(difference.news.flatMap(({ alerts }) => alerts.map(({ data }) => data.id)))
	return {
		...difference,
		news: difference.news.filter(({ alerts }) => alerts.every(({ data }) => !ids.has(data.id))),
		retracted: [...difference.retracted, ...gone.filter(({ id }) => !unsent.has(id))],
		announcements: [...difference.announcements.filter(({ id }) => !ids.has(id)), ...gone],
	}
}
