/** Pieces of JSON Schema, and patterns of the parts of an id. */

export const text = { type: 'string' } as const
export const address = { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', description: 'EIP-55 spelling.' } as const
export const digits = { type: 'string', pattern: '^\\d+$' } as const
export const signedDigits = { type: 'string', pattern: '^-?\\d+$' } as const
export const decimal = { type: 'string', pattern: '^\\d+(\\.\\d+)?$' } as const
export const count = { type: 'integer', minimum: 0 } as const

/** Of the kinds that report a new value. */
export const previous = {
	type: ['string', 'null'],
	description:
		'Of a delegation: the delegate before; null: none. Of a change of control: the address, hash or decimal number ' +
		'before; null: none, or not known.',
} as const

/** Anchors of ids, as sources of regular expressions. */
export const anchors = {
	/** The hash of a transaction or a block. */
	hash: '0x[0-9a-f]{64}',
	block: '\\d{1,15}',
	blocks: '\\d{1,15}-\\d{1,15}',
} as const
