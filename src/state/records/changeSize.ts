/** Whether a change would make too long a line of the journal; it is then written as a new snapshot. */

import type { Change } from '../acts.js'

const MOST_ADDRESSES = 20_000
/** Alerts, deliveries and contracts: some 3 kB each, and a line is made without a pause. */
const MOST_MESSAGES = 2_000

export function isLarge({ act, argument }: Change): boolean {
	if (act === 'commit') {
		const { books, deliveries, folded, announcements, contracts } = argument
		const lists = (deliveries?.length ?? 0) + (folded?.length ?? 0) + (announcements?.length ?? 0)
		return (books?.size ?? 0) > 2 * MOST_ADDRESSES || lists + (contracts?.size ?? 0) > MOST_MESSAGES
	}
	if (act === 'post') return argument.length > MOST_MESSAGES
	if (act !== 'enrol') return false
	const listed = (argument.backfills ?? []).reduce((sum, { addresses }) => sum + (addresses?.length ?? 0), 0)
	return argument.covered.size + listed > MOST_ADDRESSES
}
