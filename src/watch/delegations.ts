import type { Delegation, Finding } from '../core/findings.js'
import { RpcError } from '../errors.js'
import type { Accounts } from '../model/books.js'
import type { BlockRef } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'

/** The mark of an address's code is another one than when its book was closed before. */
export interface CodeChange {
	readonly address: Address
	/** Block of the closing before. */
	readonly from: bigint
	/** Block after which the other mark was seen. */
	readonly to: BlockRef
	/** The access list of the block says that its code was changed, though it may be what it was by the end. */
	readonly isListed?: true
}

/** Blocks that are read in full, to find who changed it: everybody's turn comes within so many. */
const MOST_BLOCKS = 128n

/**
 * What happened to the delegation of an address: each authorisation that changed it, checked against its code after its
 * block; where none accounts for it, what the state alone shows. Empty where it is no delegation that changed.
 */
export async function delegationsOf(
	{ address, from, to, isListed }: CodeChange,
	{ accounts, chain }: { readonly accounts: Accounts; readonly chain: Chain },
	signal: AbortSignal,
): Promise<readonly Finding[]> {
	const end = await chain.block(to.number, signal)
	if (end?.hash !== to.hash) throw moved(to.number)
	const now = await accounts.delegate(address, to, signal)
	const before = await delegateAt(from)
	if (before === now && isListed !== true) return []
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
	// The code is the witness: what the lists come to must be what is there.
	if (previous === now && found.length > 0) return found
	if (before === now) return []
	return [{ kind: 'delegation', address, block: end, authorised: null, delegate: now, previous: before ?? null }]

	/** Undefined where nobody knows any more. */
	async function delegateAt(number: bigint): Promise<Address | null | undefined> {
		try {
			return await accounts.delegate(address, { number }, signal)
		} catch (error) {
			if (error instanceof RpcError && error.kind === 'no-data') return undefined
			throw error
		}
	}
}

function moved(block: bigint): RpcError {
	return new RpcError(`block ${block} was replaced while a delegation was looked into`, {
		kind: 'unsettled',
		endpoint: '',
	})
}
