/** Stored form of a watched contract, for both stores: JSON with block numbers as text. */

import type { Contract, ContractUndo, LearntCode } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'

export interface ContractJson extends Pick<Contract, 'codeHash' | 'values' | 'runs'> {
	readonly since: string
	readonly readAt: string
	readonly logsFrom?: string
	/** Absent: it is none. */
	readonly isSafe?: true
	readonly undo?: readonly (Omit<ContractUndo, 'block'> & { readonly block: string })[]
	readonly learnt?: readonly (Omit<LearntCode, 'block'> & { readonly block: string })[]
}

function contractJson({
	since,
	readAt,
	logsFrom,
	codeHash,
	isSafe,
	values,
	undo,
	learnt,
	runs,
}: Contract): ContractJson {
	return {
		since: String(since),
		readAt: String(readAt),
		...(logsFrom !== undefined && { logsFrom: String(logsFrom) }),
		codeHash,
		...(isSafe && { isSafe }),
		values,
		...(undo?.length && { undo: undo.map((one) => ({ ...one, block: String(one.block) })) }),
		...(learnt?.length && { learnt: learnt.map((one) => ({ ...one, block: String(one.block) })) }),
		...(runs?.length && { runs }),
	}
}

/** Throws for data that `contractJson` did not make. */
function contractIn({ since, readAt, logsFrom, codeHash, isSafe, values, undo, learnt, runs }: ContractJson): Contract {
	if (typeof codeHash !== 'string' || typeof values !== 'object' || values === null) throw new Error('no contract')
	return {
		since: BigInt(since),
		readAt: BigInt(readAt),
		...(logsFrom !== undefined && { logsFrom: BigInt(logsFrom) }),
		codeHash,
		isSafe: isSafe === true,
		values,
		...(undo && { undo: undo.map((one) => ({ ...one, block: BigInt(one.block) })) }),
		...(learnt && { learnt: learnt.map((one) => ({ ...one, block: BigInt(one.block) })) }),
		...(runs && { runs }),
	}
}

/** Null: the watch has no code any more. */
export type ContractsJson = Readonly<Record<Address, ContractJson | null>>

export function contractsJson(contracts: Iterable<readonly [Address, Contract | null]>): ContractsJson {
	return Object.fromEntries([...contracts].map(([address, one]) => [address, one && contractJson(one)]))
}

export function contractsIn(json: ContractsJson): ReadonlyMap<Address, Contract | null> {
	const entries = Object.entries(json) as [Address, ContractJson | null][]
	return new Map(entries.map(([address, one]) => [address, one && contractIn(one)]))
}
