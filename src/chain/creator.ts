import { DeadlinePassed, withDeadline } from '../base/deadline.js'
import type { Clock } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'
import type { CapabilitiesRegistry } from './capabilities/registry.js'
import type { Endpoints } from './endpoints/endpoints.js'
import { fullLevel, readCreator } from './ots.js'

export interface CreatorOptions {
	readonly endpoints: Pick<Endpoints, 'use'>
	readonly registry: CapabilitiesRegistry
	/** Then nobody is asked. */
	readonly isPrivate: boolean
	readonly clock: Clock
}

/**
 * An alert waits no longer for the confirmation of a creator; a node that was slower is not asked again for a while.
 */
const creatorMs = 250
const restMs = 600_000

/** Who made a contract, where an endpoint tells it at once; null: nobody says. */
export function createCreator({ endpoints, registry, isPrivate, clock }: CreatorOptions): Chain['creator'] {
	let restsUntilMs = 0
	return async (contract, signal) => {
		if (isPrivate || clock() < restsUntilMs) return null
		const ask = (limited: AbortSignal) =>
			endpoints.use(async (rpc) => {
				// As far as it is known: to ask what an endpoint can do takes longer than this may.
				const otsLevel = registry.known(rpc)?.otsLevel ?? 0
				return otsLevel >= fullLevel ? readCreator(rpc, contract, limited) : null
			}, limited)
		try {
			// Some nodes search their history for it.
			return await withDeadline(creatorMs, ask, signal)
		} catch (error) {
			signal.throwIfAborted()
			if (error instanceof DeadlinePassed) restsUntilMs = clock() + restMs
			return null
		}
	}
}
