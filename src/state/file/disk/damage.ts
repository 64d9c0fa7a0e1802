/** A file of the state that cannot be used. */

/** `message` ends the sentence "… is damaged: …". `line`: number of the line, from 1; 0: the whole file. */
export class Damage extends Error {
	override readonly name = 'Damage'
	readonly path: string
	readonly line: number
	constructor(message: string, { path, line = 0, ...options }: ErrorOptions & { path: string; line?: number }) {
		super(message, options)
		this.path = path
		this.line = line
	}
}

/** Name of the copy from before the last write. */
export function previousOf(path: string): string {
	return `${path}.prev`
}
