import { RpcError } from '../../errors.js'
import type { Accounts } from '../../model/books.js'
import type { Block } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'

/** With more watches codes are not compared: that is ten requests of 2,000 before the block, and ten after. */
const MOST_WATCHES = 20_000
/** If no request for many codes is possible, each address is asked for alone, up to this many. */
const MOST_ALONE = 50

/** Addresses whose code a block changed. Null: too many, a private network, or no endpoint tells the code. */
export async function changedCodes(
	block: Block,
	addresses: readonly Address[],
	accounts: Accounts,
	signal: AbortSignal,
): Promise<readonly Address[] | null> {
	if (accounts.isPrivate || addresses.length > MOST_WATCHES) return null
	const parent = { number: block.number - 1n, hash: block.parentHash }
	try {
		const before = (await accounts.balances(addresses, parent, signal)).codes
		const after = (await accounts.balances(addresses, block, signal)).codes
		if (before !== undefined && after !== undefined)
			return addresses.filter((address) => before.get(address) !== after.get(address))
		if (addresses.length > MOST_ALONE) return null
		const changed: Address[] = []
		for (const address of addresses) {
			const was = await accounts.delegate(address, parent, signal)
			if (was !== (await accounts.delegate(address, block, signal))) changed.push(address)
		}
		return changed
	} catch (error) {
		if (!(error instanceof RpcError) || error.kind === 'unsettled') throw error
		return null
	}
}
