/** Bloom filters of headers: a value that is not in one is certainly in no log of the block; others may be. */

import * as Hash from 'ox/Hash'
import { isSliceOver, nextSlice } from '../../../base/waits/slices.js'
import type { TxLog } from '../../../core/events/tokenLogs.js'
import type { AddressSet } from '../../../model/chain.js'
import type { Address, Hex } from '../../../model/glossary.js'

/** Three of 2,048 bits for a value, as places in the filter (Yellow Paper, 4.4.1). */
export type Places = readonly [number, number, number]

export function placesOf(value: Hex): Places {
	const bytes = Hash.keccak256(value, { as: 'Bytes' })
	const place = (at: number) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)) & 2047
	return [place(0), place(2), place(4)]
}

export function bloomBytes(bloom: Hex): Uint8Array {
	return Buffer.from(bloom.slice(2), 'hex')
}

/** Bit 0 is the lowest bit of the last byte. */
export function mayHold(bloom: Uint8Array, places: Places): boolean {
	return places.every((place) => ((bloom[255 - (place >> 3)] ?? 0) & (1 << (place & 7))) !== 0)
}

export async function bloomOf(logs: Iterable<TxLog>): Promise<Hex> {
	const bloom = Buffer.alloc(256)
	const seen = new Set<Hex>()
	const add = (value: Hex) => {
		if (seen.has(value)) return
		seen.add(value)
		for (const place of placesOf(value))
			bloom[255 - (place >> 3)] = (bloom[255 - (place >> 3)] ?? 0) | (1 << (place & 7))
	}
	for (const { address, topics } of logs) {
		if (isSliceOver()) await nextSlice()
		add(address)
		for (const topic of topics) add(topic)
	}
	return `0x${bloom.toString('hex')}`
}

export function topicOf(address: Address): Hex {
	return `0x${'0'.repeat(24)}${address.slice(2)}`
}

const topicPlaces = new WeakMap<AddressSet, ReadonlyMap<Address, Places>>()

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

const addressPlaces = new WeakMap<ReadonlySet<Address>, readonly Places[]>()

export function addressPlacesOf(contracts: ReadonlySet<Address>): readonly Places[] {
	let places = addressPlaces.get(contracts)
	if (places === undefined) {
		places = [...contracts].map(placesOf)
		addressPlaces.set(contracts, places)
	}
	return places
}
