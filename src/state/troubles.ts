/** Open troubles, as the parts that notify receivers see them. */

import type { Store } from '../model/ports.js'
import type { TroubleBook } from '../model/trouble.js'

/** `configured`: receivers to notify; those of earlier configurations are left out. */
export function troubleBook(
	store: Pick<Store, 'troubles' | 'changeTroubles'>,
	configured: readonly string[],
): TroubleBook {
	return {
		current() {
			const { open, timesAccepted } = store.troubles()
			const ours = open.map((trouble) => ({
				...trouble,
				receivers: trouble.receivers.filter((name) => configured.includes(name)),
			}))
			return { timesAccepted, open: ours }
		},
		change: store.changeTroubles,
	}
}
