import type { Contract } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'

/** Places whose value is code that the contract runs as its own. */
const codePlaces = /^(?:(?:\S+ )?implementation(?:-\w+)?(?:\(\))?|safe\.singleton)$/

const sets = new WeakMap<Contract, ReadonlySet<Address>>()

/** The code that stands in known places of a contract: now, or before a change that may still leave the chain. */
export function placedCode(contract: Contract): ReadonlySet<Address> {
	let found = sets.get(contract)
	if (found === undefined) {
		found = new Set([...codeIn(contract.values), ...(contract.undo ?? []).flatMap(({ values }) => [...codeIn(values)])])
		sets.set(contract, found)
	}
	return found
}

function* codeIn(values: Readonly<Record<string, string>>): Generator<Address> {
	for (const [place, value] of Object.entries(values)) {
		if (codePlaces.test(place) && value.length === 42) yield value as Address
	}
}
