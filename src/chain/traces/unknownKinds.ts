import { printable } from '../../base/text/printable.js'
import type { Log } from '../../model/ports.js'

/** More kinds than any node has; anything beyond is noise. */
const MOST_KINDS = 20
const MOST_LETTERS = 40

/** Warns once of each unknown kind of frame, with its printable name of at most 40 letters, for at most 20 kinds. */
export function createUnknownKinds(log: Log): (type: string) => void {
	const known = new Set<string>()
	return (type) => {
		if (known.size > MOST_KINDS) return
		const name = printable(type.slice(0, 4 * MOST_LETTERS), MOST_LETTERS)
		if (known.has(name)) return
		known.add(name)
		if (known.size > MOST_KINDS)
			log.warn({ kinds: MOST_KINDS }, 'more than 20 unknown kinds of frames: further ones are not logged')
		else log.warn({ type: name }, 'a node returned an unknown kind of frame; it is ignored')
	}
}
