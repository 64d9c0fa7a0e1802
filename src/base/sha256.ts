import { createHash } from 'node:crypto'

/** The hash of the UTF-8 text in hex. Ids are made of it. */
export function sha256(text: string): string {
	return createHash('sha256').update(text).digest('hex')
}
