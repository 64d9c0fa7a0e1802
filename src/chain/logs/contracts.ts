/** What is asked of single contracts, for a better word: no alert depends on it, and none waits for long. */

import { RpcError } from '../../errors.js'
import type { Address } from '../../model/glossary.js'
import type { Chain } from '../../model/ports.js'
import type { Endpoints } from '../endpoints/endpoints.js'
import type { Rpc } from '../rpc/rpc.js'
import { createTokenWords } from './tokenWords.js'

export interface Contracts {
	readonly hasCode: Chain['isContract']
	readonly tokenWords: Chain['tokenWords']
}

export interface ContractsOptions {
	readonly endpoints: Pick<Endpoints, 'use'>
	/** Nothing is asked: the provider would know which of them concern somebody. */
	readonly isPrivate: boolean
}

export function createContracts({ endpoints, isPrivate }: ContractsOptions): Contracts {
	const words = createTokenWords()
	return {
		async hasCode(address, signal) {
			if (isPrivate) return null
			try {
				return await endpoints.use((rpc) => hasCode(rpc, address, signal), signal)
			} catch (error) {
				signal.throwIfAborted()
				if (error instanceof RpcError) return null
				throw error
			}
		},
		async tokenWords(contracts, signal) {
			if (isPrivate || contracts.size === 0) return new Map()
			return words.read(contracts, (job, limited) => endpoints.use(job, limited), signal)
		},
	}
}

/** An account that has lent itself code (EIP-7702) is still a person's. */
async function hasCode(rpc: Rpc, address: Address, signal: AbortSignal): Promise<boolean> {
	const code = await rpc.call('eth_getCode', [address, 'latest'], signal)
	return typeof code === 'string' && code.length > 2 && !/^0xef0100/i.test(code)
}
