/** The room packs what is known of a million addresses into few bytes each. */

import type { AddressSet } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'

/**
 * A set of packed addresses: 20 bytes each plus a hash slot, a quarter of what a Set of strings takes. Addresses are
 * numbered from 0 in the order of their insertion.
 */
export interface AddressTable extends AddressSet {
	/** -1: not contained, or not an address in lower case. */
	indexOf(address: string): number
	at(index: number): Address
	/**
	 * Returns the index; the address is new if the index equals the previous size. The address must be valid and in lower
	 * case.
	 */
	add(address: Address): number
	/** Makes room for this many more addresses at once. */
	reserve(more: number): void
	/** A copy; changes of one do not affect the other. */
	copy(): AddressTable
	keys(): IterableIterator<Address>
}

/** The storage of a table; copies share some of it. */
interface Parts {
	readonly seed: number
	size: number
	/** Five words per address, in the byte order of this machine. */
	words: Uint32Array
	/**
	 * Index + 1 of an address, at or after the slot given by its hash; 0: free. The length is a power of two, and at most
	 * half of the slots are used.
	 */
	slots: Uint32Array
}

const wordsEach = 5
const bytesEach = 4 * wordsEach
const textLength = 2 + 2 * bytesEach
const fewestSlots = 64

const hexCodes = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))
/** By character code; 16: not a digit in lower case. */
const digitOf = new Uint8Array(256).fill(16)
for (const [digit, code] of hexCodes.entries()) digitOf[code] = digit

/** `seed` randomises the hash, so that an attacker cannot choose addresses that all collide. */
export function createAddressTable(seed = 0): AddressTable {
	return tableOf({ seed, size: 0, words: new Uint32Array(16 * wordsEach), slots: new Uint32Array(fewestSlots) })
}

function tableOf(parts: Parts): AddressTable {
	const probe = new Uint32Array(wordsEach)
	const probeBytes = new Uint8Array(probe.buffer)
	/** A plain array: building strings from typed arrays is half as fast. */
	const text: number[] = Array.from({ length: textLength }, () => 0x30)
	text[1] = 0x78

	/** Whether the text is an address; its words are then in `probe`. */
	function read(address: string): boolean {
		if (address.length !== textLength || address.charCodeAt(0) !== 0x30 || address.charCodeAt(1) !== 0x78) return false
		let wrong = 0
		for (let at = 0; at < bytesEach; at++) {
			// Two separate reads: an array of both would be allocated twenty times per address, and dominate the cost of a
			// lookup.
			const high = digitOf[address.charCodeAt(2 * at + 2)] ?? 16
			const low = digitOf[address.charCodeAt(2 * at + 3)] ?? 16
			wrong |= (high | low) & 16
			probeBytes[at] = (high << 4) | low
		}
		return wrong === 0
	}

	/** The slot of the address in `probe`, or the free slot where it belongs. */
	function find(): number {
		const { words, slots, seed } = parts
		const mask = slots.length - 1
		let slot = hashOf(probe, 0, seed) & mask
		for (;;) {
			const found = slots[slot] ?? 0
			if (found === 0) return slot
			const at = (found - 1) * wordsEach
			let same = true
			for (let word = 0; word < wordsEach && same; word++) same = words[at + word] === probe[word]
			if (same) return slot
			slot = (slot + 1) & mask
		}
	}

	function grow(length: number): void {
		const words = new Uint32Array(length)
		words.set(parts.words)
		parts.words = words
	}

	function spread(length: number): void {
		const { words, size, seed } = parts
		const slots = new Uint32Array(length)
		const mask = slots.length - 1
		for (let index = 0; index < size; index++) {
			let slot = hashOf(words, index * wordsEach, seed) & mask
			while (slots[slot] !== 0) slot = (slot + 1) & mask
			slots[slot] = index + 1
		}
		parts.slots = slots
	}

	/** Adds the address in `probe`. */
	function addProbe(): number {
		const slot = find()
		const found = parts.slots[slot] ?? 0
		if (found !== 0) return found - 1
		if ((parts.size + 1) * wordsEach > parts.words.length) grow(2 * parts.words.length)
		parts.words.set(probe, parts.size * wordsEach)
		parts.slots[slot] = ++parts.size
		if (2 * parts.size > parts.slots.length) spread(2 * parts.slots.length)
		return parts.size - 1
	}

	const bytesAt = (index: number) =>
		new Uint8Array(parts.words.buffer, parts.words.byteOffset + index * bytesEach, bytesEach)

	const table: AddressTable = {
		get size() {
			return parts.size
		},
		indexOf: (address) => (read(address) ? (parts.slots[find()] ?? 0) - 1 : -1),
		has: (address) => read(address) && parts.slots[find()] !== 0,
		at(index) {
			const bytes = bytesAt(index)
			for (let at = 0; at < bytesEach; at++) {
				const byte = bytes[at] ?? 0
				text[2 * at + 2] = hexCodes[byte >> 4] ?? 0
				text[2 * at + 3] = hexCodes[byte & 15] ?? 0
			}
			return String.fromCharCode.apply(null, text) as Address
		},
		add(address) {
			if (!read(address)) throw new RangeError(`${address.slice(0, 50)} is no address in lower case`)
			return addProbe()
		},
		reserve(more) {
			const size = parts.size + more
			if (size * wordsEach > parts.words.length) grow(size * wordsEach)
			let slots = parts.slots.length
			while (2 * size > slots) slots *= 2
			if (slots > parts.slots.length) spread(slots)
		},
		copy: () => tableOf({ ...parts, words: parts.words.slice(), slots: parts.slots.slice() }),
		*keys() {
			for (let index = 0; index < parts.size; index++) yield table.at(index)
		},
	}
	return table
}

/** Hashes five words from `at` on, with the mixing of MurmurHash3. */
function hashOf(words: Uint32Array, at: number, seed: number): number {
	let hash = seed
	for (let word = at; word < at + wordsEach; word++) {
		const mixed = Math.imul(words[word] ?? 0, 0xcc9e2d51)
		hash ^= Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
		hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
	}
	hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
	hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
	return (hash ^ (hash >>> 16)) >>> 0
}
