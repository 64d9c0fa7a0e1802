import { printable } from '../../base/printable.js'
import type { Log } from '../../model/ports.js'

/** More kinds than any node has: the rest is somebody's noise. */
const MOST_KINDS = 20
const MOST_LETTERS = 40

/**
 * Warns of each kind of frame that is not known here, once, in clean and short words, and of so many kinds at most.
 */
export function createUnknownKinds(log: Log): (type: string) => void {
	const known = new Set<string>()
	return (type) => {
		if (known.size > MOST_KINDS) return
		const name = printable(type.slice(0, 4 * MOST_LETTERS), MOST_LETTERS)
		if (known.has(name)) return
		known.add(name)
		if (known.size > MOST_KINDS)
			log.warn({ kinds: MOST_KINDS }, 'further kinds of frames that are not known are not named')
		else log.warn({ type: name }, 'a node gave a kind of frame that is not known; it is taken to move nothing')
	}
}
