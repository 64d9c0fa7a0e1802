/** Whether the data of a call is safe to decode. */

import type { AbiInput } from '../model/abi.js'

const word = 32

/**
 * Whether decoding reads at most twice as many bytes as there are. Pointers in the data may name the same bytes again:
 * 16 KiB of `bytes[]` would unfold to megabytes. The decoder refuses data that does not fit its types.
 */
export function isUnfolded(inputs: readonly AbiInput[], data: Uint8Array): boolean {
	const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
	let left = 2 * data.length
	const spend = (bytes: number) => {
		left -= bytes
		return left >= 0
	}
	/** A pointer or a length; infinite where it is not within the data. */
	const numberAt = (at: number) => {
		if (at + word > data.length) return Number.POSITIVE_INFINITY
		for (let high = 0; high < word - 4; high += 4) if (view.getUint32(at + high) !== 0) return Number.POSITIVE_INFINITY
		return view.getUint32(at + word - 4)
	}

	function listAt(types: Iterable<AbiInput>, start: number): boolean {
		let at = start
		for (const type of types) {
			const pointer = isDynamic(type) ? numberAt(at) : null
			// The words of a struct are counted one by one; one without any counts as a byte.
			if (!spend(pointer === null && isMade(type) ? 1 : word)) return false
			if (pointer === null ? !valueAt(type, at) : !valueAt(type, start + pointer)) return false
			at += pointer === null ? sizeOf(type) : word
		}
		return true
	}

	function valueAt(input: AbiInput, at: number): boolean {
		const list = elementOf(input)
		if (at + word > data.length) return true
		if (list !== null) {
			const { element, length } = list
			const count = length ?? numberAt(at)
			if (count > data.length) return false
			return listAt(repeated(element, count), length === null ? at + word : at)
		}
		if (input.components !== undefined) return listAt(input.components, at)
		const length = isDynamic(input) ? numberAt(at) : 0
		return length > data.length || spend(length)
	}

	return listAt(inputs, 0)
}

function isMade(input: AbiInput): boolean {
	return input.components !== undefined || elementOf(input) !== null
}

function* repeated(one: AbiInput, times: number): Generator<AbiInput> {
	for (let at = 0; at < times; at++) yield one
}

/** Null: not a list. `length` null: the data says it. */
export function elementOf({ type, components }: AbiInput) {
	const [, element, length] = /^(.*)\[(\d*)\]$/.exec(type) ?? []
	if (element === undefined) return null
	return { element: { type: element, ...(components && { components }) }, length: length ? Number(length) : null }
}

function isDynamic(input: AbiInput): boolean {
	const list = elementOf(input)
	if (list !== null) return list.length === null || isDynamic(list.element)
	return input.components?.some(isDynamic) ?? (input.type === 'bytes' || input.type === 'string')
}

/** Bytes that a value without pointers takes. */
function sizeOf(input: AbiInput): number {
	const list = elementOf(input)
	if (list !== null) return (list.length ?? 0) * sizeOf(list.element)
	return input.components?.reduce((sum, one) => sum + sizeOf(one), 0) ?? word
}
