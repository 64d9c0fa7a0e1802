/** The authorisations (EIP-7702) in a block, read from its transactions, so that no request names an address. */

import { RpcError } from '../../errors.js'
import type { Authorised, Signed } from '../../model/books.js'
import type { AddressSet, Block } from '../../model/chain.js'
import type { Rpc } from '../rpc/rpc.js'
import { address, hash, hexOf, isObject, malformed, quantity, readBlock } from '../wire/wire.js'
import { SET_CODE, type SigningChain } from './delegates.js'
import { tupleIn } from './signers.js'

export interface SignedQuestion extends SigningChain {
	readonly number: bigint
	readonly authorities: AddressSet
}

type Found = Authorised & Pick<Signed, 'authority'>

/** `left`: the number of authorisations that were not recovered. Throws RpcError. */
export async function readAuthorizations(
	rpc: Rpc,
	{ chainId, signers, number, authorities }: SignedQuestion,
	signal: AbortSignal,
): Promise<{ readonly block: Block; readonly signed: readonly Found[]; readonly left: number }> {
	const reading = { endpoint: rpc.endpoint, method: 'eth_getBlockByNumber' }
	const raw = await rpc.call(reading.method, [hexOf(number), true], signal)
	if (raw === null) throw new RpcError(`${rpc.endpoint} has no block ${number}`, { ...reading, kind: 'no-data' })
	const block = readBlock(raw, reading)
	if (block?.number !== number || !isObject(raw) || !Array.isArray(raw.transactions))
		throw malformed(reading, `it is not block ${number} with its transactions`)
	const signed: Found[] = []
	let left = 0
	const signatures = signers.reading()
	for (const [txIndex, tx] of raw.transactions.entries()) {
		if (!isObject(tx) || quantity(tx.type) !== SET_CODE || !Array.isArray(tx.authorizationList)) continue
		const [txHash, initiator] = [hash(tx.hash), address(tx.from)]
		if (txHash === null || initiator === null) throw malformed(reading, 'a transaction without hash or sender')
		const last = new Map<string, Found>()
		for (const [at, entry] of (tx.authorizationList as readonly unknown[]).entries()) {
			const tuple = tupleIn(entry, chainId)
			if (tuple === null) continue
			const authority = await signatures.signerOf(tuple)
			if (authority === undefined) left++
			if (authority == null || !authorities.has(authority)) continue
			const { delegate, chainId: forChain, nonce } = tuple
			last.delete(authority)
			last.set(authority, { authority, delegate, chainId: forChain, nonce, txHash, txIndex, at, initiator })
		}
		signed.push(...last.values())
	}
	return { block, signed, left }
}
