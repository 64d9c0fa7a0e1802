/** Bloom filters of headers: what is not in one is certainly in no log of the block; what is may be. */

import * as Hash from 'ox/Hash'
import type { TimeSlices } from '../../base/timeSlices.js'
import type { TxLog } from '../../core/tokenLogs.js'
import type { AddressSet } from '../../model/chain.js'
import type { Address, Hex } from '../../model/glossary.js'

/** Three bits of 2,048 for a value, as places in the filter (yellow paper, 4.4.1). */
export type Places = readonly [number, number, number]

export function placesOf(value: Hex): Places {
	const bytes = Hash.keccak256(value, { as: 'Bytes' })
	const place = (at: number) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)) & 2047
	return [place(0), place(2), place(4)]
}

export function bloomBytes(bloom: Hex): Uint8Array {
	return Buffer.from(bloom.slice(2), 'hex')
}

/** Bit 0 is the last of the last byte. */
export function mayHold(bloom: Uint8Array, places: Places): boolean {
	return places.every((place) => ((bloom[255 - (place >> 3)] ?? 0) & (1 << (place & 7))) !== 0)
}

/** The filter that a block with just these logs has. */
export async function bloomOf(logs: Iterable<TxLog>, slices: TimeSlices): Promise<Hex> {
	const bloom = Buffer.alloc(256)
	const seen = new Set<Hex>()
	const add = (value: Hex) => {
		if (seen.has(value)) return
		seen.add(value)
		for (const place of placesOf(value))
			bloom[255 - (place >> 3)] = (bloom[255 - (place >> 3)] ?? 0) | (1 << (place & 7))
	}
	for (const { address, topics } of logs) {
		if (slices.isOver()) await slices.next()
		add(address)
		for (const topic of topics) add(topic)
	}
	return `0x${bloom.toString('hex')}`
}

/** An address as it stands in a topic. */
export function topicOf(address: Address): Hex {
	return `0x${'0'.repeat(24)}${address.slice(2)}`
}

const topicPlaces = new WeakMap<AddressSet, ReadonlyMap<Address, Places>>()

/** Of each address as a topic. */
export function topicPlacesOf(addresses: AddressSet): ReadonlyMap<Address, Places> {
	let places = topicPlaces.get(addresses)
	if (places === undefined) {
		const made = new Map<Address, Places>()
		const keys = addresses.keys()
		for (let next = keys.next(); next.done !== true; next = keys.next()) {
			made.set(next.value, placesOf(topicOf(next.value)))
		}
		places = made
		topicPlaces.set(addresses, places)
	}
	return places
}
