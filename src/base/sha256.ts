import { createHash } from 'node:crypto'

/** Hex, of which ids are made. */
export function sha256(text: string): string {
	return createHash('sha256').update(text).digest('hex')
}
