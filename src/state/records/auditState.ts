/** Stored form of the auditor's position, for both stores. */

import type { TouchedBlock } from '../../model/chain.js'
import type { Address, Hash } from '../../model/glossary.js'
import type { AuditState, RanInTransaction } from '../../model/state.js'

interface TouchedJson {
	readonly block: readonly [number: string, hash: Hash]
	readonly from?: string
	/** Transactions by contract. */
	readonly contracts: Readonly<Record<Address, readonly Hash[]>>
}

export interface AuditJson {
	readonly taken: string | null
	/** Absent: none. */
	readonly signed?: readonly (readonly [number: string, hash: Hash | null])[]
	/** Absent: none. */
	readonly ran?: readonly (readonly [number: string, hash: Hash, txHash: Hash, contract?: Address])[]
	/** Absent: none. */
	readonly touched?: readonly TouchedJson[]
}

export function auditJson({ taken, signed, ran = [], touched = [] }: AuditState): AuditJson {
	return {
		taken: taken === null ? null : String(taken),
		...(signed.length > 0 && { signed: signed.map(({ number, hash }) => [String(number), hash] as const) }),
		...(ran.length > 0 && { ran: ran.map(ranJson) }),
		...(touched.length > 0 && { touched: touched.map(touchedJson) }),
	}
}

export function auditIn({ taken, signed = [], ran = [], touched = [] }: AuditJson): AuditState {
	return {
		taken: taken === null ? null : BigInt(taken),
		signed: signed.map(([number, hash]) => ({ number: BigInt(number), hash })),
		...(ran.length > 0 && { ran: ran.map(ranIn) }),
		...(touched.length > 0 && { touched: touched.map(touchedIn) }),
	}
}

type RanJson = NonNullable<AuditJson['ran']>[number]

function ranJson({ number, hash, txHash, contract }: RanInTransaction): RanJson {
	return contract === undefined ? [String(number), hash, txHash] : [String(number), hash, txHash, contract]
}

function ranIn([number, hash, txHash, contract]: RanJson): RanInTransaction {
	return { number: BigInt(number), hash, txHash, ...(contract && { contract }) }
}

function touchedJson({ number, hash, from, contracts }: TouchedBlock): TouchedJson {
	return {
		block: [String(number), hash],
		...(from !== undefined && { from: String(from) }),
		contracts: Object.fromEntries(contracts),
	}
}

function touchedIn({ block: [number, hash], from, contracts }: TouchedJson): TouchedBlock {
	const entered = new Map(Object.entries(contracts) as [Address, readonly Hash[]][])
	return { number: BigInt(number), hash, ...(from !== undefined && { from: BigInt(from) }), contracts: entered }
}
