/** The authorisations of EIP-7702 in a block, read from its transactions: nobody is asked about an address. */

import { RpcError } from '../../errors.js'
import type { Authorised, Signed } from '../../model/books.js'
import type { AddressSet, Block } from '../../model/chain.js'
import type { Rpc } from '../rpc/rpc.js'
import { address, hash, hexOf, isObject, malformed, quantity, readBlock } from '../wire.js'
import { entryReader, SET_CODE } from './delegations.js'

export interface SignedQuestion {
	readonly chainId: number
	readonly number: bigint
	readonly authorities: AddressSet
}

type Found = Authorised & Pick<Signed, 'authority'>

/** To find out who signed takes one to two milliseconds: others may go on after so many. */
const AT_ONCE = 16
/** Each costs 25,000 gas: 60 million hold 2,400, which would take 4 s. A block has one of them as a rule. */
const MOST_READ = 1_000

/** Throws RpcError. */
export async function readSignedIn(
	rpc: Rpc,
	{ chainId, number, authorities }: SignedQuestion,
	signal: AbortSignal,
): Promise<{ readonly block: Block; readonly signed: readonly Found[]; readonly left: number }> {
	const reading = { endpoint: rpc.endpoint, method: 'eth_getBlockByNumber' }
	const raw = await rpc.call(reading.method, [hexOf(number), true], signal)
	if (raw === null) throw new RpcError(`${rpc.endpoint} has no block ${number}`, { ...reading, kind: 'no-data' })
	const block = readBlock(raw, reading)
	if (block?.number !== number || !isObject(raw) || !Array.isArray(raw.transactions))
		throw malformed(reading, `it is not block ${number} with its transactions`)
	const signed: Found[] = []
	let read = 0
	let left = 0
	for (const [txIndex, tx] of raw.transactions.entries()) {
		if (!isObject(tx) || quantity(tx.type) !== SET_CODE || !Array.isArray(tx.authorizationList)) continue
		const [txHash, initiator] = [hash(tx.hash), address(tx.from)]
		if (txHash === null || initiator === null) throw malformed(reading, 'a transaction without hash or sender')
		const last = new Map<string, Found>()
		const readEntry = await entryReader(chainId)
		for (const [at, entry] of (tx.authorizationList as readonly unknown[]).entries()) {
			if (read >= MOST_READ) {
				left++
				continue
			}
			read++
			if (read % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve))
			const found = isObject(entry) ? readEntry(entry) : null
			if (found === null || !authorities.has(found.authority)) continue
			last.delete(found.authority)
			last.set(found.authority, { ...found, txHash, txIndex, at, initiator })
		}
		signed.push(...last.values())
	}
	return { block, signed, left }
}
