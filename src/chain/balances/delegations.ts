/** Whose code a plain address runs (EIP-7702), and by which authorisations of a block that changed. */

import { RpcError } from '../../errors.js'
import type { Authorised, Signed } from '../../model/books.js'
import type { BlockRef } from '../../model/chain.js'
import type { Address, Hash } from '../../model/glossary.js'
import { delegateIn } from '../delegate.js'
import type { Rpc } from '../rpc/rpc.js'
import { askAll } from '../sources/ask.js'
import { address, hash, hexOf, isObject, type Json, malformed, quantity, unsettled } from '../wire.js'

export const SET_CODE = 4n
/** Half of the order of secp256k1: a higher s is not taken (EIP-2). */
const MOST_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** After a block; null where the address runs no other's code. Throws RpcError; `no-data` where the state is gone. */
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
 * this chain or for all, with the nonce that it had. Whether the transaction succeeded makes no difference. Creations
 * by its own code are not counted: what comes of it must be checked against its code.
 */
export async function readAuthorisations(
	rpc: Rpc,
	chainId: number,
	block: BlockRef,
	who: Address,
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
	if (!isObject(raw) || !Array.isArray(raw.transactions)) throw malformed(reading, 'a block without transactions')
	if (hash(raw.hash) !== block.hash) throw unsettled(reading, `block ${block.number} was replaced`)
	let nonce = quantity(count)
	if (nonce === null) throw malformed({ ...reading, method: 'eth_getTransactionCount' }, 'it is no number')
	const found: Authorised[] = []
	for (const [txIndex, tx] of raw.transactions.entries()) {
		const txHash = isObject(tx) ? hash(tx.hash) : null
		const initiator = isObject(tx) ? address(tx.from) : null
		if (!isObject(tx) || txHash === null || initiator === null) continue
		// The sender's nonce has moved before its list is looked at.
		if (initiator === who) nonce++
		if (quantity(tx.type) !== SET_CODE || !Array.isArray(tx.authorizationList)) continue
		let last: Authorised | null = null
		const readEntry = await entryReader(chainId)
		for (const [at, entry] of (tx.authorizationList as readonly unknown[]).entries()) {
			const read = isObject(entry) ? readEntry(entry) : null
			if (read === null || read.authority !== who || read.nonce !== nonce) continue
			nonce++
			last = { ...read, txHash, txIndex, at, initiator }
		}
		if (last !== null) found.push(last)
	}
	return found
}

/** Those of one transaction that somebody signed for this chain. Throws RpcError. */
export async function readSigned(
	rpc: Rpc,
	chainId: number,
	txHash: Hash,
	signal: AbortSignal,
): Promise<readonly Signed[]> {
	const tx = await rpc.call('eth_getTransactionByHash', [txHash], signal)
	if (!isObject(tx) || !Array.isArray(tx.authorizationList)) return []
	const readEntry = await entryReader(chainId)
	return tx.authorizationList.flatMap((entry: unknown, at: number): Signed[] => {
		const read = isObject(entry) ? readEntry(entry) : null
		return read === null ? [] : [{ at, ...read }]
	})
}

/**
 * Reads an entry of a list; null where it holds for nobody here. The curve, and the words of all languages that come
 * with it, are loaded when the first list is read: 4 MB, which most never need.
 */
export async function entryReader(chainId: number): Promise<(entry: Json) => Omit<Signed, 'at'> | null> {
	const [Authorization, Secp256k1] = await Promise.all([import('ox/Authorization'), import('ox/Secp256k1')])
	return (entry) => {
		const forChain = quantity(entry.chainId)
		const nonce = quantity(entry.nonce)
		const to = address(entry.address)
		const yParity = quantity(entry.yParity ?? entry.v)
		const [r, s] = [quantity(entry.r), quantity(entry.s)]
		if (forChain === null || nonce === null || to === null || yParity === null || r === null || s === null) return null
		if ((forChain !== 0n && forChain !== BigInt(chainId)) || yParity > 1n || s > MOST_S) return null
		const payload = Authorization.getSignPayload({ address: to, chainId: Number(forChain), nonce })
		try {
			const signature = { r: hexOf32(r), s: hexOf32(s), yParity: Number(yParity) }
			const authority = Secp256k1.recoverAddress({ payload, signature }).toLowerCase() as Address
			return { authority, delegate: BigInt(to) === 0n ? null : to, chainId: forChain, nonce }
		} catch {
			// No signature of anybody.
			return null
		}
	}
}

function hexOf32(number: bigint): `0x${string}` {
	return `0x${number.toString(16).padStart(64, '0')}`
}
