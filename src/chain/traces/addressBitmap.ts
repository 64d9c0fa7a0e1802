import type { TimeSlices } from '../../base/timeSlices.js'
import type { AddressSet } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'

/**
 * Says whether a text of a node names one of the addresses, in either case. Nearly every row names others, and hashing
 * each address to look it up was the most of what matching cost: so the last five digits are looked at first, in a
 * bitmap of 128 KiB. With 100,000 addresses one in ten others passes, and is looked up; with more of them it is six
 * digits and 2 MiB, and of a million one in seventeen passes.
 */
export type AddressTest = (value: unknown) => boolean

const fewForFive = 150_000
const length = 42
/** A set is never changed once it is handed to the chain. */
const bitmaps = new WeakMap<AddressSet, Promise<Bitmap>>()

interface Bitmap {
	readonly bits: Uint8Array
	/** How many of the last digits are looked at. */
	readonly digits: number
}

/** Made at its first use, in turns: a million addresses are no work for one breath. */
export async function addressTestOf(addresses: AddressSet, slices: TimeSlices): Promise<AddressTest> {
	const making = bitmaps.get(addresses) ?? bitmapOf(addresses, slices)
	bitmaps.set(addresses, making)
	const { bits, digits } = await making
	return (value) => {
		if (typeof value !== 'string') return false
		if (value.length === length) {
			const place = placeOf(value, digits)
			if (((bits[place >> 3] ?? 0) & (1 << (place & 7))) === 0) return false
		}
		return addresses.has(value.toLowerCase() as Address)
	}
}

async function bitmapOf(addresses: AddressSet, slices: TimeSlices): Promise<Bitmap> {
	const digits = addresses.size > fewForFive ? 6 : 5
	const bits = new Uint8Array(1 << (4 * digits - 3))
	const keys = addresses.keys()
	for (let key = keys.next(); key.done !== true; key = keys.next()) {
		if (slices.isOver()) await slices.next()
		const place = placeOf(key.value, digits)
		bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7))
	}
	return { bits, digits }
}

/**
 * The last digits as a number: `0`-`9` are 0x30 on, letters 0x41 or 0x61 on, so bit 6 tells them apart in either case.
 */
function placeOf(text: string, digits: number): number {
	let place = 0
	for (let at = length - digits; at < length; at++) {
		const code = text.charCodeAt(at)
		place = (place << 4) | (((code & 15) + 9 * (code >> 6)) & 15)
	}
	return place
}
