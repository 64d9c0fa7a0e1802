/** Finds blocks and transactions, with one call to one endpoint each. */

import { RpcError } from '../../errors.js'
import type { Block, BlockRef, Part, Span } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { blockCall, needBlock } from '../blocks/batchedCalls.js'
import { believedWithdrawals, type WithdrawalLists } from '../blocks/withdrawals.js'
import { soon } from '../endpoints/endpoint.js'
import type { Endpoints } from '../endpoints/endpoints.js'
import type { Rpc } from '../rpc/rpc.js'
import { readBlockAt, readReceipt } from '../wire/wire.js'

interface Sought {
	readonly number: bigint
	/** Up to this block every endpoint is asked; beyond it, the first one that answers decides. */
	readonly head: bigint
	readonly lists: WithdrawalLists
}

/**
 * Null where no endpoint has the block. An endpoint that is behind may not have it yet, so up to the head each is
 * asked; if one denies it and another does not answer, the result is unknown. Throws RpcError.
 */
export async function findBlock(
	endpoints: Pick<Endpoints, 'use'>,
	{ number, head, lists }: Sought,
	signal: AbortSignal,
	onDenied?: () => void,
): Promise<Block | null> {
	let isDenied = false
	const read = async (rpc: Rpc, until: AbortSignal) => {
		const { method, params } = blockCall(number)
		// Lotus has an error in place of `null` for a number that the chain has left out.
		const raw = await rpc.call(method, params, until).catch((error: unknown) => {
			if (error instanceof RpcError && error.kind === 'no-data') return null
			throw error
		})
		const block = readBlockAt(raw, number, { endpoint: rpc.endpoint, method })
		if (block !== null) return believedWithdrawals(lists, block)
		if (number > head) return null
		isDenied = true
		onDenied?.()
		return needBlock(raw, number, rpc.endpoint)
	}
	try {
		return await endpoints.use(read, signal, soon)
	} catch (error) {
		// Errors that may pass by themselves are thrown before `no-data`.
		if (isDenied && error instanceof RpcError && error.kind === 'no-data') return null
		throw error
	}
}

/** How far to look for the blocks around a number that no block has. */
const FAR = 64n

/**
 * The block before a number that the chain has left out, under that number and without contents; null where it is not
 * known to be left out. The proof: of the blocks that endpoints give, the next one names the one before as its parent.
 */
export async function beforeLeftOut(
	number: bigint,
	head: bigint,
	find: (number: bigint) => Promise<Block | null>,
): Promise<Block | null> {
	const nearest = async (step: bigint): Promise<Block | null> => {
		for (let far = 1n; far <= FAR; far++) {
			const at = number + step * far
			const block = at < 0n || at > head ? null : await find(at)
			if (block !== null) return block
		}
		return null
	}
	const next = await nearest(1n)
	const before = next && (await nearest(-1n))
	if (before === null || next?.parentHash !== before.hash) return null
	const { hash, timestampS, hasNoTime } = before
	return { number, hash, parentHash: hash, timestampS, ...(hasNoTime && { hasNoTime }), txHashes: [] }
}

/** Null where an endpoint denies the block and none shows it. Throws RpcError where none answers. */
export async function showBlock(
	endpoints: Pick<Endpoints, 'use'>,
	{ number, lists }: Omit<Sought, 'head'>,
	signal: AbortSignal,
): Promise<Block | null> {
	let isDenied = false
	const onDenied = () => {
		isDenied = true
	}
	try {
		return await findBlock(endpoints, { number, head: number, lists }, signal, onDenied)
	} catch (error) {
		signal.throwIfAborted()
		if (error instanceof RpcError && (isDenied || error.kind === 'no-data')) return null
		throw error
	}
}

export async function locateAt(rpc: Rpc, txHash: Hash, signal: AbortSignal): Promise<BlockRef | null> {
	const method = 'eth_getTransactionReceipt'
	const raw = await rpc.call(method, [txHash], signal)
	return readReceipt(raw, txHash, { endpoint: rpc.endpoint, method })?.block ?? null
}

export async function headerOnly(rpc: Rpc, span: Span, signal: AbortSignal): Promise<Part> {
	const { method, params } = blockCall(span.to)
	const last = needBlock(await rpc.call(method, params, signal), span.to, rpc.endpoint)
	return { span, last, blocks: new Map(), transactions: [] }
}

/** The newest reported head within the span, its last block excluded: claims may be higher. Null: there is none. */
export function headWithin({ from, to }: Span, states: Iterable<{ readonly head: bigint | null }>): bigint | null {
	let reached: bigint | null = null
	for (const { head: claimed } of states) {
		if (claimed !== null && claimed >= from && claimed < to && (reached === null || claimed > reached))
			reached = claimed
	}
	return reached
}
