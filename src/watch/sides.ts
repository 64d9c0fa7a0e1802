import type { Accounts } from '../model/books.js'
import type { BlockRef } from '../model/chain.js'
import type { Address } from '../model/glossary.js'

/**
 * Which endpoints tell another balance than which, the fewest first, at the first of these where they do: then nobody
 * knows who is right. Null where all tell the same.
 */
export async function sidesOf(
	address: Address,
	answers: readonly { readonly ref: BlockRef; readonly wei: bigint }[],
	accounts: Accounts,
	signal: AbortSignal,
): Promise<string | null> {
	if (accounts.endpoints.length < 2) return null
	for (const { ref, wei } of answers) {
		const balances = await accounts.balanceByEach(address, ref, signal)
		if (balances.every((one) => one.wei === wei)) continue
		const sides = [...new Set(balances.map((one) => one.wei))].map((of) => balances.filter((one) => one.wei === of))
		sides.sort((one, other) => one.length - other.length)
		return sides.map((side) => side.map(({ endpoint }) => endpoint).join(', ')).join(' against ')
	}
	return null
}
