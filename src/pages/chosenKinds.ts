/** The kinds of a watch in few words: what differs from the default. */

import { usualKinds } from '../kinds/all.js'
import type { Watch } from '../model/watch.js'

/** `everything (default)`, `everything but token`, `only transfer, deployment`, `everything, income; out only`. */
export function kindsInWords({ kinds, direction }: Pick<Watch, 'kinds' | 'direction'>): string {
	const missing = usualKinds.filter((kind) => !kinds.includes(kind))
	const extra = kinds.filter((kind) => !usualKinds.includes(kind))
	const words =
		missing.length > usualKinds.length / 2
			? `only ${kinds.join(', ')}`
			: missing.length > 0
				? `everything but ${missing.join(', ')}${extra.length === 0 ? '' : `, and ${extra.join(', ')}`}`
				: extra.length > 0
					? `everything and ${extra.join(', ')}`
					: direction === 'both'
						? 'everything (default)'
						: 'everything'
	return direction === 'both' ? words : `${words}; ${direction} only`
}
