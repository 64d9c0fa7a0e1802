import { DeadlinePassed, withDeadline } from '../../base/deadline.js'
import { RpcError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import type { Endpoints } from '../endpoints/endpoints.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Witnesses } from '../witnesses.js'
import type { AskAnother } from './secondWitness.js'

/** For the logs of one part; a second endpoint that was slower is not asked again for a while. */
const WITHIN_MS = 10_000
const REST_MS = 600_000

export interface AskSecondOptions {
	readonly endpoints: Pick<Endpoints, 'use'> & Partial<Pick<Endpoints, 'states'>>
	/** Which endpoint is the best second witness. */
	readonly rank: Witnesses['rank']
	readonly clock: Clock
}

/**
 * A second witness for what one endpoint has given of blocks up to `block`: another endpoint that has that block, of
 * another kind where there is one. Null where none answers in time.
 */
export function createAskSecond({ endpoints, rank, clock }: AskSecondOptions) {
	let restsUntilMs = 0
	return (first: Rpc, block: bigint, signal: AbortSignal): AskAnother =>
		async (job) => {
			if ((endpoints.states?.().length ?? 1) < 2 || clock() < restsUntilMs) return null
			const ask = (limited: AbortSignal) =>
				endpoints.use(async (rpc) => (rpc === first ? null : mildly(rpc, limited)), limited, {
					block,
					rank: rank(first),
				})
			/** What a witness cannot say must not put an endpoint to rest that is needed for the main thing. */
			const mildly = async (rpc: Rpc, limited: AbortSignal) => {
				try {
					return await job(rpc, limited)
				} catch (error) {
					limited.throwIfAborted()
					if (!(error instanceof RpcError) || error.kind === 'unsettled') throw error
					restsUntilMs = clock() + REST_MS
					throw new RpcError(error.message, { ...error.facts, kind: 'no-data' }, { cause: error })
				}
			}
			try {
				return await withDeadline(WITHIN_MS, ask, signal)
			} catch (error) {
				signal.throwIfAborted()
				if (!(error instanceof RpcError) && !(error instanceof DeadlinePassed)) throw error
				restsUntilMs = clock() + REST_MS
				return null
			}
		}
}
