/**
 * The room reads the state: balances of many addresses after one block, from one endpoint, in as few calls as possible
 * (here), code and delegations, access lists, and what moves a balance without a frame (`postings.ts`).
 */

import { MOST_IN_MULTICALL, MOST_TOGETHER } from '../../core/ledger/books.js'
import { cut } from '../../core/lists.js'
import { RpcError } from '../../errors.js'
import type { Balances } from '../../model/books.js'
import type { BlockRef } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import { blockCall, needBlock } from '../blocks/batchedCalls.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { hexOf, quantity } from '../wire/wire.js'
import { type AccountState, balanceCall, readStates } from './balanceCode.js'
import { multicallCall, readMulticall } from './multicall.js'

/** How to ask an endpoint; learnt once. */
export interface BalanceStrategy {
	/** All in one `eth_call`, by state override or by Multicall3, or each by `eth_getBalance`. */
	readonly ask: 'together' | 'multicall' | 'each'
	/** By the block's hash (EIP-1898), or by its number with a check of its header afterwards. */
	readonly by: 'hash' | 'number'
}

export interface BalanceReader {
	/** Throws RpcError: `no-data` where the endpoint lacks that state or gives it wrong; it may be good otherwise. */
	read(rpc: Rpc, addresses: readonly Address[], block: BlockRef, signal: AbortSignal): Promise<Balances>
	/** Null before it was learnt. */
	strategyOf(rpc: Rpc): BalanceStrategy | null
}

/** Best first. */
const STRATEGIES: readonly BalanceStrategy[] = [
	{ ask: 'together', by: 'hash' },
	{ ask: 'together', by: 'number' },
	{ ask: 'multicall', by: 'hash' },
	{ ask: 'multicall', by: 'number' },
	{ ask: 'each', by: 'hash' },
	{ ask: 'each', by: 'number' },
]
/** One more address for the probe: with two addresses, a wrong order shows. */
const PROBE_ADDRESS: Address = '0x0000000000000000000000000000000000000001'

export function createBalanceReader({ log }: { readonly log?: Log } = {}): BalanceReader {
	const strategies = new WeakMap<Rpc, BalanceStrategy>()

	/** Tries all ways in one request and compares the results. */
	async function learn(rpc: Rpc, address: Address, block: BlockRef, signal: AbortSignal): Promise<BalanceStrategy> {
		const pair = [address, PROBE_ADDRESS]
		const answers = await rpc.batch(
			STRATEGIES.flatMap((strategy) => callsOf(pair, strategy, block)),
			signal,
		)
		const given = answers.values()
		const found = STRATEGIES.map((strategy) => readAnswers(pair, strategy, () => given.next().value))
		// `eth_getBalance` of each account is taken as right.
		const truth = found.find((states, index) => STRATEGIES[index]?.ask === 'each' && states !== null)
		const best = STRATEGIES.find((_strategy, index) => truth != null && isSame(found[index], truth))
		if (best === undefined) throw unable(rpc, block, answers)
		strategies.set(rpc, best)
		log?.debug({ endpoint: rpc.endpoint, ...best }, 'balances can be asked here')
		return best
	}

	async function readBy(
		rpc: Rpc,
		strategy: BalanceStrategy,
		{ addresses, block }: { readonly addresses: readonly Address[]; readonly block: BlockRef },
		signal: AbortSignal,
	): Promise<readonly AccountState[]> {
		const lists = [...cut(addresses, MOST_ASKED[strategy.ask])]
		const answers = await rpc.batch(
			lists.flatMap((list) => callsOf(list, strategy, block)),
			signal,
		)
		const given = answers.values()
		const balances: AccountState[] = []
		for (const list of lists) {
			const read = readAnswers(list, strategy, () => given.next().value)
			if (read === null) throw unable(rpc, block, answers)
			balances.push(...read)
		}
		if (strategy.by === 'hash') return balances
		const { method, params } = blockCall(block.number)
		const header = needBlock(await rpc.call(method, params, signal), block.number, rpc.endpoint)
		if (header.hash === block.hash) return balances
		throw new RpcError(`${rpc.endpoint} has another block ${block.number} by now`, {
			kind: 'unsettled',
			endpoint: rpc.endpoint,
		})
	}

	return {
		strategyOf: (rpc) => strategies.get(rpc) ?? null,
		async read(rpc, addresses, block, signal) {
			const [first] = addresses
			if (first === undefined) return new Map()
			const strategy = strategies.get(rpc) ?? (await learn(rpc, first, block, signal))
			try {
				return balancesOf(addresses, await readBy(rpc, strategy, { addresses, block }, signal))
			} catch (error) {
				// Another node may answer behind the same URL by now.
				if (error instanceof RpcError && error.kind === 'no-data') strategies.delete(rpc)
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

/** Addresses in one call. */
const MOST_ASKED: Readonly<Record<BalanceStrategy['ask'], number>> = {
	together: MOST_TOGETHER,
	multicall: MOST_IN_MULTICALL,
	each: MOST_TOGETHER,
}

function callsOf(addresses: readonly Address[], { ask, by }: BalanceStrategy, block: BlockRef): readonly RpcCall[] {
	const at = by === 'hash' ? { blockHash: block.hash } : hexOf(block.number)
	if (ask === 'together') return [{ method: 'eth_call', params: balanceCall(addresses, at) }]
	if (ask === 'multicall') return [{ method: 'eth_call', params: multicallCall(addresses, at) }]
	return addresses.map((address) => ({ method: 'eth_getBalance', params: [address, at] }))
}

/** Takes the answers to `callsOf`; null if one of them is invalid. */
function readAnswers(
	addresses: readonly Address[],
	{ ask }: BalanceStrategy,
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

/** Blames the state, not the endpoint: a node without old state still serves everything else. */
function unable({ endpoint }: Rpc, { number }: BlockRef, answers: readonly unknown[]): RpcError {
	const error = answers.find((answer): answer is RpcError => answer instanceof RpcError)
	const passing = answers.find((answer): answer is RpcError => answer instanceof RpcError && isPassing(answer))
	if (passing !== undefined) return passing
	const why = error === undefined ? 'its answer is no balance' : error.message
	const isForNow = answers.some((answer) => answer instanceof RpcError && isBroken(answer))
	return new RpcError(`${endpoint} cannot tell the balances after block ${number}: ${why}`, {
		kind: 'no-data',
		endpoint,
		...(error === undefined ? {} : { method: error.facts.method ?? 'eth_getBalance' }),
		...(isForNow && { forNow: true }),
	})
}

/** An answer was broken on its way, such as one with the id of another request; the next one may be whole. */
function isBroken({ kind, facts }: RpcError): boolean {
	return kind === 'malformed' && facts.content !== true
}

function isPassing({ kind }: RpcError): boolean {
	return ['rate', 'quota', 'network', 'timeout', 'server'].includes(kind)
}
