import { createHash } from 'node:crypto'
import { createChain } from '../chain/chain.js'
import { createEndpoints, type Endpoints } from '../chain/endpoints/endpoints.js'
import { createRpc, type RpcRequest } from '../chain/rpc/rpc.js'
import type { NetworkSettings } from '../config/settings/settings.js'
import type { AlertData } from '../model/alert.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { Silence, Watch, WatchIndex } from '../model/watch.js'

export interface OpenChainOptions {
	readonly clock: Clock
	readonly log: Log
	readonly onRequest?: (request: RpcRequest) => void
	/** Again and again while a large answer comes. */
	readonly onProgress?: () => void
}

/** The way to a network's nodes. Nothing is contacted yet; closing the chain closes the endpoints. */
export function openChain(
	network: NetworkSettings,
	{ clock, log, onRequest, onProgress }: OpenChainOptions,
): { chain: Chain; endpoints: Endpoints } {
	const { requestsPerSecond, maxAnswerBytes: maxBodyBytes } = network
	const rpcs = network.rpc.map((url) =>
		createRpc({
			url,
			requestsPerSecond,
			maxBodyBytes,
			clock,
			...(onRequest !== undefined && { onRequest }),
			...(onProgress !== undefined && { onProgress }),
		}),
	)
	const endpoints = createEndpoints({ rpcs, chainId: network.chainId, clock, log })
	return {
		chain: createChain({ endpoints, source: network.source, isPrivate: network.isPrivate, clock, log }),
		endpoints,
	}
}

/** Watches by network, then by address, each list in the order of the watchlists. */
export function indexWatches(watches: readonly Watch[]): ReadonlyMap<string, WatchIndex> {
	const networks = new Map<string, Map<Address, Watch[]>>()
	for (const watch of watches) {
		const index = networks.get(watch.network) ?? new Map<Address, Watch[]>()
		networks.set(watch.network, index)
		const list = index.get(watch.address)
		if (list === undefined) index.set(watch.address, [watch])
		else list.push(watch)
	}
	return networks
}

/** When the alerts of a watch are held, as its watchlist has it now; of one that is watched no more: never. */
export function silencesOf(
	indexes: ReadonlyMap<string, WatchIndex>,
	{ network, watch: { address, watchlist } }: AlertData,
): readonly Silence[] {
	const watches = indexes.get(network)?.get(address.toLowerCase() as Address)
	return watches?.find((watch) => watch.watchlist === watchlist)?.silences ?? []
}

/** What delivery ids are made with. */
export function digest(text: string): string {
	return createHash('sha256').update(text).digest('hex')
}
