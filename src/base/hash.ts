import { createHash } from 'node:crypto'

/** Hex, of which ids are made. */
export function hash(text: string): string {
	return createHash('sha256').update(text).digest('hex')
}
