import type { Contract } from '../../model/contract.js'
import type { Address, Hex } from '../../model/glossary.js'
import type { SlotChange } from '../../model/ownFields.js'
import { mappingSlot } from '../events/mappingSlot.js'
import { placeOf, safeSlots, sentinel, slotPlaces } from './places.js'

/** Slots of one alert. */
const MOST_SLOTS = 50
/** Addresses that are tried as keys of a Safe's lists. */
const MOST_MEMBERS = 200

/**
 * What a transaction changed in the storage of a contract, as an alert shows it: with names, those that have one first,
 * so that no number of other slots hides them. A Safe's nonce, which each of its transactions changes, is left out.
 * `input`: of the foreign code. `others`: addresses that took part. In both, owners and modules may be found.
 */
export function shownChanges(
	changes: readonly SlotChange[],
	contract: Pick<Contract, 'isSafe' | 'values'>,
	{ input, others }: { readonly input: string; readonly others: readonly (Address | null)[] },
): readonly SlotChange[] {
	const names = new Map<string, string>(slotPlaces.map(({ slot, name }) => [slot, name]))
	for (const name of Object.keys(contract.values)) {
		const { slot } = placeOf(name)
		if (slot !== null) names.set(slot, name)
	}
	if (contract.isSafe) {
		for (const { slot, name } of [safeSlots.singleton, safeSlots.threshold]) names.set(slot, name)
		names.set(safeSlots.count, 'safe.ownerCount')
		const words = changes.flatMap(({ previous, current }) => [...addressesIn(previous), ...addressesIn(current)])
		const known = Object.values(contract.values).flatMap((value) => (value.length === 42 ? [value] : []))
		const members = new Set([sentinel, ...others, ...known, ...words, ...addressesIn(input)])
		for (const member of [...members].slice(0, MOST_MEMBERS)) {
			if (member === null) continue
			names.set(mappingSlot(member, safeSlots.owners), `safe.owner ${member}`)
			names.set(mappingSlot(member, safeSlots.modules), `safe.module ${member}`)
		}
	}
	const own = changes.filter(({ slot }) => !(contract.isSafe && slot === safeSlots.nonce))
	const named = own.map((one) => ({ ...one, name: names.get(one.slot) ?? null }))
	const isNamed = ({ name }: SlotChange) => name !== null
	return [...named.filter(isNamed), ...named.filter((one) => !isNamed(one))].slice(0, MOST_SLOTS)
}

/** The words that hold an address: of data as it stands, or behind four bytes that name a function. */
function* addressesIn(data: string): Generator<Hex> {
	const first = (data.length - 2) % 64 === 8 ? 10 : 2
	for (let at = first; at + 64 <= data.length; at += 64) {
		const word = data.slice(at, at + 64)
		if (/^0{24}(?!0{36})/.test(word)) yield `0x${word.slice(24)}`
	}
}
