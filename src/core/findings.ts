/** What happened to a watch that no frame tells. */

import type { Authorised } from '../model/books.js'
import type { Block, Part, Span } from '../model/chain.js'
import type { Address } from '../model/glossary.js'

export type Finding = WithdrawalFinding | Delegation | Income | Crossing | Unexplained

export interface WithdrawalFinding {
	readonly kind: 'withdrawal'
	readonly address: Address
	readonly block: Block
	readonly wei: bigint
	/** Its number over the whole chain. */
	readonly index: bigint
	readonly validatorIndex: bigint
}

export interface Unexplained {
	readonly kind: 'unexplained'
	readonly address: Address
	/** Of `span.to`. */
	readonly block: Block
	/** The smallest that the difference could be found in. */
	readonly span: Span
	readonly openingWei: bigint
	readonly closingWei: bigint
	readonly explainedWei: bigint
	/** Hosts. */
	readonly endpoints: readonly string[]
	readonly reason: string
}

/** By an authorisation of EIP-7702, or as the state alone shows. */
export interface Delegation {
	readonly kind: 'delegation'
	readonly address: Address
	readonly block: Block
	/** Where it was authorised; null where only the state shows it. */
	readonly authorised: Authorised | null
	/** Whose code it runs from now on; null: its own, that is none. */
	readonly delegate: Address | null
	/** Absent: it was signed, and nobody was asked whether it changed the code. */
	readonly previous?: Address | null
}

/** Priority fees of one block, to its author. */
export interface Income {
	readonly kind: 'income'
	readonly address: Address
	readonly block: Block
	readonly wei: bigint
	/** How many paid it. */
	readonly transactions: number
}

/** A balance is beyond a threshold that it was not beyond before; which one depends on the watch. */
export interface Crossing {
	readonly kind: 'balance'
	readonly address: Address
	readonly block: Block
	readonly crossed: 'below' | 'above'
	/** Null: it was never known before. */
	readonly previousWei: bigint | null
	readonly balanceWei: bigint
}

/** Of the headers of a part: by block, then by their place in it; of whoever is paid. */
export function withdrawalFindings({ blocks }: Part): readonly Finding[] {
	const inOrder = [...blocks.values()].sort((a, b) => Number(a.number - b.number))
	return inOrder.flatMap((block) =>
		(block.withdrawals ?? []).map((one): Finding => ({ kind: 'withdrawal', block, ...one })),
	)
}

/** None of them depends on the block that a transaction stands in. */
export function findingId(chainId: number, finding: Finding): string {
	const { kind, address } = finding
	switch (finding.kind) {
		case 'withdrawal':
			return `${chainId}:withdrawal:${finding.index}:${kind}:${address}`
		case 'delegation': {
			const { authorised, block } = finding
			if (authorised === null) return `${chainId}:${block.number}:code:${kind}:${address}`
			return `${chainId}:${authorised.txHash}:auth_${authorised.at}:${kind}:${address}`
		}
		case 'income':
			return `${chainId}:${finding.block.hash}:fees:${kind}:${address}`
		case 'balance':
			return `${chainId}:${finding.block.number}:${finding.crossed}:${kind}:${address}`
		case 'unexplained':
			return `${chainId}:${finding.span.from}-${finding.span.to}:balance:${kind}:${address}`
	}
}
