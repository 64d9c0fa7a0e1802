import type { Clock } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { SourceSetting } from './capabilities/probe.js'
import type { CapabilitiesRegistry } from './capabilities/registry.js'
import { type ChainOptions, createChain } from './chain.js'
import { createEndpoint, type EndpointOptions } from './endpoints/endpoint.js'
import { createEndpoints, type Endpoints } from './endpoints/endpoints.js'
import type { Rpc } from './rpc/rpc.js'
import type { SourceName } from './sources/source.js'

/** One source of one endpoint, by itself. */
export interface Way {
	/** Host and port. */
	readonly endpoint: string
	readonly source: SourceName
	/** Opened when it is first asked for. */
	readonly chain: () => Pick<Chain, 'walk' | 'block'>
	/**
	 * Why what it tells of a block is not to be believed, by what is known of the endpoint; null: it may be asked. An
	 * operator's own choice is asked whatever was seen of it.
	 */
	readonly doubtful: () => string | null
	/** It has given a block. */
	readonly heard: () => void
	/** As of the limits of its endpoint. */
	readonly patience: (usualMs: number) => number
	/** Since a large answer of the endpoint last went on coming. */
	readonly sinceProgressMs: () => number
}

export interface WaysOptions {
	readonly rpcs: readonly Rpc[]
	readonly chainId: number
	/** What is known of the endpoints, by whoever reads from them first: no way finds out for itself. */
	readonly registry: CapabilitiesRegistry
	/** An endpoint has given a block, so that it is not down. */
	readonly onHeard?: (rpc: Rpc) => void
	/** Default: every source. */
	readonly source?: SourceSetting
	/** Whole blocks only. Default: false. */
	readonly isPrivate?: boolean
	/** Whether a way that has failed is left alone for a while. Default: it is asked whenever it is to be. */
	readonly rests?: boolean
	/** As of a chain: what is read by one way must not tell less. */
	readonly tokens?: ChainOptions['tokens']
	readonly fees?: boolean
	readonly withdrawals?: ChainOptions['withdrawals']
	readonly clock: Clock
}

const SOURCES: readonly SourceName[] = ['trace_block', 'trace_filter', 'debug_traceBlockByNumber']

/**
 * Every source of every endpoint, in order of preference of the endpoints. The endpoints are shared, and not closed
 * from here; their circuit breakers are not: what one way cannot do says nothing of the endpoint. None waits for
 * another time.
 */
export function openWays(options: WaysOptions): readonly Way[] {
	const { rpcs, chainId, registry, source = 'auto', isPrivate = false, rests = false, tokens, fees, clock } = options
	const sources = SOURCES.filter((name) => {
		if (isPrivate && name === 'trace_filter') return false
		return source === 'auto' || source === name
	})
	const { withdrawals } = options
	const shared = { ...(tokens && { tokens }), ...(fees !== undefined && { fees }), ...(withdrawals && { withdrawals }) }
	const asked = { isPrivate, ...shared, registry, clock, log: silent }
	return rpcs.flatMap((rpc) =>
		sources.map((name): Way => {
			const own = { chainId, clock, log: silent, wait: nothing }
			const endpoints = () => (rests ? createEndpoints({ rpcs: [rpc], ...own }) : restless(rpc, own))
			const open = () => createChain({ ...asked, endpoints: endpoints(), source: name })
			const doubtful = () => (source === 'auto' ? doubtOf(name, rpc, registry) : null)
			const heard = () => options.onHeard?.(rpc)
			const { patience } = rpc.limits
			const sinceProgressMs = rpc.progress.sinceMs
			return { endpoint: rpc.endpoint, source: name, chain: once(open), doubtful, heard, patience, sinceProgressMs }
		}),
	)
}

/** A filter that was not checked against whole blocks may leave out what it likes, and an empty answer closes a gap. */
function doubtOf(name: SourceName, rpc: Rpc, registry: CapabilitiesRegistry): string | null {
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
