import { randomUUID } from 'node:crypto'
import { letYoungGrow } from '../base/heapTuning.js'
import { createBlockFallback } from '../chain/blockFallback.js'
import { withdrawalListsOf } from '../chain/blocks/withdrawals.js'
import { probeSettingOf } from '../chain/capabilities/permitted.js'
import { createCapabilitiesRegistry } from '../chain/capabilities/registry.js'
import { createChain } from '../chain/chain.js'
import { createEndpoints } from '../chain/endpoints/endpoints.js'
import type { LogProofs } from '../chain/logs/logProofs.js'
import { openAccounts } from '../chain/openAccounts.js'
import { createRpc, type RpcRequest } from '../chain/rpc/rpc.js'
import { openSourceClients } from '../chain/sourceClients.js'
import { createSampling } from '../chain/sources/sampling.js'
import { createCodeReader } from '../chain/state/codeReader.js'
import { createContractState } from '../chain/state/contractState.js'
import type { WalkWait } from '../chain/walk/walkWait.js'
import type { NetworkSettings } from '../config/settings/settings.js'
import { contractsWanted, noTokens } from '../kinds/tokenRules.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Log } from '../model/ports.js'
import type { WatchIndex, WatchSet } from '../model/watch.js'

export interface OpenChainOptions {
	readonly clock: Clock
	/** Monotonic clock for pauses and ages. Default: `clock`. */
	readonly steady?: Clock
	readonly log: Log
	readonly onRequest?: (request: RpcRequest) => void
	/** Contracts of the tokens that watches ask for now; null: any contract. Default: no logs are read. */
	readonly tokensWanted?: () => ReadonlySet<Address> | null
	/** Called with the proof that a block's logs are complete. */
	readonly onLogProofs?: (proofs: LogProofs) => void
	/** Called repeatedly while a large answer arrives. */
	readonly onProgress?: () => void
	/** How long a walk waits for its next blocks. Default: without limit. */
	readonly walkWait?: WalkWait
}

const retryWithOthersMs = 3_000

/** Opens the access to a network's nodes. Sends no request yet. Closing the chain closes the endpoints. */
export function openChain(
	network: NetworkSettings,
	{ clock, steady = clock, log, tokensWanted: wanted, onRequest, onLogProofs, onProgress, walkWait }: OpenChainOptions,
) {
	letYoungGrow()
	const { requestsPerSecond } = network
	// With several endpoints, do not wait long for one that fails: another can answer.
	const retry = network.rpc.length > 1 ? { withinMs: retryWithOthersMs } : {}
	const rpcs = network.rpc.map((url) =>
		createRpc({ url, requestsPerSecond, clock, steady, retry, onRequest, onProgress }),
	)
	const { chainId, source, isPrivate, keepsBooks, settle } = network
	const tokens = wanted && {
		tokens: {
			...{ chainId, known: network.tokens ?? noTokens, wanted, areAsked: () => wanted()?.size !== 0 },
			...(onLogProofs !== undefined && { onProofs: onLogProofs }),
		},
	}
	const own = { fees: keepsBooks, withdrawals: withdrawalListsOf(chainId) }
	const registry = createCapabilitiesRegistry({
		setting: probeSettingOf({ setting: source, isPrivate }),
		clock: steady,
		log,
	})
	const asked = { source, isPrivate, ...tokens, ...own, registry, clock: steady }
	const endpoints = createEndpoints({ rpcs, chainId, clock: steady, wallClock: clock, log })
	const [only] = rpcs.length === 1 ? rpcs : []
	const wait = walkWait && { walkWait: { ...walkWait, ...(only && { sinceProgressMs: only.progress.sinceMs }) } }
	const clients = openSourceClients({ rpcs, chainId, ...asked, mayLack: true, onHeard: endpoints.heard })
	return {
		chain: createChain({
			endpoints,
			...asked,
			settle,
			log,
			sampling: createSampling(randomUUID()),
			...wait,
		}),
		endpoints,
		accounts: openAccounts({ rpcs, endpoints, chainId, registry, isPrivate, clock: steady, log }),
		contracts: isPrivate ? null : createContractState({ endpoints }),
		codes: isPrivate ? null : createCodeReader({ endpoints }),
		fallback: createBlockFallback(clients),
	}
}

/** The watches of one network; empty if there are none. */
export function watchesOn({ networks }: WatchSet, network: string): WatchIndex {
	return networks.get(network)?.index ?? new Map()
}

const asked = new WeakMap<WatchSet, Map<string, ReadonlySet<Address> | null>>()

/** Contracts of the tokens that watches of the network ask for; null: any contract. */
export function tokensWanted(
	watches: WatchSet,
	{ name, tokens = noTokens }: NetworkSettings,
): ReadonlySet<Address> | null {
	const known = asked.get(watches) ?? new Map<string, ReadonlySet<Address> | null>()
	asked.set(watches, known)
	const before = known.get(name)
	if (before !== undefined) return before
	const own = watches.rules.filter(({ network }) => network === name)
	const now = contractsWanted(own, tokens)
	known.set(name, now)
	return now
}

/** Whether any watch of the network asks for tokens. */
export function areTokensAsked(watches: WatchSet, network: NetworkSettings): boolean {
	return tokensWanted(watches, network)?.size !== 0
}

/** Names of the receivers of a network's watches. */
export function receiversOf(watches: WatchSet, network: string): readonly string[] {
	const own = watches.rules.filter((rules) => rules.network === network)
	return [...new Set(own.flatMap(({ receivers }) => receivers))]
}
