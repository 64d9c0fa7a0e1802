import type { Alert } from '../../model/alert.js'
import type { Hash } from '../../model/glossary.js'
import type { Kind } from '../../model/kind.js'
import type { Announcement } from '../../model/state.js'
import { addressOfId } from '../alerts/alertId.js'
import { addTo } from '../lists.js'

/** Code that a contract ran, and who rules it since: of one transaction, the later alert names the other. */
const other: Partial<Record<Kind, Kind>> = { code: 'control', control: 'code' }
/** Most alerts that one names. */
const mostNamed = 20

/** Finds the alerts that a new one names, among those that are announced. */
export function createRelated(announcements: () => Iterable<Announcement>): (alert: Alert) => readonly Announcement[] {
	let byTransaction: Map<Hash, Announcement[]> | null = null
	return ({ data: { id, kind, txHash, blockHash } }) => {
		const wanted = other[kind]
		if (wanted === undefined || txHash === blockHash) return []
		if (byTransaction === null) {
			byTransaction = new Map()
			for (const entry of announcements()) {
				if (entry.alerts[0] === undefined || other[entry.alerts[0].data.kind] === undefined) continue
				addTo(byTransaction, entry.txHash, entry)
			}
		}
		const address = addressOfId(id)
		const isOther = (entry: Announcement) =>
			entry.status === 'announced' && entry.alerts[0]?.data.kind === wanted && addressOfId(entry.id) === address
		return (byTransaction.get(txHash) ?? []).filter(isOther).slice(0, mostNamed)
	}
}

/** The alert with the ids of those that it names. */
export function naming(alert: Alert, related: readonly Announcement[]): Alert {
	return { ...alert, data: { ...alert.data, related: related.map(({ id }) => id) } }
}
