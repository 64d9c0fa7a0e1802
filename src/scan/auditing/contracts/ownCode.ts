import type { CodeEvent } from '../../../kinds/code.js'
import type { Block } from '../../../model/chain.js'
import type { CodeReader } from '../../../model/contract.js'
import type { Address, Hash } from '../../../model/glossary.js'

export interface OtherCode {
	readonly address: Address
	readonly previousHash: Hash
	/** Null: it has no code any more. */
	readonly codeHash: Hash | null
}

/** Changes of own code to report, without EIP-7702 delegations, a kind of their own. Throws RpcError. */
export async function ownCodeEvents(
	others: readonly OtherCode[],
	block: Block,
	reader: Pick<CodeReader, 'codes'>,
	signal: AbortSignal,
): Promise<readonly CodeEvent[]> {
	// Since EIP-6780 only the end of a delegation leaves an account without its code. It may have ended blocks ago, and
	// then neither this block nor its parent shows the delegate.
	const isCodeFixed = block.takesAuthorisations === true
	const asked = isCodeFixed ? others.filter(({ codeHash }) => codeHash !== null) : others
	if (asked.length === 0) return []
	const addresses = asked.map(({ address }) => address)
	const parent = { number: block.number - 1n, hash: block.parentHash }
	const delegated = new Set<Address>()
	for (const at of [parent, block])
		for (const [address, { delegate }] of await reader.codes(addresses, at, signal))
			if (delegate !== null) delegated.add(address)
	return asked
		.filter(({ address }) => !delegated.has(address))
		.map(({ address, previousHash, codeHash }) => ({
			kind: 'code',
			address,
			block,
			foreign: null,
			own: { codeHash, previousHash },
		}))
}
