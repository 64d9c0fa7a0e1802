import { mappingSlot } from '../../core/events/mappingSlot.js'
import { cut } from '../../core/lists.js'
import { RpcError } from '../../errors.js'
import type { BlockRef } from '../../model/chain.js'
import type { ContractState, ContractStates, GetterQuestion, ListQuestion, SlotQuestion } from '../../model/contract.js'
import type { Address, Hash } from '../../model/glossary.js'
import { blockCall, needBlock } from '../blocks/batchedCalls.js'
import type { Need } from '../endpoints/endpoint.js'
import type { Endpoints } from '../endpoints/endpoints.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { hexBytes, hexOf, quantity } from '../wire/wire.js'
import {
	codeHash,
	fitsOneCall,
	gettersCall,
	hashesCall,
	LINKS,
	MOST_GETTERS,
	MOST_HASHES,
	readGetters,
	readHashes,
	readLinks,
	readSlots,
	type SlotsOf,
	selectorOf,
	slotsCall,
	slotsGas,
} from './contractCode.js'
import { mayPass, mild } from './mildly.js'

/** How to ask an endpoint; learnt once for each endpoint. */
interface Strategy {
	/** All in one `eth_call` that lends code by state override, or each by a call of its own. */
	readonly ask: 'together' | 'each'
	/** By the block's hash (EIP-1898), or by its number with a check of its header afterwards. */
	readonly by: 'hash' | 'number'
}

/** Best first. */
const STRATEGIES: readonly Strategy[] = [
	{ ask: 'together', by: 'hash' },
	{ ask: 'together', by: 'number' },
	{ ask: 'each', by: 'hash' },
	{ ask: 'each', by: 'number' },
]

/** One question in both forms. `read` resolves to null for an answer that is none. */
interface Question<T> {
	readonly together: {
		readonly calls: (at: unknown) => readonly RpcCall[]
		read(answers: readonly unknown[]): T | null
	}
	readonly each: {
		readonly calls: (at: unknown) => readonly RpcCall[]
		/** Whether the failure of one of these calls is an answer, too. */
		readonly mayFail?: true
		read(answers: readonly unknown[]): T | null
	}
}

/** Reads contracts from the first endpoint that has their state. Every question names addresses. */
export function createContractState({ endpoints }: { readonly endpoints: Pick<Endpoints, 'use'> }): ContractStates & {
	/** Null before it was learnt. */
	strategyOf(rpc: Rpc): Strategy | null
} {
	const strategies = new WeakMap<Rpc, Strategy>()
	/** The endpoint that answered last. */
	let latest: Rpc | null = null
	const answered = (rpc: Rpc) => {
		latest = rpc
	}
	const first = readerOf({ endpoints, strategies, answered })
	return {
		...first,
		other: readerOf({ endpoints, strategies, rank: (rpc) => (rpc === latest ? 1 : 0) }),
		strategyOf: (rpc) => strategies.get(rpc) ?? null,
	}
}

interface Reading extends Pick<Need, 'rank'> {
	readonly endpoints: Pick<Endpoints, 'use'>
	readonly strategies: WeakMap<Rpc, Strategy>
	readonly answered?: (rpc: Rpc) => void
}

