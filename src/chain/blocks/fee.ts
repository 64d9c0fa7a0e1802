/** The fee that a transaction costs its sender, by its receipt. docs/nodes.md, "Fees", has the sources. */

import type { Amounts, Posting } from '../../model/books.js'
import { isObject, type Json, quantity } from '../wire/wire.js'

/**
 * Chains whose fees are known to be those in their receipts: Ethereum and its test nets, OP and Base, BNB, Gnosis,
 * Polygon, Arbitrum One, Avalanche, and local nodes.
 */
const KNOWN = new Set([
	1, 10, 56, 100, 137, 1_337, 8_453, 17_000, 31_337, 42_161, 43_114, 84_532, 560_048, 11_155_111, 11_155_420,
])

/** On other chains fees must be seen to be right first. */
export function feesAreKnown(chainId: number): boolean {
	return KNOWN.has(chainId)
}

/** Ethereum and its test nets: a block's fees, author and withdrawals are known to be complete. */
const ETHEREUM = new Set([1, 17_000, 560_048, 11_155_111])

/** Kinds of postings that a chain is known to report completely. */
export function surePostings(chainId: number): ReadonlySet<Posting['kind']> {
	if (ETHEREUM.has(chainId)) return new Set(['fee', 'income', 'withdrawal'])
	return new Set(feesAreKnown(chainId) ? ['fee'] : [])
}

/** Celo's receipts show an L1 fee that is not charged (celo-org/op-geth#255). */
const FREE_OF_L1 = new Set([42_220, 44_787, 62_320, 11_142_220])

/**
 * The fee in wei, charged whether the transaction failed or not. Two amounts where two rules may be in force and the
 * receipt does not say which: the operator fee of the OP stack up to Isthmus, and since Jovian. Null where the fee
 * cannot be known.
 */
export function feeOf(raw: unknown, chainId?: number): Amounts | null {
	if (!isObject(raw)) return null
	// zkSync and its forks: with refunds and paymasters, the payer and the price may be others.
	if (raw.l1BatchNumber !== undefined || raw.l1BatchTxIndex !== undefined) return null
	// Deposits of the OP stack and of Arbitrum are paid for on the other chain.
	const type = quantity(raw.type)
	if (type === DEPOSIT) return [0n, 0n]
	// Celo CIP-64: paid in a token.
	if (raw.feeCurrency !== undefined && raw.feeCurrency !== null) return [0n, 0n]
	const gasUsed = quantity(raw.gasUsed)
	const price = quantity(raw.effectiveGasPrice)
	if (gasUsed === null || price === null) return null
	const blob = type === BLOB ? (quantity(raw.blobGasUsed) ?? 0n) * (quantity(raw.blobGasPrice) ?? 0n) : 0n
	const l1 = chainId !== undefined && FREE_OF_L1.has(chainId) ? 0n : (quantity(raw.l1Fee) ?? 0n)
	const fixed = gasUsed * price + blob + l1
	const [isthmus, jovian] = operatorFees(raw, gasUsed)
	return [fixed + isthmus, fixed + jovian]
}

const BLOB = 3n
/** 0x7e, of the OP stack. */
export const DEPOSIT = 126n

/** gasUsed × scalar / 10^6 + constant; since Jovian gasUsed × scalar × 100 + constant. */
function operatorFees(raw: Json, gasUsed: bigint): Amounts {
	const scalar = quantity(raw.operatorFeeScalar) ?? 0n
	const constant = quantity(raw.operatorFeeConstant) ?? 0n
	return [(gasUsed * scalar) / 1_000_000n + constant, gasUsed * scalar * 100n + constant]
}
