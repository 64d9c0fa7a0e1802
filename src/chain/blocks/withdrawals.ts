/** Withdrawals of staked coins, which are listed in blocks. */

import * as Rlp from 'ox/Rlp'
import { OP_STACK } from '../../core/chains.js'
import type { AddressSet, Block, Part, Withdrawal } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import type { UnprovedBlock } from '../../model/token.js'
import { emptyRoot, listRoot } from '../wire/listRoot.js'
import { shortHex } from '../wire/rlpWords.js'
import { type Header, malformed } from '../wire/wire.js'

/** Chains that list withdrawals in blocks but pay them in a token (Gnosis: GNO). */
const PAID_IN_TOKENS: readonly number[] = [100, 10_200]
/** BSC, Sonic, the OP stack: by their rules the list is always empty (docs/nodes.md, "Withdrawals"). */
const NEVER_LISTED: readonly number[] = [56, 97, 146, ...OP_STACK]

const WITHOUT_COINS: ReadonlySet<number> = new Set([...PAID_IN_TOKENS, ...NEVER_LISTED])

/** Chains known to have the withdrawals root of EIP-4895; elsewhere a fitting root must be seen first. */
const ROOTS_FIT = new Set([1, 100, 10_200, 17_000, 560_048, 11_155_111])

/** What is known of the lists of a chain. All that read one network share one of these. */
export interface WithdrawalLists {
	/** Whether there are withdrawals that are paid in the chain's coin. */
	readonly areCoins: boolean
	/**
	 * Whether lists are known to make the root in their header, or one that was not empty was seen to: then a list that
	 * does not is incomplete.
	 */
	rootsFit: boolean
	/** A header had withdrawals, or the root of an empty list: others may have some, so all headers are read. */
	mayBePaid: boolean
}

export function withdrawalListsOf(chainId: number): WithdrawalLists {
	return { areCoins: !WITHOUT_COINS.has(chainId), rootsFit: ROOTS_FIT.has(chainId), mayBePaid: false }
}

/** Whether this block, or others like it, may pay withdrawals in the chain's coin. */
function mayPay({ areCoins }: WithdrawalLists, header: Header): boolean {
	const { withdrawals = [], withdrawalsRoot, hasUnreadWithdrawals = false } = header
	return areCoins && (withdrawals.length > 0 || hasUnreadWithdrawals || withdrawalsRoot === emptyRoot)
}

/** False for a list that does not make its header's root, unless no list of the chain does (OP stack). */
export function noteWithdrawals(lists: WithdrawalLists, header: Header): boolean {
	if (!lists.areCoins) return true
	const { withdrawals = [], withdrawalsRoot, hasUnreadWithdrawals = false } = header
	if (mayPay(lists, header)) lists.mayBePaid = true
	if (withdrawalsRoot === null || hasUnreadWithdrawals) return true
	const isEmpty = withdrawals.length === 0
	if (isEmpty && (withdrawalsRoot === emptyRoot || !lists.rootsFit)) return true
	const isFitting = withdrawalsRootOf(withdrawals) === withdrawalsRoot
	if (isFitting) lists.rootsFit = true
	return isFitting || !lists.rootsFit
}

/** Throws `malformed` where `noteWithdrawals` says false. */
export function needWithdrawals(lists: WithdrawalLists, header: Header, endpoint: string): void {
	if (noteWithdrawals(lists, header)) return
	const reading = { endpoint, method: 'eth_getBlockByNumber' }
	const what = `the withdrawals of block ${header.number} do not make the root in its header`
	throw malformed(reading, what, { ofHeader: true })
}

/** The header with a list that is not believed: none of it is, and there may be others. */
export function believedWithdrawals(lists: WithdrawalLists, header: Header): Header {
	if (noteWithdrawals(lists, header)) return header
	const { withdrawals: _, ...rest } = header
	return { ...rest, hasUnreadWithdrawals: true }
}

const GWEI = 10n ** 9n

export function withdrawalsRootOf(withdrawals: readonly Withdrawal[]): Hash {
	const encoded = withdrawals.map(({ index, validatorIndex, address, wei }) =>
		Rlp.fromHex([shortHex(index), shortHex(validatorIndex), address, shortHex(wei / GWEI)], { as: 'Bytes' }),
	)
	return listRoot(encoded)
}

/** The block without withdrawals if they are not paid in the chain's coin. */
export function inCoins({ areCoins }: WithdrawalLists, block: Block): Block {
	if (areCoins) return block
	const { withdrawals: _, hasUnreadWithdrawals: __, ...rest } = block
	return rest
}

export function partInCoins<P extends Part>(lists: WithdrawalLists, part: P): P {
	if (lists.areCoins) return part
	const blocks = new Map([...part.blocks].map(([number, block]) => [number, inCoins(lists, block)] as const))
	return { ...part, last: inCoins(lists, part.last), blocks }
}

/** Blocks of the part with withdrawals that cannot be read. */
export function unreadWithdrawals({ areCoins }: WithdrawalLists, { blocks, last }: Part): readonly UnprovedBlock[] {
	const all = [...blocks.values(), ...(blocks.has(last.number) ? [] : [last])]
	return all
		.filter(({ hasUnreadWithdrawals = false }) => areCoins && hasUnreadWithdrawals)
		.map(({ number }) => ({ number, why: 'withdrawals' }))
}

/** The headers that pay one of the addresses, or may, since they cannot be read; throws as `needWithdrawals` does. */
export function payingBlocks(
	lists: WithdrawalLists | undefined,
	headers: readonly Header[],
	addresses: AddressSet,
	endpoint: string,
): readonly Header[] {
	if (lists?.areCoins !== true) return []
	for (const header of headers) needWithdrawals(lists, header, endpoint)
	return headers.filter(
		({ withdrawals = [], hasUnreadWithdrawals = false }) =>
			hasUnreadWithdrawals || withdrawals.some(({ address }) => addresses.has(address)),
	)
}
