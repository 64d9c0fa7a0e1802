/** Which code that watches run in their own storage is looked at: decided before a tree is asked for. */

import type { AddressSet, LentCode } from '../../model/chain.js'
import type { Contract } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'
import type { WatchIndex } from '../../model/watch.js'
import { placedCode } from '../events/placedCode.js'

/** Of one network. What it knows of constants is lost at a restart, and found anew. */
export interface CodeGate extends LentCode {
	/** Takes what is watched now. `isCodeFixed`: code cannot be replaced any more (EIP-6780), but by a delegation. */
	follow(known: GateFacts): void
	/** False until the first `follow`. */
	isFollowing(): boolean
	/** The code stands as a constant in ordinary code of the contract. */
	noteConstant(contract: Address, code: Address): void
	/** The same addresses, whose foreign code is looked at; the same object each time. */
	on(addresses: AddressSet): AddressSet
}

export interface GateFacts {
	readonly watches: WatchIndex
	readonly contracts: ReadonlyMap<Address, Contract>
	readonly isCodeFixed: boolean
}

export function createCodeGate(): CodeGate {
	const nothing: GateFacts = { watches: new Map(), contracts: new Map(), isCodeFixed: false }
	let known = nothing
	/** With the code of the contract when they were found. */
	const constants = new Map<Address, { readonly codeHash: string | undefined; readonly codes: Set<Address> }>()
	const sets = new WeakMap<AddressSet, AddressSet>()

	/** Other learnt code is judged each time, since its caller may choose it the next time. */
	function isForwarded(contract: Address, code: Address): boolean {
		const { learnt = [] } = known.contracts.get(contract) ?? {}
		return learnt.some(({ forwarded, callee }) => forwarded === true && callee === code)
	}

	function constantsOf(contract: Address): Set<Address> {
		const codeHash = known.contracts.get(contract)?.codeHash
		const before = constants.get(contract)
		if (before?.codeHash === codeHash && before !== undefined) return before.codes
		const codes = new Set<Address>()
		constants.set(contract, { codeHash, codes })
		return codes
	}

	const gate: CodeGate = {
		isJudged(contract, code) {
			const watched = known.watches.get(contract)
			if (watched?.some(({ kinds }) => kinds.includes('code')) !== true) return false
			const entry = known.contracts.get(contract)
			if (entry !== undefined && placedCode(entry).has(code)) return false
			const found = constants.get(contract)
			if (found?.codeHash === entry?.codeHash && found?.codes.has(code) === true) return false
			return !(known.isCodeFixed && isForwarded(contract, code))
		},
		follow(facts) {
			known = facts
		},
		isFollowing: () => known !== nothing,
		noteConstant(contract, code) {
			constantsOf(contract).add(code)
		},
		on(addresses) {
			let set = sets.get(addresses)
			if (set === undefined) {
				set = {
					size: addresses.size,
					has: (address) => addresses.has(address),
					keys: () => addresses.keys(),
					...(addresses.calls && { calls: addresses.calls }),
					...(addresses.logsOf && { logsOf: addresses.logsOf }),
					lent: gate,
				}
				sets.set(addresses, set)
			}
			return set
		},
	}
	return gate
}
