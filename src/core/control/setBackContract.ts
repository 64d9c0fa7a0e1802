/** The room says what rules a contract. This file puts what was read back where blocks left the chain. */

import type { Contract, ContractUndo } from '../../model/contract.js'
import type { Address, Hex } from '../../model/glossary.js'

/** What to write when the blocks above `back` leave the chain. Null: first looked at above it, and looked at anew. */
export function contractsBack(
	contracts: ReadonlyMap<Address, Contract>,
	back: bigint,
): ReadonlyMap<Address, Contract | null> {
	const changed = new Map<Address, Contract | null>()
	for (const [address, contract] of contracts) {
		const earlier = contractBack(contract, back)
		if (earlier !== contract) changed.set(address, earlier)
	}
	return changed
}

export function contractBack(contract: Contract, back: bigint): Contract | null {
	if (contract.since > back) return null
	const { undo = [], learnt = [], ...rest } = contract
	const isUndone = undo.some(({ block }) => block > back)
	if (!isUndone && rest.readAt <= back && !learnt.some(({ block }) => block > back)) return contract
	const values: Record<string, Hex> = { ...rest.values }
	let { codeHash, isSafe } = rest
	for (const one of undo.filter(({ block }) => block > back).toReversed()) {
		for (const [place, value] of Object.entries(one.values)) {
			if (value === '') delete values[place]
			else values[place] = value
		}
		codeHash = one.codeHash ?? codeHash
		if (one.becameSafe) isSafe = false
	}
	return withLists(
		{ ...rest, codeHash, isSafe, values, readAt: rest.readAt < back ? rest.readAt : back },
		undo.filter(({ block }) => block <= back),
		learnt.filter(({ block }) => block <= back),
	)
}

/** What a contract shows after a block that its entry does not; only what differs. */
export interface ContractChange {
	readonly block: bigint
	/** Empty text: the place has no value any more. */
	readonly values: Readonly<Record<string, Hex | ''>>
	readonly codeHash?: Contract['codeHash']
	readonly isSafe?: true
}

/** `keep`: the lowest block that may still leave the chain; what changed below it is never put back. */
export function contractWith(contract: Contract, change: ContractChange, keep: bigint): Contract {
	const values: Record<string, Hex> = { ...contract.values }
	const before: Record<string, Hex | ''> = {}
	for (const [place, value] of Object.entries(change.values)) {
		before[place] = values[place] ?? ''
		if (value === '') delete values[place]
		else values[place] = value
	}
	const becomesSafe = change.isSafe === true && !contract.isSafe
	const undo: ContractUndo = {
		block: change.block,
		values: before,
		...(change.codeHash !== undefined && { codeHash: contract.codeHash }),
		...(becomesSafe && { becameSafe: true }),
	}
	const { undo: earlier = [], learnt = [], ...rest } = contract
	return withLists(
		{
			...rest,
			readAt: change.block > rest.readAt ? change.block : rest.readAt,
			codeHash: change.codeHash ?? rest.codeHash,
			isSafe: rest.isSafe || becomesSafe,
			values,
		},
		[...earlier.filter(({ block }) => block >= keep), undo],
		learnt,
	)
}

function withLists(
	contract: Omit<Contract, 'undo' | 'learnt'>,
	undo: readonly ContractUndo[],
	learnt: NonNullable<Contract['learnt']>,
): Contract {
	return { ...contract, ...(undo.length > 0 && { undo }), ...(learnt.length > 0 && { learnt }) }
}
