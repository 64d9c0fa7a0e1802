import { createHash } from 'node:crypto'

/** One name for a set of files in a certain state: the same names and contents in the same order give the same. */
export function createRevision() {
	const hash = createHash('sha256')
	return {
		/** Null: the file is not there. */
		add(path: string, bytes: Uint8Array | null): void {
			hash.update(`${path}\0${bytes === null ? 'absent' : bytes.byteLength}\0`).update(bytes ?? '')
		},
		value: () => hash.digest('hex'),
	}
}
