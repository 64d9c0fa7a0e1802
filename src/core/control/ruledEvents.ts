import type { Part } from '../../model/chain.js'
import type { Contract } from '../../model/contract.js'
import type { Address, Hex } from '../../model/glossary.js'
import type { ControlChanged } from '../../model/kind.js'

/**
 * The part with the changes of control that are reported: what was in force at the first look is none. Each gets the
 * value before it where the last reading has it, since an event may name another or none.
 */
export function withKnown(part: Part, contracts: ReadonlyMap<Address, Contract>): Part {
	if (part.control === undefined || part.control.length === 0) return part
	/** By contract and place: what the last event of the part has set. */
	const set = new Map<string, string | null>()
	const control: ControlChanged[] = []
	for (const event of part.control) {
		const entry = contracts.get(event.watch)
		if (entry !== undefined && event.block.number <= entry.since) continue
		const { place, action } = event
		if (place === null || action !== 'set') {
			control.push(event)
			continue
		}
		const key = `${event.contract} ${place}`
		const before = set.has(key) ? set.get(key) : lastRead(entry, place, event.block.number)
		set.set(key, event.current)
		control.push(before === undefined ? event : { ...event, previous: before })
	}
	return { ...part, control }
}

/** Undefined: it was not read before that block. */
function lastRead(entry: Contract | undefined, place: string, block: bigint): string | undefined {
	// A function that tells the same counts where no slot does.
	const held = (values: Contract['values']) => values[place] ?? values[`${place}()`]
	const value = entry === undefined || entry.readAt >= block ? undefined : held(entry.values)
	return value === undefined ? undefined : inWords(value)
}

/** 20 bytes are an address; a small number of 32 bytes is written as one. */
export function inWords(value: Hex): string {
	return value.length === 2 + 40 || BigInt(value) > 0xffff_ffff_ffff_ffffn ? value : BigInt(value).toString()
}
