import { OP_STACK } from '../../../core/chains.js'

/**
 * Chains whose nodes, by their source code, compute the root in the header from the receipts. On other chains a root
 * counts once one was seen to fit. Sources: docs/nodes.md, "Roots of receipts".
 */
const KNOWN: ReadonlySet<number> = new Set([
	// Ethereum, its test nets, development nodes.
	...[1, 17_000, 560_048, 11_155_111, 1_337, 31_337],
	...OP_STACK,
	// Arbitrum (Nitro): One, Nova, Sepolia.
	...[42_161, 42_170, 421_614],
	// BNB Smart Chain, Gnosis, Avalanche C, Polygon; with their test nets.
	...[56, 97, 100, 10_200, 43_114, 43_113, 137, 80_002],
])

/** Polygon and its test net: their roots leave out receipts of the bridge. */
const WITH_STATE_SYNC: ReadonlySet<number> = new Set([137, 80_002])

export function hasStateSync(chainId: number): boolean {
	return WITH_STATE_SYNC.has(chainId)
}

export function isRootKnown(chainId: number): boolean {
	return KNOWN.has(chainId)
}
