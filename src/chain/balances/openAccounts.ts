import type { Accounts } from '../../model/books.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import { createChain } from '../chain.js'
import { createEndpoints, type Endpoints } from '../endpoints/endpoints.js'
import type { Rpc } from '../rpc/rpc.js'
import type { SourceName } from '../sources/source.js'
import { createAccounts } from './accounts.js'

export interface OpenAccountsOptions {
	readonly rpcs: readonly Rpc[]
	readonly endpoints: Endpoints
	readonly chainId: number
	readonly clock: Clock
	readonly log: Log
}

const SOURCES: readonly SourceName[] = ['trace_block', 'trace_filter', 'debug_traceBlockByNumber']

/**
 * Balances over endpoints that others use too, and every source of each of them as a witness. Nothing is contacted yet;
 * the endpoints are not closed from here.
 */
export function openAccounts({ rpcs, endpoints, chainId, clock, log }: OpenAccountsOptions): Accounts {
	const witnesses = rpcs.flatMap((rpc) =>
		SOURCES.map((source) => {
			// With circuit breakers of its own: what a witness cannot do says nothing of the endpoint.
			const own = () => createEndpoints({ rpcs: [rpc], chainId, clock, log: silent, wait: nothing })
			return {
				endpoint: rpc.endpoint,
				chain: once(() => createChain({ endpoints: own(), source, clock, log: silent })),
			}
		}),
	)
	return createAccounts({ endpoints, chainId, witnesses, log })
}

function once<T>(make: () => T): () => T {
	let made: T | undefined
	return () => {
		made ??= make()
		return made
	}
}

/** Alerts wait for the books: a witness that must wait is none. */
const nothing = async () => undefined

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }
