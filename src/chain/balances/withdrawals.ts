/** Withdrawals of staked coins, which stand in the headers of blocks. */

import * as Rlp from 'ox/Rlp'
import { numbersOf } from '../../core/spans.js'
import type { AddressSet, Block, Part, Span, Withdrawal } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { emptyRoot, listRoot } from '../listRoot.js'
import { shortHex } from '../rlpWords.js'
import type { Rpc } from '../rpc/rpc.js'
import { askAll } from '../sources/ask.js'
import { headerCalls, readHeaders } from '../sources/headers.js'
import { type Header, malformed, unsettled } from '../wire.js'

/** Withdrawals are listed in the blocks of these chains, and paid in a token (Gnosis: GNO). */
const PAID_IN_TOKENS = new Set([100, 10_200])

export function paysWithdrawals(chainId: number): boolean {
	return !PAID_IN_TOKENS.has(chainId)
}

/** Chains whose headers are known to name withdrawals by the root of EIP-4895. Elsewhere one must be seen first. */
const ROOTS_FIT = new Set([1, 100, 10_200, 17_000, 560_048, 11_155_111])

/** How a chain pays withdrawals. */
export interface WithdrawalRules {
	/** Whether they are paid in the chain's coin. */
	readonly areCoins: boolean
	/** Whether lists are known to come to the roots in their headers: then one that does not is no whole list. */
	readonly rootsFit: boolean
}

export function withdrawalRulesOf(chainId: number): WithdrawalRules {
	return { areCoins: paysWithdrawals(chainId), rootsFit: ROOTS_FIT.has(chainId) }
}

/** What is known of a chain's withdrawals. */
export interface WithdrawalLists extends WithdrawalRules {
	/** Known, or seen of a list that was not empty. */
	rootsFit: boolean
	/** Whether any header listed one: then all headers are read, also those that nothing else needs. */
	seen: boolean
}

/**
 * Takes note of what a header lists. Throws `malformed` where that does not come to the root that it names, on a chain
 * where such lists do. (On the OP stack the field is the root of something else since Isthmus, and no list ever fits.)
 */
export function noteWithdrawals(lists: WithdrawalLists, header: Header, endpoint: string): void {
	if (!lists.areCoins) return
	const { withdrawals = [], withdrawalsRoot, number } = header
	if (withdrawals.length > 0) lists.seen = true
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

/** Headers in one request: 2 MB of answer where blocks are full. */
const MOST_AT_ONCE = 100

/**
 * Reads the headers between two that are known, for those that pay one of the addresses. One question a block: there is
 * no other way that does not need the state of old blocks. Throws `unsettled` when they are not one chain.
 */
export async function readBetween(
	rpc: Rpc,
	{ from: first, to: last }: { readonly from: Header; readonly to: Header },
	lists: WithdrawalLists,
	addresses: AddressSet,
	signal: AbortSignal,
): Promise<readonly Header[]> {
	const paying: Header[] = []
	let before = first
	for (let from = first.number + 1n; from < last.number; from += BigInt(MOST_AT_ONCE)) {
		const end = from + BigInt(MOST_AT_ONCE) - 1n
		const span: Span = { from, to: end < last.number ? end : last.number - 1n }
		const numbers = [...numbersOf(span)]
		const headers = readHeaders(await askAll(rpc, headerCalls(numbers, null), signal), numbers, null, rpc.endpoint)
		follows(rpc, before, headers[0])
		paying.push(...payingBlocks(lists, headers, addresses, rpc.endpoint))
		before = headers.at(-1) ?? before
	}
	follows(rpc, before, last)
	return paying
}

function follows({ endpoint }: Rpc, before: Header, next: Header | undefined): void {
	if (next === undefined || next.number === before.number || next.parentHash === before.hash) return
	const reading = { endpoint, method: 'eth_getBlockByNumber' }
	throw unsettled(reading, `block ${next.number} does not follow block ${before.number}`)
}
