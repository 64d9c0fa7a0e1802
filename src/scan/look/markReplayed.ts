import { alertId, type Repeats } from '../../core/alerts/alertId.js'
import { eventsByTransaction } from '../../core/events/eventsByTransaction.js'
import { groupedBy } from '../../core/lists.js'
import { sides } from '../../core/matching/match.js'
import type { Alert } from '../../model/alert.js'
import type { Part } from '../../model/chain.js'
import type { PayeeLedger } from './payees.js'

/** The alerts of a part, in order; marked if the counterparty imitates a payee that the watch paid earlier. */
export async function markReplayed(
	part: Part,
	alerts: readonly Alert[],
	{ chainId, repeats, ledger }: { readonly chainId: number; readonly repeats: Repeats; readonly ledger: PayeeLedger },
): Promise<readonly Alert[]> {
	const byId = groupedBy(alerts, ({ data }) => data.id)
	const marked = new Map<Alert, Alert>()
	for (const { events } of eventsByTransaction(part)) {
		for (const event of events) {
			for (const { address } of sides(event)) {
				for (const alert of byId.get(alertId(chainId, event, address, repeats)) ?? [])
					marked.set(alert, await ledger.mark(alert))
			}
			ledger.note(event)
		}
	}
	return alerts.map((alert) => marked.get(alert) ?? alert)
}