function readerOf({ endpoints, strategies, answered, rank }: Reading): ContractState {
	async function ask<T>(question: Question<T>, block: BlockRef, signal: AbortSignal): Promise<T> {
		return await endpoints.use(
			mild(async (rpc, until) => {
				const value = await askOne(rpc, question, block, until)
				answered?.(rpc)
				return value
			}),
			signal,
			{ block: block.number, ...(rank && { rank }) },
		)
	}

	async function askOne<T>(rpc: Rpc, question: Question<T>, block: BlockRef, signal: AbortSignal): Promise<T> {
		const known = strategies.get(rpc)
		let failure: unknown
		for (const strategy of known === undefined ? STRATEGIES : [known]) {
			const { calls, read } = question[strategy.ask]
			const isFailure = strategy.ask === 'each' && question.each.mayFail ? isUnanswered : isError
			const at = strategy.by === 'hash' ? { blockHash: block.hash } : hexOf(block.number)
			const asked = calls(at)
			const answers = asked.length === 0 ? [] : await rpc.batch(asked, signal)
			const value = answers.some(isFailure) ? null : read(answers)
			if (value !== null) {
				if (strategy.by === 'number') await mustStand(rpc, block, signal)
				strategies.set(rpc, strategy)
				return value
			}
			const error = answers.find(isFailure)
			if (isError(error) && mayPass(error) && error.kind !== 'server') throw error
			failure ??= error
		}
		// Another node may answer behind the same URL by now.
		strategies.delete(rpc)
		throw unable(rpc, block, failure)
	}

	return {
		async codeHashes(addresses, block, signal) {
			const found = new Map<Address, Hash>()
			for (const some of cut(addresses, MOST_HASHES)) {
				const hashes = await ask(hashesOf(some), block, signal)
				for (const [index, hash] of hashes.entries()) {
					const address = some[index]
					if (address !== undefined && hash !== null) found.set(address, hash)
				}
			}
			return found
		},
		async slots(common, questions, block, signal) {
			const found = new Map<Address, ReadonlyMap<Hash, Hash>>()
			for (const some of inCalls(common, questions)) {
				const words = await ask(slotsOf(common, some), block, signal)
				for (const [address, own] of words) found.set(address, own)
			}
			return found
		},
		async links(questions, block, signal) {
			const found = new Map<Address, Map<Hash, Hash>>()
			const lists = questions.map((one) => ({ ...one, slots: linkWords(one) }))
			for (const some of inCalls([], lists)) {
				const answers = await ask(linksOf(some), block, signal)
				for (const [index, { address, mapping, from }] of some.entries()) {
					const own = found.get(address) ?? new Map<Hash, Hash>()
					found.set(address, own)
					let key: Address = from
					for (const word of answers[index] ?? []) {
						own.set(mappingSlot(key, mapping), word)
						// What follows another word than an address is no link.
						if (BigInt(word) === 0n || BigInt(word) >= 1n << 160n) break
						key = `0x${word.slice(26)}`
					}
				}
			}
			return found
		},
		async getters(questions, block, signal) {
			const found = new Map<Address, Map<string, Hash>>()
			const all = questions.flatMap(({ address, signatures }) =>
				signatures.map((signature) => ({ address, signature })),
			)
			for (const some of cut(all, MOST_GETTERS)) {
				const words = await ask(gettersOf(some), block, signal)
				for (const [index, { address, signature }] of some.entries()) {
					const own = found.get(address) ?? new Map<string, Hash>()
					found.set(address, own)
					const word = words[index]
					if (word != null) own.set(signature, word)
				}
			}
			return found
		},
	}
}

function isError(answer: unknown): answer is RpcError {
	return answer instanceof RpcError
}

/** The call itself did not fail: it was not made. */
function isUnanswered(answer: unknown): boolean {
	return isError(answer) && answer.kind !== 'bad-params' && answer.kind !== 'server'
}

/** As many contracts as fit one call; more slots of one contract than that are left out. */
function* inCalls<Q extends SlotQuestion>(common: readonly Hash[], questions: readonly Q[]): Iterable<readonly Q[]> {
	let some: Q[] = []
	let gas = 0n
	for (const question of questions) {
		const own = slotsGas(common.length + question.slots.length)
		if (some.length > 0 && (!fitsOneCall(gas + own) || some.length === MOST_CONTRACTS)) {
			yield some
			some = []
			gas = 0n
		}
		some.push(question)
		gas += own
	}
	if (some.length > 0) yield some
}

/** In one call: the answer is then at most 300 kB. */
const MOST_CONTRACTS = 100

function slotsOf(
	common: readonly Hash[],
	questions: readonly SlotQuestion[],
): Question<ReadonlyMap<Address, ReadonlyMap<Hash, Hash>>> {
	const contracts: readonly SlotsOf[] = questions
	const single = questions.flatMap(({ address, slots }) => [...common, ...slots].map((slot) => ({ address, slot })))
	return {
		together: {
			calls: (at) => [{ method: 'eth_call', params: slotsCall(common, contracts, at) }],
			read: ([answer]) => readSlots(answer, common, contracts),
		},
		each: {
			calls: (at) => single.map(({ address, slot }) => ({ method: 'eth_getStorageAt', params: [address, slot, at] })),
			read(answers) {
				const found = new Map<Address, Map<Hash, Hash>>(questions.map(({ address }) => [address, new Map()]))
				for (const [index, { address, slot }] of single.entries()) {
					const word = wordIn(answers[index])
					if (word === null) return null
					found.get(address)?.set(slot, word)
				}
				return found
			},
		},
	}
}

