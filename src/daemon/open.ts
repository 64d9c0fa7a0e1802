import { keepHeapSmall, letYoungGrow } from '../base/v8Habits.js'
import { openAccounts } from '../chain/balances/openAccounts.js'
import { withdrawalRulesOf } from '../chain/balances/withdrawals.js'
import { probeSettingOf } from '../chain/capabilities/permitted.js'
import { createCapabilitiesRegistry } from '../chain/capabilities/registry.js'
import { createChain } from '../chain/chain.js'
import { createEndpoints, type Endpoints } from '../chain/endpoints/endpoints.js'
import type { LogProofs } from '../chain/logs/logProofs.js'
import { createRpc, type RpcRequest } from '../chain/rpc/rpc.js'
import { triesOf } from '../chain/tries.js'
import type { WalkWait } from '../chain/walkWait.js'
import { openWays } from '../chain/ways.js'
import type { NetworkSettings } from '../config/settings/settings.js'
import { contractsWanted, noTokens } from '../core/tokenChoice.js'
import type { AlertData } from '../model/alert.js'
import type { Accounts } from '../model/books.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Chain, Log, Tries } from '../model/ports.js'
import type { Silence, WatchIndex, WatchSet } from '../model/watch.js'

export interface OpenChainOptions {
	readonly clock: Clock
	/** By which rests and ages are measured: the clock may be set. Default: `clock`. */
	readonly steady?: Clock
	readonly log: Log
	readonly onRequest?: (request: RpcRequest) => void
	/** Whether anybody is told of tokens now. Default: nobody. */
	readonly areTokensAsked?: () => boolean
	/** Contracts of the tokens that anybody is told of now; null: any. Default: any. */
	readonly tokensWanted?: () => ReadonlySet<Address> | null
	/** What proves that no log of these blocks is missing. */
	readonly onLogProofs?: (proofs: LogProofs) => void
	/** Again and again while a large answer comes. */
	readonly onProgress?: () => void
	/** A walk also gives transactions that an address merely sent. Default: false. */
	readonly withSent?: boolean
	/** For who reads a long span and keeps none of it: less is read at once, and memory is given back sooner. */
	readonly isStream?: boolean
	/** How long a walk waits for its next blocks. Default: as long as it takes. */
	readonly walkWait?: WalkWait
}

/** Rows that one part may bring, where little is to be kept. */
const streamedRows = 1_000

const patienceWithOthersMs = 3_000

/** The way to a network's nodes. Nothing is contacted yet; closing the chain closes the endpoints. */
export function openChain(
	network: NetworkSettings,
	{
		clock,
		steady = clock,
		log,
		areTokensAsked,
		tokensWanted,
		onRequest,
		onLogProofs,
		onProgress,
		walkWait,
		withSent = false,
		isStream = false,
	}: OpenChainOptions,
): { chain: Chain; endpoints: Endpoints; accounts: Accounts; tries: Tries } {
	if (isStream) keepHeapSmall()
	else letYoungGrow()
	const { requestsPerSecond, maxAnswerBytes: maxBodyBytes } = network
	// With another to turn to, nobody waits long for one that fails.
	const patience = network.rpc.length > 1 ? { withinMs: patienceWithOthersMs } : {}
	const rpcs = network.rpc.map((url) =>
		createRpc({
			url,
			requestsPerSecond,
			maxBodyBytes,
			clock,
			steady,
			patience,
			...(onRequest !== undefined && { onRequest }),
			...(onProgress !== undefined && { onProgress }),
		}),
	)
	const { chainId, source, isPrivate, keepsBooks, settle } = network
	const tokens = areTokensAsked && {
		tokens: {
			chainId,
			known: network.tokens ?? noTokens,
			areAsked: areTokensAsked,
			...(tokensWanted !== undefined && { wanted: tokensWanted }),
			mostProved: network.mostLogProofs,
			...(onLogProofs !== undefined && { onProofs: onLogProofs }),
		},
	}
	const own = { withSent, fees: keepsBooks || withSent, withdrawals: withdrawalRulesOf(chainId) }
	const registry = createCapabilitiesRegistry({
		setting: probeSettingOf({ setting: source, isPrivate }),
		clock: steady,
		log,
	})
	const asked = { source, isPrivate, ...tokens, ...own, registry, clock: steady }
	const streamed = isStream ? { rowsAtOnce: streamedRows } : {}
	const endpoints = createEndpoints({ rpcs, chainId, clock: steady, wallClock: clock, log })
	const [only] = rpcs.length === 1 ? rpcs : []
	const wait = walkWait && { walkWait: { ...walkWait, ...(only && { sinceProgressMs: only.progress.sinceMs }) } }
	const ways = openWays({ rpcs, chainId, ...asked, onHeard: endpoints.heard })
	return {
		chain: createChain({ endpoints, ...asked, ...streamed, settle, log, ...wait }),
		endpoints,
		accounts: openAccounts({ rpcs, endpoints, chainId, registry, isPrivate, clock: steady, log }),
		tries: triesOf(ways),
	}
}

/** Of one network; empty where nothing of it is watched. */
export function watchesOn({ networks }: WatchSet, network: string): WatchIndex {
	return networks.get(network)?.index ?? new Map()
}

const asked = new WeakMap<WatchSet, Map<string, ReadonlySet<Address> | null>>()

/** Contracts of the tokens that a watch of the network is told of; null: any. */
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

/** Whether a watch of the network is told of any token. */
export function areTokensAsked(watches: WatchSet, network: NetworkSettings): boolean {
	const wanted = tokensWanted(watches, network)
	return wanted === null || wanted.size > 0
}

/** Names of the receivers that the watches of a network are sent to. */
export function receiversOf(watches: WatchSet, network: string): readonly string[] {
	const own = watches.rules.filter((rules) => rules.network === network)
	return [...new Set(own.flatMap(({ receivers }) => receivers))]
}

/** When the alerts of a watch are held, as its watchlist has it now; of one that is watched no more: never. */
export function silencesOf(
	watches: WatchSet,
	{ network, watch: { address, watchlist } }: AlertData,
): readonly Silence[] {
	const own = watchesOn(watches, network).get(address.toLowerCase() as Address)
	return own?.find((watch) => watch.watchlist === watchlist)?.silences ?? []
}
