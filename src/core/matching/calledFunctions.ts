/** Which functions of which addresses are reported when they are called, from the `calls` of the watches. */

import type { AddressSet, CalledFunctions } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { WatchIndex } from '../../model/watch.js'

/** For each address and selector, whether failed calls are reported too. */
type Functions = ReadonlyMap<Address, ReadonlyMap<string, boolean>>

const functionsOf = new WeakMap<WatchIndex, CalledFunctions | null>()
const widened = new WeakMap<AddressSet, { readonly calls: CalledFunctions; readonly addresses: AddressSet }>()

/** The same addresses with the functions that the watches name; the same object if they name none. */
export function withCalls(addresses: AddressSet, watches: WatchIndex): AddressSet {
	let calls = functionsOf.get(watches)
	if (calls === undefined) {
		calls = calledFunctions(watches)
		functionsOf.set(watches, calls)
	}
	if (calls === null) return addresses
	// Return the same object each time, so that what was read ahead for it can be used.
	const before = widened.get(addresses)
	if (before?.calls === calls) return before.addresses
	const set = {
		size: addresses.size,
		has: (address: Address) => addresses.has(address),
		keys: () => addresses.keys(),
		calls,
		...(addresses.lent && { lent: addresses.lent }),
	}
	widened.set(addresses, { calls, addresses: set })
	return set
}

/** Null: no watch names a function. */
function calledFunctions(watches: WatchIndex): CalledFunctions | null {
	// A million watches share a few rules: check the rules instead of each watch.
	if (watches.rules?.().every(({ calls }) => calls === undefined) === true) return null
	const functions = new Map<Address, Map<string, boolean>>()
	for (const list of watches.values()) {
		for (const { address, calls, kinds } of list) {
			if (calls === undefined || !kinds.includes('call')) continue
			const own = functions.get(address) ?? new Map<string, boolean>()
			functions.set(address, own)
			for (const selector of calls.functions.keys()) own.set(selector, calls.failed || own.get(selector) === true)
		}
	}
	return functions.size === 0 ? null : lookup(functions)
}

function lookup(functions: Functions): CalledFunctions {
	return {
		has: (address) => functions.has(address),
		isReported(address, selector, hasFailed) {
			const failed = functions.get(address)?.get(selector)
			return failed !== undefined && (failed || !hasFailed)
		},
	}
}
