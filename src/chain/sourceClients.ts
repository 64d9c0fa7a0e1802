import type { Clock } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { SourceSetting } from './capabilities/probe.js'
import type { CapabilitiesRegistry } from './capabilities/registry.js'
import { type ChainOptions, createChain } from './chain.js'
import { createEndpoint, type EndpointOptions } from './endpoints/endpoint.js'
import { createEndpoints, type Endpoints } from './endpoints/endpoints.js'
import type { Rpc } from './rpc/rpc.js'
import type { SourceName } from './sources/source.js'

export interface SourceClient {
	/** Host and port. */
	readonly endpoint: string
	readonly source: SourceName
	/** Opened at its first use. */
	readonly chain: () => Pick<Chain, 'walk' | 'block'>
	/** Why its blocks must not be trusted; null: it may be asked, as is any source that the operator chose. */
	readonly doubtful: () => string | null
	/** Called when it has given a block. */
	readonly heard: () => void
	/** Extends a deadline as the limits of its endpoint do. */
	readonly allowance: (usualMs: number) => number
	/** Milliseconds since data of a large answer last came from the endpoint. */
	readonly sinceProgressMs: () => number
}

export interface SourceClientsOptions {
	readonly rpcs: readonly Rpc[]
	readonly chainId: number
	/** Capabilities of the endpoints; these clients probe nothing themselves. */
	readonly registry: CapabilitiesRegistry
	/** Called when an endpoint has given a block and therefore is not down. */
	readonly onHeard?: (rpc: Rpc) => void
	/** Default: every source. */
	readonly source?: SourceSetting
	/** Ask for whole blocks only. Default: false. */
	readonly isPrivate?: boolean
	/** See `ChainOptions`. Default: false. */
	readonly mayLack?: boolean
	/** Whether a client that failed rests for a while. Default: false. */
	readonly rests?: boolean
	/** As for the chain itself: a block that one source reads must be as complete. */
	readonly tokens?: ChainOptions['tokens']
	readonly fees?: boolean
	readonly withdrawals?: ChainOptions['withdrawals']
	readonly clock: Clock
}

const SOURCES: readonly SourceName[] = ['trace_block', 'trace_filter', 'debug_traceBlockByNumber']

/** A client for every source of every endpoint, with a breaker of its own and no retry. Endpoints are not closed. */
export function openSourceClients(options: SourceClientsOptions): readonly SourceClient[] {
	const { rpcs, chainId, registry, source = 'auto', isPrivate = false, rests = false, tokens, fees, clock } = options
	const { mayLack = false } = options
	const sources = SOURCES.filter((name) => {
		if (isPrivate && name === 'trace_filter') return false
		return source === 'auto' || source === name
	})
	const { withdrawals } = options
	const shared = { ...(tokens && { tokens }), ...(fees !== undefined && { fees }), ...(withdrawals && { withdrawals }) }
	const asked = { isPrivate, mayLack, ...shared, registry, clock, log: silent }
	return rpcs.flatMap((rpc) =>
		sources.map((name): SourceClient => {
			const own = { chainId, clock, log: silent, wait: nothing }
			const endpoints = () => (rests ? createEndpoints({ rpcs: [rpc], ...own }) : restless(rpc, own))
			const open = () => createChain({ ...asked, endpoints: endpoints(), source: name })
			const doubtful = () => (source === 'auto' ? whyDoubtful(name, rpc, registry) : null)
			const heard = () => options.onHeard?.(rpc)
			const { allowance } = rpc.limits
			const sinceProgressMs = rpc.progress.sinceMs
			return { endpoint: rpc.endpoint, source: name, chain: once(open), doubtful, heard, allowance, sinceProgressMs }
		}),
	)
}

/** A filter that was not checked against whole blocks may be incomplete, and an empty answer would close a gap. */
function whyDoubtful(name: SourceName, rpc: Rpc, registry: CapabilitiesRegistry): string | null {
	const capabilities = registry.known(rpc)
	if (capabilities === null) return null
	const ability = capabilities.methods[name]
	if (ability === 'no' || (ability === 'wrong' && !capabilities.passing)) return `${name} is not to be used there`
	if (name !== 'trace_filter') return null
	const sources = registry.sourcesOf(rpc, capabilities)
	const isTaken = sources.includes(name) && (ability === 'yes' || sources.length === 1)
	return isTaken ? null : 'trace_filter was not shown to tell everything there'
}

function restless(rpc: Rpc, own: Omit<EndpointOptions, 'rpc' | 'random'>): Pick<Endpoints, 'use' | 'close'> {
	const endpoint = createEndpoint({ rpc, ...own, random: Math.random })
	return {
		async use(job, signal, need = {}) {
			const came = await endpoint.attempt(job, need, signal)
			if ('result' in came) return came.result
			throw came.error
		},
		close: nothing,
	}
}

function once<T>(make: () => T): () => T {
	let made: T | undefined
	return () => {
		made ??= make()
		return made
	}
}

const nothing = async () => undefined

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }
