import type { Accounts } from '../model/books.js'
import type { BlockRef } from '../model/chain.js'
import type { Address } from '../model/glossary.js'

/**
 * Groups the endpoints by the balance they give, smallest group first, at the first block where they differ: which is
 * right is then unknown. Null if all agree, or if fewer than two endpoints are configured.
 */
export async function balanceDisagreement(
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
