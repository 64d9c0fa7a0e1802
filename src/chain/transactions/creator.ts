import { withDeadline } from '../../base/waits/deadline.js'
import type { Clock } from '../../model/glossary.js'
import type { Chain } from '../../model/ports.js'
import type { CapabilitiesRegistry } from '../capabilities/registry.js'
import type { Endpoints } from '../endpoints/endpoints.js'
import { fullLevel, readCreator } from './ots.js'

export interface CreatorOptions {
	readonly endpoints: Pick<Endpoints, 'use'>
	readonly registry: CapabilitiesRegistry
	/** Nothing is asked on a private network. */
	readonly isPrivate: boolean
	readonly clock: Clock
}

/** So that no alert waits longer. A node that was slower is not asked again for 10 minutes. */
const creatorMs = 250
const restMs = 600_000

/** The creator of a contract, if an endpoint gives it at once; null where none does. */
export function createCreator({ endpoints, registry, isPrivate, clock }: CreatorOptions): Chain['creator'] {
	let restsUntilMs = 0
	return async (contract, signal) => {
		if (isPrivate || clock() < restsUntilMs) return null
		const ask = (limited: AbortSignal) =>
			endpoints.use(async (rpc) => {
				// Only if it is known already: a probe would take longer than the deadline.
				const otsLevel = registry.known(rpc)?.otsLevel ?? 0
				return otsLevel >= fullLevel ? readCreator(rpc, contract, limited) : null
			}, limited)
		// Some nodes search their history for it.
		const rest = () => {
			restsUntilMs = clock() + restMs
			return null
		}
		try {
			return await withDeadline(creatorMs, ask, rest, signal)
		} catch {
			signal.throwIfAborted()
			return null
		}
	}
}
