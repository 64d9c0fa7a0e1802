/** Withdrawals of staked coins, which stand in the headers of blocks. */

import { numbersOf } from '../../core/spans.js'
import type { AddressSet, Block, Part, Span } from '../../model/chain.js'
import type { Rpc } from '../rpc/rpc.js'
import { askAll } from '../sources/ask.js'
import { headerCalls, readHeaders } from '../sources/headers.js'
import { type Header, unsettled } from '../wire.js'

/** Withdrawals are listed in the blocks of these chains, and paid in a token (Gnosis: GNO). */
const PAID_IN_TOKENS = new Set([100, 10_200])

export function paysWithdrawals(chainId: number): boolean {
	return !PAID_IN_TOKENS.has(chainId)
}

/** What is known of a chain's withdrawals. */
export interface WithdrawalLists {
	/** Whether they are paid in the chain's coin. */
	readonly areCoins: boolean
	/** Whether any header listed one: then all headers are read, also those that nothing else needs. */
	seen: boolean
}

export function noteWithdrawals(lists: WithdrawalLists, { withdrawals }: Block): void {
	if (lists.areCoins && withdrawals !== undefined) lists.seen = true
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

/** The headers that pay one of the addresses. */
export function payingBlocks<B extends Block>(headers: readonly B[], addresses: AddressSet): readonly B[] {
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
		paying.push(...payingBlocks(headers, addresses))
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
