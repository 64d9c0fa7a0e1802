import type { Accounts } from '../model/books.js'
import type { Clock } from '../model/glossary.js'
import type { Log } from '../model/ports.js'
import type { CapabilitiesRegistry } from './capabilities/registry.js'
import type { Endpoints } from './endpoints/endpoints.js'
import type { Rpc } from './rpc/rpc.js'
import { openSourceClients } from './sourceClients.js'
import { createAccounts } from './state/accounts.js'

export interface OpenAccountsOptions {
	readonly rpcs: readonly Rpc[]
	readonly endpoints: Endpoints
	readonly chainId: number
	/** Capabilities of the endpoints. */
	readonly registry: CapabilitiesRegistry
	/** Default: false. */
	readonly isPrivate?: boolean
	readonly clock: Clock
	readonly log: Log
}

/** Reads balances over shared endpoints, which it does not close. A witness that failed rests for a while. */
export function openAccounts(options: OpenAccountsOptions): Accounts {
	const { rpcs, endpoints, chainId, registry, isPrivate = false, clock, log } = options
	const clients = openSourceClients({ rpcs, chainId, registry, isPrivate, rests: true, clock })
	const witnesses = clients.map((client) => ({ ...client, isWhole: client.source !== 'trace_filter' }))
	return createAccounts({ endpoints, rpcs, chainId, witnesses, isPrivate, clock, log })
}
