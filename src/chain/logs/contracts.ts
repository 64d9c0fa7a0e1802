/** What is asked of single contracts, for a better word: no alert depends on it, and none waits for long. */

import { RpcError } from '../../errors.js'
import type { Address } from '../../model/glossary.js'
import type { Chain } from '../../model/ports.js'
import type { TokenBalanceQuestion } from '../../model/token.js'
import { delegateIn } from '../delegate.js'
import type { Endpoints } from '../endpoints/endpoints.js'
import type { Rpc } from '../rpc/rpc.js'
import { hexBytes, hexOf } from '../wire.js'
import { createMoment } from './moment.js'
import { createTokenWords, isNoAnswer } from './tokenWords.js'

export interface Contracts {
	readonly hasCode: Chain['isContract']
	readonly tokenWords: Chain['tokenWords']
	readonly tokenBalance: Chain['tokenBalance']
}

export interface ContractsOptions {
	readonly endpoints: Pick<Endpoints, 'use'>
	/** Nothing is asked: the provider would know which of them concern somebody. */
	readonly isPrivate: boolean
}

export function createContracts({ endpoints, isPrivate }: ContractsOptions): Contracts {
	const words = createTokenWords()
	const ask = createMoment(endpoints)
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

/** An account that has lent itself code (EIP-7702) is still a person's. */
async function hasCode(rpc: Rpc, address: Address, signal: AbortSignal): Promise<boolean> {
	const code = await rpc.call('eth_getCode', [address, 'latest'], signal)
	return typeof code === 'string' && code.length > 2 && delegateIn(code) === null
}
