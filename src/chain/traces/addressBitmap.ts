import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import type { AddressSet } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'

/**
 * Tests whether a text from a node is one of the addresses, in either case. Nearly every row has other addresses, and
 * hashing each of them for the lookup was most of the cost of matching. So a bitmap over the last five digits (128 KiB)
 * is checked first. With 100,000 addresses, one other address in ten passes and is looked up. Above 150,000 addresses
 * the bitmap has six digits and 2 MiB; with a million, one in seventeen passes.
 */
export type AddressTest = (value: unknown) => boolean

const fewForFive = 150_000
const length = 42
/** A set never changes once it is handed to the chain. */
const bitmaps = new WeakMap<AddressSet, Promise<Bitmap>>()

interface Bitmap {
	readonly bits: Uint8Array
	/** How many of the last digits the bitmap covers. */
	readonly digits: number
}

/** Made at its first use, in time slices: a million addresses would block the event loop. */
export async function addressTestOf(addresses: AddressSet): Promise<AddressTest> {
	const making = bitmaps.get(addresses) ?? bitmapOf(addresses)
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

async function bitmapOf(addresses: AddressSet): Promise<Bitmap> {
	const digits = addresses.size > fewForFive ? 6 : 5
	const bits = new Uint8Array(1 << (4 * digits - 3))
	const keys = addresses.keys()
	for (let key = keys.next(); key.done !== true; key = keys.next()) {
		if (isSliceOver()) await nextSlice()
		const place = placeOf(key.value, digits)
		bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7))
	}
	return { bits, digits }
}

/** The last digits as a number: bit 6 tells letters (0x41 or 0x61 on) from digits (0x30 on), in either case. */
function placeOf(text: string, digits: number): number {
	let place = 0
	for (let at = length - digits; at < length; at++) {
		const code = text.charCodeAt(at)
		place = (place << 4) | (((code & 15) + 9 * (code >> 6)) & 15)
	}
	return place
}
