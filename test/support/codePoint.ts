import fc from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 }

/**
 * A unit of strings: any code point but half of a pair. fast-check's own `binary` is the same; it takes more than a
 * second of processor time and a map of a million entries in each process.
 */
export const codePoint = fc.integer({ min: 0, max: 0x10ffff - surrogates.count }).map(
	(index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count),
	(text) => {
		const point = typeof text === 'string' ? text.codePointAt(0) : undefined
		if (point === undefined || text !== String.fromCodePoint(point)) throw new Error('not one code point')
		if (point < surrogates.first) return point
		if (point < surrogates.first + surrogates.count) throw new Error('half of a pair')
		return point - surrogates.count
	},
)
