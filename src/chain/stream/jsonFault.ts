/** The bytes are not JSON, or exceed a limit. */
export class JsonFault extends Error {
	override readonly name = 'JsonFault'
	readonly kind: 'malformed' | 'too-large'

	constructor(kind: JsonFault['kind'], message: string) {
		super(message)
		this.kind = kind
	}
}

export function broken(what: string): JsonFault {
	return new JsonFault('malformed', what)
}
