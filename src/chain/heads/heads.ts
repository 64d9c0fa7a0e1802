/** The room reads the heads that endpoints report (here), and follows new ones over WebSocket (`newHeads.ts`). */

import { newestOf } from '../../core/newest.js'
import { endingAt } from '../../core/target.js'
import { RpcError } from '../../errors.js'
import type { Block, Head } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { noteWithdrawals, type WithdrawalLists } from '../blocks/withdrawals.js'
import type { Rpc } from '../rpc/rpc.js'
import { type Header, hexOf, isObject, quantity, readBlock, readBlockAt } from '../wire/wire.js'

/** A head with the whole header of its newest block. */
export interface HeadAnswer extends Head {
	readonly latest: Header
}

/** Passes on every call, and reports each head in an answer, so that it need not be asked for again. */
export function watchHead(rpc: Rpc, onHead: (head: bigint) => void): Rpc {
	const look = (method: string, params: readonly unknown[], answer: unknown) => {
		const head = headIn(method, params, answer)
		if (head !== null) onHead(head)
	}
	return {
		...rpc,
		async call(method, params, signal) {
			const answer = await rpc.call(method, params, signal)
			look(method, params, answer)
			return answer
		},
		async batch(calls, signal) {
			const answers = await rpc.batch(calls, signal)
			for (const [at, { method, params }] of calls.entries()) look(method, params, answers[at])
			return answers
		},
	}
}

function headIn(method: string, params: readonly unknown[], answer: unknown): bigint | null {
	if (method === 'eth_blockNumber') return quantity(answer)
	if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest' || !isObject(answer)) return null
	return quantity(answer.number)
}

/** The head that the endpoint reports. Throws RpcError. */
export async function askHead(rpc: Rpc, signal: AbortSignal): Promise<bigint> {
	return askQuantity(rpc, 'eth_blockNumber', signal)
}

/** The newest block. Throws RpcError. */
export async function askLatest(rpc: Rpc, signal: AbortSignal): Promise<Header | null> {
	const method = 'eth_getBlockByNumber'
	return readBlock(await rpc.call(method, ['latest', false], signal), { endpoint: rpc.endpoint, method })
}

/** The hash of the block with this number; null where the endpoint has none. Throws RpcError. */
export async function askHash(rpc: Rpc, number: bigint, signal: AbortSignal): Promise<Hash | null> {
	const method = 'eth_getBlockByNumber'
	const raw = await rpc.call(method, [hexOf(number), false], signal)
	return readBlockAt(raw, number, { endpoint: rpc.endpoint, method })?.hash ?? null
}

/** Calls a method without parameters whose answer is a number. Throws RpcError. */
export async function askQuantity(
	rpc: Pick<Rpc, 'endpoint' | 'call'>,
	method: string,
	signal: AbortSignal,
): Promise<bigint> {
	const answer = quantity(await rpc.call(method, [], signal))
	if (answer !== null) return answer
	throw new RpcError(`${rpc.endpoint} gave an answer to ${method} that is no number`, {
		kind: 'malformed',
		endpoint: rpc.endpoint,
		method,
	})
}

const TAGS = ['latest', 'safe', 'finalized'] as const

/** The head, and the blocks of its tags. All are asked for each time: a node just started names no finalized block. */
export async function readHead(rpc: Rpc, lists: WithdrawalLists, signal: AbortSignal): Promise<HeadAnswer> {
	const reading = { endpoint: rpc.endpoint, method: 'eth_getBlockByNumber' }
	const calls = TAGS.map((tag) => ({ method: reading.method, params: [tag, false] }))
	const answers = await rpc.batch(calls, signal)
	const blockBy = (tag: (typeof TAGS)[number]): Header | null => {
		const answer = answers[TAGS.indexOf(tag)]
		if (answer instanceof RpcError && (tag === 'latest' || !isAboutTag(answer))) throw answer
		return isObject(answer) && !(answer instanceof RpcError) ? readBlock(answer, reading) : null
	}
	const latest = blockBy('latest')
	if (latest === null) throw new RpcError(`${rpc.endpoint} has no head`, { kind: 'no-data', ...reading })
	// A list that is not believed is no reason to refuse the head: reading the block refuses it.
	noteWithdrawals(lists, latest)
	return { latest, safe: blockBy('safe')?.number ?? null, finalized: blockBy('finalized')?.number ?? null }
}

/**
 * Nodes without a tag refuse it in many ways: Nethermind -39001, geth and Erigon "finalized block not found"; gateways
 * leave it without an answer.
 */
function isAboutTag({ kind, facts }: RpcError): boolean {
	return (
		kind === 'no-data' ||
		kind === 'bad-params' ||
		kind === 'unsupported' ||
		kind === 'malformed' ||
		(kind === 'server' && (facts.status ?? 500) < 500)
	)
}

/**
 * The same head if its newest block is shown; else a head that ends at the newest block that is shown, at least at
 * `known`, which was shown before. `show` resolves to null where no endpoint has the block.
 */
export async function shownHead<H extends Head>(
	head: H,
	known: bigint,
	show: (number: bigint) => Promise<Block | null>,
): Promise<H | Head> {
	const { number } = head.latest
	if (number <= known || (await show(number)) !== null) return head
	let newest: Block | null = null
	const isShown = async (each: bigint) => {
		const block = await show(each)
		if (block !== null) newest = block
		return block !== null
	}
	const end = await newestOf({ from: known, to: number }, isShown)
	const latest = newest ?? (await show(end))
	return latest === null ? head : endingAt(head, latest)
}
