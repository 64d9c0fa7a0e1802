/** Withdrawals of staked coins, which stand in the headers of blocks. */

import * as Rlp from 'ox/Rlp'
import { OP_STACK } from '../../core/chains.js'
import type { AddressSet, Block, Part, Withdrawal } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { emptyRoot, listRoot } from '../listRoot.js'
import { shortHex } from '../rlpWords.js'
import { type Header, malformed } from '../wire.js'

/** Withdrawals are listed in the blocks of these chains, and paid in a token (Gnosis: GNO). */
const PAID_IN_TOKENS: readonly number[] = [100, 10_200]
/** BSC, Sonic, the OP stack: by their rules the list is always empty (docs/nodes.md, "Withdrawals"). */
const NEVER_LISTED: readonly number[] = [56, 97, 146, ...OP_STACK]

const WITHOUT_COINS: ReadonlySet<number> = new Set([...PAID_IN_TOKENS, ...NEVER_LISTED])

/** Chains whose headers are known to name withdrawals by the root of EIP-4895. Elsewhere one must be seen first. */
const ROOTS_FIT = new Set([1, 100, 10_200, 17_000, 560_048, 11_155_111])

/** How a chain pays withdrawals. */
export interface WithdrawalRules {
	/** Whether any are paid, and in the chain's coin. */
	readonly areCoins: boolean
	/** Whether lists are known to come to the roots in their headers: then one that does not is no whole list. */
	readonly rootsFit: boolean
}

export function withdrawalRulesOf(chainId: number): WithdrawalRules {
	return { areCoins: !WITHOUT_COINS.has(chainId), rootsFit: ROOTS_FIT.has(chainId) }
}

/** What is known of a chain's withdrawals. */
export interface WithdrawalLists extends WithdrawalRules {
	/** Known, or seen of a list that was not empty. */
	rootsFit: boolean
	/**
	 * Whether a header was seen that lists some, or says by the root of no list that others may: then all headers are
	 * read, also those that nothing else needs.
	 */
	mayBePaid: boolean
}

/** Whether this block, or others like it, may pay withdrawals in the chain's coin. */
export function mayPay({ areCoins }: WithdrawalRules, { withdrawals = [], withdrawalsRoot }: Header): boolean {
	return areCoins && (withdrawals.length > 0 || withdrawalsRoot === emptyRoot)
}

/**
 * Takes note of what a header lists. Throws `malformed` where that does not come to the root that it names, on a chain
 * where such lists do. (On the OP stack the field is the root of something else since Isthmus, and no list ever fits.)
 */
export function noteWithdrawals(lists: WithdrawalLists, header: Header, endpoint: string): void {
	if (!lists.areCoins) return
	const { withdrawals = [], withdrawalsRoot, number } = header
	if (mayPay(lists, header)) lists.mayBePaid = true
	if (withdrawalsRoot === null) return
	const isEmpty = withdrawals.length === 0
	if (isEmpty && (withdrawalsRoot === emptyRoot || !lists.rootsFit)) return
	if (withdrawalsRootOf(withdrawals) === withdrawalsRoot) {
		lists.rootsFit = true
		return
	}
	const reading = { endpoint, method: 'eth_getBlockByNumber' }
	if (lists.rootsFit) throw malformed(reading, `the withdrawals of block ${number} are not those that its header names`)
}

const GWEI = 10n ** 9n

/** The root that a header names them by. */
export function withdrawalsRootOf(withdrawals: readonly Withdrawal[]): Hash {
	const encoded = withdrawals.map(({ index, validatorIndex, address, wei }) =>
		Rlp.fromHex([shortHex(index), shortHex(validatorIndex), address, shortHex(wei / GWEI)], { as: 'Bytes' }),
	)
	return listRoot(encoded)
}

/** Withdrawals that are paid in something else than the chain's coin are none of ours. */
export function inCoins({ areCoins }: WithdrawalLists, block: Block): Block {
	if (areCoins) return block
	const { withdrawals: _, ...rest } = block
	return rest
}

export function partInCoins<P extends Part>(lists: WithdrawalLists, part: P): P {
	if (lists.areCoins) return part
	const blocks = new Map([...part.blocks].map(([number, block]) => [number, inCoins(lists, block)] as const))
	return { ...part, last: inCoins(lists, part.last), blocks }
}

/** The headers that pay one of the addresses; throws as `noteWithdrawals` does. */
export function payingBlocks(
	lists: WithdrawalLists | undefined,
	headers: readonly Header[],
	addresses: AddressSet,
	endpoint: string,
): readonly Header[] {
	if (lists?.areCoins !== true) return []
	for (const header of headers) noteWithdrawals(lists, header, endpoint)
	return headers.filter(({ withdrawals }) => withdrawals?.some(({ address }) => addresses.has(address)) === true)
}
