/** Which contracts' own logs are read, for what rules them: those with code whose watches want it. */

import type { AddressSet } from '../../model/chain.js'
import type { Contract } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'
import type { WatchIndex } from '../../model/watch.js'

type Contracts = ReadonlyMap<Address, Contract>

const latest = new WeakMap<WatchIndex, { readonly contracts: Contracts; readonly set: ReadonlySet<Address> }>()
const widened = new WeakMap<AddressSet, { readonly set: ReadonlySet<Address>; readonly addresses: AddressSet }>()

/** The same addresses with the contracts whose logs are read; the same object where there are none. */
export function withLogs(addresses: AddressSet, watches: WatchIndex, contracts: Contracts): AddressSet {
	return withOwnLogs(addresses, ruled(watches, contracts))
}

/** The same addresses with these contracts. */
export function withOwnLogs(addresses: AddressSet, set: ReadonlySet<Address>): AddressSet {
	if (set.size === 0) return addresses
	// Return the same object each time, so that what was read ahead for it can be used.
	const before = widened.get(addresses)
	if (before?.set === set) return before.addresses
	const whole: AddressSet = {
		size: addresses.size,
		has: (address) => addresses.has(address),
		keys: () => addresses.keys(),
		...(addresses.calls && { calls: addresses.calls }),
		...(addresses.lent && { lent: addresses.lent }),
		logsOf: set,
	}
	widened.set(addresses, { set, addresses: whole })
	return whole
}

/** The same set while its contents are equal: the map is a new one after each change of a value. */
function ruled(watches: WatchIndex, contracts: Contracts): ReadonlySet<Address> {
	const before = latest.get(watches)
	if (before?.contracts === contracts) return before.set
	const found = new Set<Address>()
	for (const address of contracts.keys()) {
		if (watches.get(address)?.some(({ kinds }) => kinds.includes('control')) === true) found.add(address)
	}
	const isSame =
		before !== undefined && before.set.size === found.size && [...found].every((one) => before.set.has(one))
	const set = isSame ? before.set : found
	latest.set(watches, { contracts, set })
	return set
}
