import type { ContractValues } from '../../model/contract.js'
import type { Address, Hash } from '../../model/glossary.js'
import type { ControlChange } from '../../model/ownFields.js'
import { placeOf, shownValue } from './places.js'

/** One value that rules a contract, and what shows it. */
export interface Ruling {
	readonly change: ControlChange
	/** Its name in `Contract.values`. */
	readonly place: string
	/** The contract that holds it: the watch, or the beacon or admin that it depends on. */
	readonly contract: Address
	/** An address in lower case, a hash or a decimal number. */
	readonly value: string
	/** `slot`: a storage slot. `list`: a linked list in storage. `function`: an answer of the contract's code. */
	readonly shownBy: 'slot' | 'list' | 'function'
	readonly slot: Hash | null
}

/** What rules a contract, as read after one block, the gravest first. Zero is left out, but of a pause (0 or 1). */
export function controllersOf(address: Address, values: ContractValues): readonly Ruling[] {
	const found: Ruling[] = []
	for (const [place, held] of Object.entries(values)) {
		const { change, shape, slot, member, through } = placeOf(place)
		const value = shownValue(held, shape)
		if (value === null || (value === '0' && change !== 'paused')) continue
		const contract = through === null ? address : (values[through] as Address | undefined)
		if (contract === undefined) continue
		const shownBy = member !== null ? 'list' : slot !== null ? 'slot' : 'function'
		found.push({ change, place, contract, value, shownBy, slot })
	}
	const order = (one: Ruling) => changes.indexOf(one.change)
	return found.sort((one, other) => order(one) - order(other) || (one.place < other.place ? -1 : 1))
}

/** The gravest first. */
const changes: readonly ControlChange[] = [
	...(['implementation', 'beacon', 'safe.singleton', 'admin', 'owner', 'pendingOwner', 'safe.owner'] as const),
	...(['safe.threshold', 'safe.module', 'safe.guard', 'safe.moduleGuard', 'safe.fallbackHandler'] as const),
	...(['authority', 'timelock', 'paused', 'initialized', 'value'] as const),
]
