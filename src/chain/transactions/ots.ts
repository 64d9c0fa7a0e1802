/**
 * The Otterscan interface at level 8, used as its documentation asks: check the level first, use a method only from its
 * level on, and do without it when the node does not have it (docs.otterscan.io/api-docs/ots-api).
 */
import type { Address, Hash, Hex } from '../../model/glossary.js'
import type { Rpc } from '../rpc/rpc.js'
import { address, hash, isObject } from '../wire/wire.js'

/** The level from which on the methods used here exist. */
export const fullLevel = 8

export interface Creator {
	readonly txHash: Hash
	readonly creator: Address
}

/** The creator of a contract, and the transaction; null when the node does not tell. Throws only if aborted. */
export async function readCreator(rpc: Rpc, contract: Address, signal: AbortSignal): Promise<Creator | null> {
	const raw = await quietly(() => rpc.call('ots_getContractCreator', [contract], signal), signal)
	if (!isObject(raw)) return null
	const [txHash, creator] = [hash(raw['hash']), address(raw['creator'])]
	return txHash === null || creator === null ? null : { txHash, creator }
}

/** Revert data of a failed transaction; null when there is none, or the node does not tell. Throws only if aborted. */
export async function readFailureData(rpc: Rpc, txHash: Hash, signal: AbortSignal): Promise<Hex | null> {
	const raw = await quietly(() => rpc.call('ots_getTransactionError', [txHash], signal), signal)
	if (typeof raw !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(raw) || raw === '0x') return null
	return raw.toLowerCase() as Hex
}

/** An optional detail of an alert must never delay the alert. */
async function quietly(ask: () => Promise<unknown>, signal: AbortSignal): Promise<unknown> {
	try {
		return await ask()
	} catch {
		signal.throwIfAborted()
		return null
	}
}
