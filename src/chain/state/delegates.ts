/** The delegate of a plain address (EIP-7702), and the authorisations of a block that changed it. */

import { RpcError } from '../../errors.js'
import type { Authorised, Signed } from '../../model/books.js'
import type { BlockRef } from '../../model/chain.js'
import type { Address, Hash } from '../../model/glossary.js'
import { askAll } from '../blocks/batchedCalls.js'
import type { Rpc } from '../rpc/rpc.js'
import { delegateIn } from '../wire/delegate.js'
import { address, hash, hexOf, isObject, malformed, quantity, wholeBlock } from '../wire/wire.js'
import { type Signers, tupleIn } from './signers.js'

export const SET_CODE = 4n

export interface SigningChain {
	readonly chainId: number
	readonly signers: Signers
}

/** After a block; null where the address has no delegate. Throws RpcError; `no-data` where the state is gone. */
export async function readDelegate(
	rpc: Rpc,
	who: Address,
	{ number }: Pick<BlockRef, 'number'>,
	signal: AbortSignal,
): Promise<Address | null> {
	const code = await rpc.call('eth_getCode', [who, hexOf(number)], signal)
	if (typeof code !== 'string') {
		throw new RpcError(`${rpc.endpoint} does not tell the code of an address`, {
			kind: 'no-data',
			endpoint: rpc.endpoint,
			method: 'eth_getCode',
		})
	}
	return delegateIn(code)
}

/**
 * The authorisations of one block that hold for an address, in order, the last of each transaction: signed by it, for
 * this chain or for all, with the nonce that it had. Only signatures with that nonce are recovered. They hold even if
 * the transaction failed. Creations by the address's own code are not counted, and a block may have more authorisations
 * than are recovered, so the caller must check the result against the address's code.
 */
export async function readAuthorisations(
	rpc: Rpc,
	{ chainId, signers }: SigningChain,
	{ block, who }: { readonly block: BlockRef; readonly who: Address },
	signal: AbortSignal,
): Promise<readonly Authorised[]> {
	const reading = { endpoint: rpc.endpoint, method: 'eth_getBlockByNumber' }
	const [raw, count] = await askAll(
		rpc,
		[
			{ method: reading.method, params: [hexOf(block.number), true] },
			{ method: 'eth_getTransactionCount', params: [who, hexOf(block.number - 1n)] },
		],
		signal,
	)
	const { transactions } = wholeBlock(raw, block, reading)
	let nonce = quantity(count)
	if (nonce === null) throw malformed({ ...reading, method: 'eth_getTransactionCount' }, 'it is no number')
	const found: Authorised[] = []
	const signatures = signers.reading()
	for (const [txIndex, tx] of transactions.entries()) {
		const txHash = isObject(tx) ? hash(tx.hash) : null
		const initiator = isObject(tx) ? address(tx.from) : null
		if (!isObject(tx) || txHash === null || initiator === null) continue
		// The sender's nonce is raised before its list is processed.
		if (initiator === who) nonce++
		if (quantity(tx.type) !== SET_CODE || !Array.isArray(tx.authorizationList)) continue
		let last: Authorised | null = null
		for (const [at, entry] of (tx.authorizationList as readonly unknown[]).entries()) {
			const tuple = tupleIn(entry, chainId)
			if (tuple === null || tuple.nonce !== nonce || (await signatures.signerOf(tuple)) !== who) continue
			nonce++
			const { delegate, chainId: forChain, nonce: own } = tuple
			last = { delegate, chainId: forChain, nonce: own, txHash, txIndex, at, initiator }
		}
		if (last !== null) found.push(last)
	}
	return found
}

/** The authorisations of one transaction for this chain that have a valid signer, however many. Throws RpcError. */
export async function readSigned(
	rpc: Rpc,
	{ chainId, signers }: SigningChain,
	txHash: Hash,
	signal: AbortSignal,
): Promise<readonly Signed[]> {
	const tx = await rpc.call('eth_getTransactionByHash', [txHash], signal)
	if (!isObject(tx) || !Array.isArray(tx.authorizationList)) return []
	const signatures = signers.reading(tx.authorizationList.length)
	const signed: Signed[] = []
	for (const [at, entry] of (tx.authorizationList as readonly unknown[]).entries()) {
		const tuple = tupleIn(entry, chainId)
		const authority = tuple && (await signatures.signerOf(tuple))
		if (tuple == null || authority == null) continue
		const { delegate, chainId: forChain, nonce } = tuple
		signed.push({ at, authority, delegate, chainId: forChain, nonce })
	}
	return signed
}
