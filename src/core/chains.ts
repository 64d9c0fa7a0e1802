/** Facts about chains, by chain id (chainlist.org). */

/** Arbitrum One, Nova, and their test networks. Chains made with Orbit have ids of their own. */
const ARBITRUM: ReadonlySet<number> = new Set([42_161, 42_170, 421_611, 421_613, 421_614])

export function isArbitrum(chainId: number): boolean {
	return ARBITRUM.has(chainId)
}

/** OP, Base, Unichain, World, Ink, Soneium, Mode, Zora, and test networks. */
export const OP_STACK: readonly number[] = [
	...[10, 8_453, 130, 480, 57_073, 1_868, 34_443, 7_777_777, 11_155_420, 84_532, 1_301],
]

/** What is not reported on chains like Arbitrum, in words. */
export const arbitrumMisses =
	'on Arbitrum, deposits, retryable tickets and their refunds move coins outside of the EVM: these are not reported'

export interface KnownChain {
	/** The network's name as used in configurations. */
	readonly name: string
	/** Symbol of its coin. */
	readonly symbol: string
	readonly explorer: string | null
}

const CHAINS: ReadonlyMap<number, KnownChain> = new Map([
	[1, { name: 'ethereum', symbol: 'ETH', explorer: 'https://etherscan.io' }],
	[10, { name: 'optimism', symbol: 'ETH', explorer: 'https://optimistic.etherscan.io' }],
	[56, { name: 'bsc', symbol: 'BNB', explorer: 'https://bscscan.com' }],
	[100, { name: 'gnosis', symbol: 'XDAI', explorer: 'https://gnosisscan.io' }],
	[137, { name: 'polygon', symbol: 'POL', explorer: 'https://polygonscan.com' }],
	[8_453, { name: 'base', symbol: 'ETH', explorer: 'https://basescan.org' }],
	[42_161, { name: 'arbitrum', symbol: 'ETH', explorer: 'https://arbiscan.io' }],
	[43_114, { name: 'avalanche', symbol: 'AVAX', explorer: 'https://snowtrace.io' }],
	[59_144, { name: 'linea', symbol: 'ETH', explorer: 'https://lineascan.build' }],
	[31_337, { name: 'local', symbol: 'ETH', explorer: null }],
	[560_048, { name: 'hoodi', symbol: 'ETH', explorer: 'https://hoodi.etherscan.io' }],
	[11_155_111, { name: 'sepolia', symbol: 'ETH', explorer: 'https://sepolia.etherscan.io' }],
])

/** The name and coin of a chain; for an unknown one, its number and `ETH`. */
export function chainNamed(chainId: number): KnownChain {
	return CHAINS.get(chainId) ?? { name: `chain-${chainId}`, symbol: 'ETH', explorer: null }
}
