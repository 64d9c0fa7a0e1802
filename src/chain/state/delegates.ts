/** The delegate of a plain address (EIP-7702), and the authorisations of a block that changed it. */

import { RpcError } from '../../errors.js'
import type { Authorised, Signed } from '../../model/books.js'
import type { BlockRef } from '../../model/chain.js'
import type { Address, Hash } from '../../model/glossary.js'
import { askAll } from '../blocks/batchedCalls.js'
import type { Rpc } from '../rpc/rpc.js'
import { delegateIn } from '../wire/delegate.js'
import { address, hash, hexOf, isObject, malformed, quantity, wholeBlock } from '../wire/wire.js'
import { type SignerReading, type Signers, tupleIn } from './signers.js'

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
 * the transaction failed. Where the address's own code made contracts in the block, its nonce is known within bounds
 * only, and a block may have more authorisations than are recovered, so the caller must check the result against the
 * address's code.
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
	const before = quantity(count)
	if (before === null) throw malformed({ ...reading, method: 'eth_getTransactionCount' }, 'it is no number')
	const signatures = signers.reading()
	const signedBy = { who, chainId, signerOf: signatures.signerOf }
	const exact = await holding(transactions, signedBy, before, (own, nonce) => own === nonce)
	if (!exact.hasLater) return exact.found
	const after = quantity(await rpc.call('eth_getTransactionCount', [who, hexOf(block.number)], signal))
	if (after === null) throw malformed({ ...reading, method: 'eth_getTransactionCount' }, 'it is no number')
	if (exact.nonce >= after) return exact.found
	// Its own code made contracts, each of which raised its nonce.
	return (await holding(transactions, signedBy, before, (own, nonce) => own >= nonce && own < after)).found
}

interface SignedBy extends Pick<SignerReading, 'signerOf'> {
	readonly who: Address
	readonly chainId: number
}

/** Follows the nonce of an address from one authorisation that holds to the next. `hasLater`: some had a higher one. */
async function holding(
	transactions: readonly unknown[],
	{ who, chainId, signerOf }: SignedBy,
	before: bigint,
	holds: (own: bigint, nonce: bigint) => boolean,
): Promise<{ readonly found: readonly Authorised[]; readonly nonce: bigint; readonly hasLater: boolean }> {
	let nonce = before
	let hasLater = false
	const found: Authorised[] = []
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
			if (tuple === null) continue
			if (tuple.nonce > nonce) hasLater = true
			if (!holds(tuple.nonce, nonce) || (await signerOf(tuple)) !== who) continue
			const { delegate, chainId: forChain, nonce: own } = tuple
			nonce = own + 1n
			last = { delegate, chainId: forChain, nonce: own, txHash, txIndex, at, initiator }
		}
		if (last !== null) found.push(last)
	}
	return { found, nonce, hasLater }
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