/** Links of a list in one call. */
const MOST_LINKS = 32

/** What the code that is lent for a list is given: the mapping, the key, and room for its answer. */
function linkWords({ mapping, from }: ListQuestion): readonly Hash[] {
	const words = [mapping, BigInt(from), ...Array.from({ length: MOST_LINKS - 2 }, () => 0n)]
	return words.map((word): Hash => `0x${word.toString(16).padStart(64, '0')}`)
}

/** Where no code can be lent, one link of each. */
function linksOf(lists: readonly (ListQuestion & SlotQuestion)[]): Question<readonly (readonly Hash[])[]> {
	return {
		together: {
			calls: (at) => [{ method: 'eth_call', params: slotsCall([], lists, at, LINKS) }],
			read: ([answer]) => readLinks(answer, lists.length, MOST_LINKS),
		},
		each: {
			calls: (at) =>
				lists.map(({ address, mapping, from }) => ({
					method: 'eth_getStorageAt',
					params: [address, mappingSlot(from, mapping), at],
				})),
			read(answers) {
				const words = answers.map(wordIn)
				return words.every((word) => word !== null) ? words.map((word) => [word]) : null
			},
		},
	}
}

function wordIn(answer: unknown): Hash | null {
	const word = quantity(answer)
	return word === null ? null : `0x${word.toString(16).padStart(64, '0')}`
}

interface OneGetter extends Pick<GetterQuestion, 'address'> {
	readonly signature: string
}

function gettersOf(getters: readonly OneGetter[]): Question<readonly (Hash | null)[]> {
	const asked = getters.map(({ address, signature }) => ({ address, selector: selectorOf(signature) }))
	return {
		together: {
			calls: (at) => [{ method: 'eth_call', params: gettersCall(asked, at) }],
			read: ([answer]) => readGetters(answer, asked.length),
		},
		each: {
			calls: (at) =>
				asked.map(({ address, selector }) => ({
					method: 'eth_call',
					params: [{ to: address, data: selector, gas: GETTER_GAS }, at],
				})),
			// A function that is not there fails: that is an answer.
			mayFail: true,
			read: (answers) => answers.map((answer) => hexBytes(answer, 32)),
		},
	}
}

/** 21,000 for the transaction, 100,000 for the function. */
const GETTER_GAS = hexOf(121_000n)

function hashesOf(addresses: readonly Address[]): Question<readonly (Hash | null)[]> {
	return {
		together: {
			calls: (at) => [{ method: 'eth_call', params: hashesCall(addresses, at) }],
			read: ([answer]) => readHashes(answer, addresses.length),
		},
		each: {
			calls: (at) => addresses.map((address) => ({ method: 'eth_getCode', params: [address, at] })),
			read(answers) {
				const codes = answers.map((answer) => hexBytes(answer))
				return codes.every((code) => code !== null)
					? codes.map((code) => (code === '0x' ? null : codeHash(code)))
					: null
			},
		},
	}
}

async function mustStand(rpc: Rpc, block: BlockRef, signal: AbortSignal): Promise<void> {
	const { method, params } = blockCall(block.number)
	const header = needBlock(await rpc.call(method, params, signal), block.number, rpc.endpoint)
	if (header.hash === block.hash) return
	throw new RpcError(`${rpc.endpoint} has another block ${block.number} by now`, {
		kind: 'unsettled',
		endpoint: rpc.endpoint,
	})
}

/** Blames the state, not the endpoint: a node without old state still serves everything else. */
function unable({ endpoint }: Rpc, { number }: BlockRef, failure: unknown): RpcError {
	const why = failure instanceof RpcError ? failure.message : 'its answer cannot be read'
	return new RpcError(`${endpoint} cannot tell the state of contracts after block ${number}: ${why}`, {
		kind: 'no-data',
		endpoint,
		method: 'eth_call',
		...(failure instanceof RpcError && mayPass(failure) && { forNow: true }),
	})
}
