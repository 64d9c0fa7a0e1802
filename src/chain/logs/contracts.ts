/** Requests about single contracts, for better wording: no alert depends on them or waits long for them. */

import { withDeadline } from '../../base/waits/deadline.js'
import { RpcError } from '../../errors.js'
import type { Address } from '../../model/glossary.js'
import type { Chain } from '../../model/ports.js'
import type { TokenBalanceQuestion } from '../../model/token.js'
import type { Job } from '../endpoints/endpoint.js'
import type { Endpoints } from '../endpoints/endpoints.js'
import type { Rpc } from '../rpc/rpc.js'
import { delegateIn } from '../wire/delegate.js'
import { hexBytes, hexOf } from '../wire/wire.js'
import { createTokenWords, isNoAnswer } from './tokenWords.js'

export interface Contracts {
	readonly hasCode: Chain['isContract']
	readonly tokenWords: Chain['tokenWords']
	readonly tokenBalance: Chain['tokenBalance']
}

export interface ContractsOptions {
	readonly endpoints: Pick<Endpoints, 'use'>
	/** Nothing is asked: the provider would learn which contracts matter to the operator. */
	readonly isPrivate: boolean
}

export function createContracts({ endpoints, isPrivate }: ContractsOptions): Contracts {
	const words = createTokenWords()
	const ask = createBestEffort(endpoints)
	return {
		hasCode: async (address, signal) =>
			isPrivate ? null : ask((rpc, limited) => hasCode(rpc, address, limited), signal),
		async tokenWords(contracts, signal) {
			if (isPrivate || contracts.size === 0) return new Map()
			return words.read(contracts, async (job) => void (await ask(job, signal)))
		},
		tokenBalance: (question, signal) => endpoints.use((rpc) => balanceOf(rpc, question, signal), signal),
	}
}

/** balanceOf(address) of ERC-20 and ERC-721, balanceOf(address,uint256) of ERC-1155. */
async function balanceOf(rpc: Rpc, question: TokenBalanceQuestion, signal: AbortSignal): Promise<bigint | null> {
	const { contract, owner, tokenId, block } = question
	const id = tokenId === null ? '' : tokenId.toString(16).padStart(64, '0')
	const data = `${tokenId === null ? '0x70a08231' : '0x00fdd58e'}${owner.slice(2).padStart(64, '0')}${id}`
	const [answer] = await rpc.batch([{ method: 'eth_call', params: [{ to: contract, data }, hexOf(block)] }], signal)
	if (answer instanceof RpcError && isNoAnswer(answer)) throw answer
	const word = hexBytes(answer)
	return word === null || word.length < 2 + 64 ? null : BigInt(word.slice(0, 2 + 64))
}

/** An account that delegated to code (EIP-7702) still belongs to a person and counts as no contract. */
async function hasCode(rpc: Rpc, address: Address, signal: AbortSignal): Promise<boolean> {
	const code = await rpc.call('eth_getCode', [address, 'latest'], signal)
	return typeof code === 'string' && code.length > 2 && delegateIn(code) === null
}

const WITHIN_MS = 2_000
/** After a timeout, no such request is made for 60 s. */
const REST_MS = 60_000

/** Resolves to null if no endpoint answers in time, or within 60 s of a timeout. Throws only if aborted. */
function createBestEffort({ use }: Pick<Endpoints, 'use'>) {
	let restsUntilMs = Number.NEGATIVE_INFINITY
	return async <T>(job: Job<T>, signal: AbortSignal): Promise<T | null> => {
		if (performance.now() < restsUntilMs) return null
		const ask = (limited: AbortSignal) => use((rpc) => mildly(rpc, job, limited), limited)
		const rest = () => {
			restsUntilMs = performance.now() + REST_MS
			return null
		}
		try {
			return await withDeadline(WITHIN_MS, ask, rest, signal)
		} catch (error) {
			signal.throwIfAborted()
			if (!(error instanceof RpcError)) throw error
			return null
		}
	}
}

/** A contract may be written to make a node fail: other reads from that node go on. */
async function mildly<T>(rpc: Rpc, job: Job<T>, limited: AbortSignal): Promise<T> {
	try {
		return await job(rpc, limited)
	} catch (error) {
		limited.throwIfAborted()
		if (!(error instanceof RpcError) || error.kind === 'rate') throw error
		throw new RpcError(error.message, { ...error.facts, kind: 'no-data' }, { cause: error })
	}
}
