/**
 * The room asks for balances: of many addresses after one block, from one endpoint, in as few questions as it bears
 * (here), and for what moves them without a frame (`postings.ts`).
 */

import { MOST_IN_MULTICALL, MOST_TOGETHER } from '../../core/books.js'
import { RpcError } from '../../errors.js'
import type { Balances } from '../../model/books.js'
import type { BlockRef } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { blockCall, needBlock } from '../sources/ask.js'
import { hexOf, quantity } from '../wire.js'
import { type AccountState, balanceCall, readStates } from './balanceCode.js'
import { multicallCall, readMulticall } from './multicall.js'

/** How an endpoint can be asked; learnt once. */
export interface BalanceWay {
	/** All in one `eth_call`, with lent code or by Multicall3, or each by `eth_getBalance`. */
	readonly ask: 'together' | 'multicall' | 'each'
	/** By the block's hash (EIP-1898), or by its number and a look at its header afterwards. */
	readonly by: 'hash' | 'number'
}

export interface BalanceReader {
	/**
	 * Throws RpcError: `no-data` where this endpoint has not got that state, or cannot be believed about it; what the
	 * connection throws as it is. Nothing of it says that the endpoint is of no use for other questions.
	 */
	read(rpc: Rpc, addresses: readonly Address[], block: BlockRef, signal: AbortSignal): Promise<Balances>
	/** Null before it was learnt. */
	wayOf(rpc: Rpc): BalanceWay | null
}

/** The best first. */
const WAYS: readonly BalanceWay[] = [
	{ ask: 'together', by: 'hash' },
	{ ask: 'together', by: 'number' },
	{ ask: 'multicall', by: 'hash' },
	{ ask: 'multicall', by: 'number' },
	{ ask: 'each', by: 'hash' },
	{ ask: 'each', by: 'number' },
]
/** One more address for the probe: with two of them the order shows. */
const ANYBODY: Address = '0x0000000000000000000000000000000000000001'

export function createBalanceReader({ log }: { readonly log: Log }): BalanceReader {
	const ways = new WeakMap<Rpc, BalanceWay>()

	/** All ways in one request, checked against each other. */
	async function learn(rpc: Rpc, address: Address, block: BlockRef, signal: AbortSignal): Promise<BalanceWay> {
		const pair = [address, ANYBODY]
		const answers = await rpc.batch(
			WAYS.flatMap((way) => callsOf(pair, way, block)),
			signal,
		)
		const given = answers.values()
		const found = WAYS.map((way) => readAnswers(pair, way, () => given.next().value))
		// What each account says by itself is the measure.
		const truth = found.find((states, index) => WAYS[index]?.ask === 'each' && states !== null)
		const best = WAYS.find((_way, index) => truth != null && isSame(found[index], truth))
		if (best === undefined) throw unable(rpc, block, answers)
		ways.set(rpc, best)
		log.debug({ endpoint: rpc.endpoint, ...best }, 'balances can be asked here')
		return best
	}

	async function readBy(
		rpc: Rpc,
		way: BalanceWay,
		addresses: readonly Address[],
		block: BlockRef,
		signal: AbortSignal,
	): Promise<readonly AccountState[]> {
		const lists = [...chunks(addresses, MOST_ASKED[way.ask])]
		const answers = await rpc.batch(
			lists.flatMap((list) => callsOf(list, way, block)),
			signal,
		)
		const given = answers.values()
		const balances: AccountState[] = []
		for (const list of lists) {
			const read = readAnswers(list, way, () => given.next().value)
			if (read === null) throw unable(rpc, block, answers)
			balances.push(...read)
		}
		if (way.by === 'hash') return balances
		const { method, params } = blockCall(block.number)
		const header = needBlock(await rpc.call(method, params, signal), block.number, rpc.endpoint)
		if (header.hash === block.hash) return balances
		throw new RpcError(`${rpc.endpoint} has another block ${block.number} by now`, {
			kind: 'unsettled',
			endpoint: rpc.endpoint,
		})
	}

	return {
		wayOf: (rpc) => ways.get(rpc) ?? null,
		async read(rpc, addresses, block, signal) {
			const [first] = addresses
			if (first === undefined) return new Map()
			const way = ways.get(rpc) ?? (await learn(rpc, first, block, signal))
			try {
				return balancesOf(addresses, await readBy(rpc, way, addresses, block, signal))
			} catch (error) {
				// Another node may stand behind the same address by now.
				if (error instanceof RpcError && error.kind === 'no-data') ways.delete(rpc)
				throw error
			}
		},
	}
}

function balancesOf(addresses: readonly Address[], states: readonly AccountState[]): Balances {
	const balances = new Map(addresses.map((address, index) => [address, states[index]?.wei ?? 0n]))
	if (states.some(({ code }) => code === undefined)) return balances
	const codes = new Map<Address, string>()
	for (const [index, address] of addresses.entries()) {
		const code = states[index]?.code
		if (code != null) codes.set(address, code)
	}
	return Object.assign(balances, { codes })
}

/** In one question. */
const MOST_ASKED: Readonly<Record<BalanceWay['ask'], number>> = {
	together: MOST_TOGETHER,
	multicall: MOST_IN_MULTICALL,
	each: MOST_TOGETHER,
}

function* chunks(addresses: readonly Address[], size: number): Iterable<readonly Address[]> {
	for (let at = 0; at < addresses.length; at += size) yield addresses.slice(at, at + size)
}

function callsOf(addresses: readonly Address[], { ask, by }: BalanceWay, block: BlockRef): readonly RpcCall[] {
	const at = by === 'hash' ? { blockHash: block.hash } : hexOf(block.number)
	if (ask === 'together') return [{ method: 'eth_call', params: balanceCall(addresses, at) }]
	if (ask === 'multicall') return [{ method: 'eth_call', params: multicallCall(addresses, at) }]
	return addresses.map((address) => ({ method: 'eth_getBalance', params: [address, at] }))
}

/** Takes the answers to `callsOf`; null when one of them is not what it should be. */
function readAnswers(
	addresses: readonly Address[],
	{ ask }: BalanceWay,
	next: () => unknown,
): readonly AccountState[] | null {
	if (ask === 'together') return readStates(next(), addresses.length)
	if (ask === 'multicall') return readMulticall(next(), addresses.length)
	const balances = addresses.map(() => {
		const answer = next()
		// An empty text is no number, whatever some nodes mean by it.
		return answer instanceof RpcError || answer === '0x' ? null : quantity(answer)
	})
	return balances.every((wei) => wei !== null) ? balances.map((wei) => ({ wei })) : null
}

function isSame(one: readonly AccountState[] | null | undefined, other: readonly AccountState[]): boolean {
	return one != null && one.length === other.length && one.every(({ wei }, index) => wei === other[index]?.wei)
}

/** Says it of the state, never of the endpoint: one without old state is as good as ever for everything else. */
function unable({ endpoint }: Rpc, { number }: BlockRef, answers: readonly unknown[]): RpcError {
	const error = answers.find((answer): answer is RpcError => answer instanceof RpcError)
	const passing = answers.find((answer): answer is RpcError => answer instanceof RpcError && isPassing(answer))
	if (passing !== undefined) return passing
	const why = error === undefined ? 'its answer is no balance' : error.message
	return new RpcError(`${endpoint} cannot tell the balances after block ${number}: ${why}`, {
		kind: 'no-data',
		endpoint,
		...(error === undefined ? {} : { method: error.facts.method ?? 'eth_getBalance' }),
	})
}

function isPassing({ kind }: RpcError): boolean {
	return ['rate', 'quota', 'network', 'timeout', 'server'].includes(kind)
}
