/** What providers charge for a call, in their own credits; sources are in docs/performance.md, "What calls cost". */

export const pricesAsOf = '2026-11-21'

export interface Provider {
	readonly name: string
	/** Credits of one call of this method. */
	creditsOf(method: string): number
}

interface PriceList {
	readonly name: string
	/** Suffixes of its endpoints' host names. */
	readonly hosts: readonly string[]
	readonly credits: Readonly<Record<string, number>>
	/** Credits of all other methods. */
	readonly other: number
}

const priceLists: readonly PriceList[] = [
	{
		name: 'Infura',
		hosts: ['.infura.io'],
		credits: {
			eth_chainId: 5,
			eth_getLogs: 255,
			eth_getProof: 150,
			eth_getBlockReceipts: 1_000,
			trace_block: 300,
			trace_filter: 300,
			trace_transaction: 300,
			debug_traceBlockByNumber: 1_000,
			debug_traceTransaction: 1_000,
		},
		other: 80,
	},
	{
		name: 'Alchemy',
		hosts: ['.alchemy.com', '.alchemyapi.io'],
		credits: {
			eth_chainId: 0,
			eth_blockNumber: 10,
			eth_call: 26,
			eth_getLogs: 60,
			trace_filter: 40,
			trace_transaction: 40,
			debug_traceBlockByNumber: 40,
			debug_traceTransaction: 40,
		},
		other: 20,
	},
	{
		name: 'QuickNode',
		hosts: ['.quiknode.pro'],
		credits: {
			trace_block: 40,
			trace_filter: 40,
			trace_transaction: 40,
			debug_traceBlockByNumber: 40,
			debug_traceTransaction: 40,
		},
		other: 20,
	},
]

const providers = priceLists.map(({ name, hosts, credits, other }) => {
	const prices = new Map(Object.entries(credits))
	return { hosts, provider: { name, creditsOf: (method: string) => prices.get(method) ?? other } satisfies Provider }
})

/** The provider that bills calls to this host (and port); null for an unknown host or the operator's own node. */
export function providerOf(endpoint: string): Provider | null {
	const host = endpoint.replace(/:\d+$/, '').toLowerCase()
	return providers.find(({ hosts }) => hosts.some((end) => host.endsWith(end)))?.provider ?? null
}
