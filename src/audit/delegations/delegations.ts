/** The room finds delegations (EIP-7702): in the transactions that carry them, and in the code of the watches. */

import { RpcError } from '../../errors.js'
import type { Delegation } from '../../kinds/delegation.js'
import type { Accounts, Authorised, ListedCode } from '../../model/books.js'
import type { Block, BlockRef } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Chain } from '../../model/ports.js'
import { replaced } from '../blocks.js'

const DURING = 'a delegation was looked into'

/** The code of an address differs from the code at its book's previous closing. */
export interface CodeChange {
	readonly address: Address
	/** Block of the previous closing. */
	readonly from: bigint
	/** Block after which the new code was seen. */
	readonly to: BlockRef
	/**
	 * Set if the access list of block `to` reports the change, or, without codes, if it was signed there. The code at the
	 * end of the block may still equal the code before it.
	 */
	readonly listed?: { readonly block: Block; readonly codes: readonly ListedCode[] }
}

/** Most blocks read in full to find the authorisation; the rotation reaches every address within this many blocks. */
const MOST_BLOCKS = 128n

export interface DelegationPorts {
	readonly accounts: Accounts
	readonly chain: Chain
	/** Called with each block whose delegations could not all be determined. */
	readonly onUncovered?: (block: bigint) => void
}

/**
 * The changes of an address's delegation: each authorisation that changed it, if together they lead to the code now
 * found; otherwise one change without an authorisation. Empty if the delegation did not change. Throws RpcError.
 */
export async function delegationsOf(
	{ address, from, to, listed }: CodeChange,
	{ accounts, chain, onUncovered }: DelegationPorts,
	signal: AbortSignal,
): Promise<readonly Delegation[]> {
	if (accounts.isPrivate && listed !== undefined) {
		const signed = await signedBy(address, to, accounts, signal)
		return delegationsListed(address, listed, signed)
	}
	const end = await chain.block(to.number, signal)
	if (end?.hash !== to.hash) throw replaced(to.number, DURING)
	const now = await accounts.delegate(address, to, signal)
	const before = await delegateAt(from)
	if (before === now && listed === undefined) return []
	const found: Delegation[] = []
	let previous = before ?? null
	if (to.number - from <= MOST_BLOCKS) {
		for (let number = from + 1n; number <= to.number; number++) {
			const block = number === to.number ? end : await chain.block(number, signal)
			if (block === null) break
			for (const authorised of await accounts.authorisations(block, address, signal)) {
				const { delegate } = authorised
				if (delegate === previous) continue
				found.push({ kind: 'delegation', address, block, authorised, delegate, previous })
				previous = delegate
			}
		}
	}
	// The authorisations must lead to the delegate that the code shows.
	if (previous === now && found.length > 0) return found
	if (found.length > 0) onUncovered?.(to.number)
	if (before === now) return []
	return [{ kind: 'delegation', address, block: end, authorised: null, delegate: now, previous: before ?? null }]

	/** Undefined if no endpoint has that state. */
	async function delegateAt(number: bigint): Promise<Address | null | undefined> {
		try {
			return await accounts.delegate(address, { number }, signal)
		} catch (error) {
			if (error instanceof RpcError && error.kind === 'no-data') return undefined
			throw error
		}
	}
}

/** By an access list alone, which its header proves. `signed`: what the address signed, as far as that is known. */
export function delegationsListed(
	address: Address,
	{ block, codes }: NonNullable<CodeChange['listed']>,
	signed: readonly Authorised[],
): readonly Delegation[] {
	let previous: Address | null = null
	const found = codes.flatMap(({ index, delegate, isEmpty }): Delegation[] => {
		const authorised = signed.find((one) => one.txIndex === index - 1 && one.delegate === delegate) ?? null
		const before = previous
		previous = delegate
		// A contract was made there. Only the end of a delegation leaves an account without its code (EIP-6780).
		if (delegate === null && !isEmpty) return []
		return [{ kind: 'delegation', address, block, authorised, delegate, previous: before }]
	})
	// Changes without an authorisation share an id: the last of them says what the account runs now.
	const last = found.findLast(({ authorised }) => authorised === null)
	return found.filter((one) => one.authorised !== null || one === last)
}

async function signedBy(
	address: Address,
	{ number, hash }: BlockRef,
	accounts: Accounts,
	signal: AbortSignal,
): Promise<readonly Authorised[]> {
	try {
		const { block, signed } = await accounts.authorizationsIn(number, new Set([address]), signal)
		return block.hash === hash ? signed : []
	} catch (error) {
		// The list is not read again, so the delegation is announced without what was signed.
		if (!(error instanceof RpcError)) throw error
		return []
	}
}
