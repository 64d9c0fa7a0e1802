import type { Accounts } from '../../model/books.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import type { CapabilitiesRegistry } from '../capabilities/registry.js'
import type { Endpoints } from '../endpoints/endpoints.js'
import type { Rpc } from '../rpc/rpc.js'
import { openWays } from '../ways.js'
import { createAccounts } from './accounts.js'

export interface OpenAccountsOptions {
	readonly rpcs: readonly Rpc[]
	readonly endpoints: Endpoints
	readonly chainId: number
	/** What is known of the endpoints. */
	readonly registry: CapabilitiesRegistry
	/** Default: false. */
	readonly isPrivate?: boolean
	readonly clock: Clock
	readonly log: Log
}

/**
 * Balances over endpoints that others use too, and every source of each of them as a witness. Nothing is contacted yet;
 * the endpoints are not closed from here. The next block waits for the books: a witness that must wait is none.
 */
export function openAccounts(options: OpenAccountsOptions): Accounts {
	const { rpcs, endpoints, chainId, registry, isPrivate = false, clock, log } = options
	const witnesses = openWays({ rpcs, chainId, registry, isPrivate, rests: true, clock })
	return createAccounts({ endpoints, rpcs, chainId, witnesses, isPrivate, clock, log })
}
