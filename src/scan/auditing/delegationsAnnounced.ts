import { addressOfId } from '../../core/alerts/alertId.js'
import { isAnnounced } from '../../core/reconcile/reconcile.js'
import type { Delegation } from '../../kinds/delegation.js'
import type { Announcement } from '../../model/state.js'

/** Not announced under the other id: by what was signed, or by the code. `after`: the block before its range. */
export function notAnnounced(
	{ address, authorised, delegate, block }: Delegation,
	after: bigint,
	announcements: ReadonlyMap<string, Announcement>,
): boolean {
	for (const entry of announcements.values()) {
		const data = entry.alerts[0]?.data
		const { number } = entry.block
		if (data?.kind !== 'delegation' || !isAnnounced(entry) || addressOfId(entry.id) !== address) continue
		const isOther = (data.authorisation == null) !== (authorised === null)
		const isSame = (data.delegate?.toLowerCase() ?? null) === delegate
		if (isOther && isSame && number > after && number <= block.number) return false
	}
	return true
}
