/** What is known of chains by their number alone (chainlist.org). */

/** Arbitrum One, Nova, and their test networks; chains made with Orbit have numbers of their own. */
const ARBITRUM: ReadonlySet<number> = new Set([42_161, 42_170, 421_611, 421_613, 421_614])

export function isArbitrum(chainId: number): boolean {
	return ARBITRUM.has(chainId)
}

/** What is not told on a chain of Arbitrum's kind, in words. */
export const arbitrumMisses =
	'on Arbitrum, deposits, retryable tickets and their refunds move coins outside of the EVM: these are not told'
