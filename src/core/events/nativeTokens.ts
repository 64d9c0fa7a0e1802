import type { Address } from '../../model/glossary.js'

/** Contracts whose logs report the chain's own coin, which frames show (docs/nodes.md, "The coin as a token"). */
const EVERYWHERE: ReadonlySet<Address> = new Set<Address>([
	// EIP-7708: system logs of every movement of coins.
	'0xfffffffffffffffffffffffffffffffffffffffe',
	// The coin of zkSync Era and similar chains, including fees.
	'0x000000000000000000000000000000000000800a',
])

const BY_CHAIN: ReadonlyMap<number, Address> = new Map<number, Address>([
	// Polygon and its test nets.
	[137, '0x0000000000000000000000000000000000001010'],
	[80_001, '0x0000000000000000000000000000000000001010'],
	[80_002, '0x0000000000000000000000000000000000001010'],
	// Celo, Alfajores, Baklava.
	[42_220, '0x471ece3750da237f93b8e339c536989b8978a438'],
	[44_787, '0xf194afdf50b03e69bd7d057c1aa9e10c9954e4c9'],
	[62_320, '0xddc9be57f553fe75752d61606b94cbd7e0264ef8'],
])

export function isNativeCoin(chainId: number, contract: Address): boolean {
	return EVERYWHERE.has(contract) || BY_CHAIN.get(chainId) === contract
}
