import { withDeadline } from '../../base/waits/deadline.js'
import { RpcError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import type { Endpoints } from '../endpoints/endpoints.js'
import type { Witnesses } from '../endpoints/witnesses.js'
import type { Rpc } from '../rpc/rpc.js'
import type { AskAnother } from './secondWitness.js'

/** Deadline for the logs of one part. A second endpoint that was slower is not asked again for 10 minutes. */
const WITHIN_MS = 10_000
const REST_MS = 600_000

export interface AskSecondOptions {
	readonly endpoints: Pick<Endpoints, 'use'> & Partial<Pick<Endpoints, 'states'>>
	/** Which endpoint is the best second witness. */
	readonly rank: Witnesses['rank']
	readonly clock: Clock
}

/** Asks another endpoint that has block `block` to confirm, of another client if there is one. Null: none in time. */
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
			/** A witness that cannot answer must not put its endpoint to rest, because other reads need it. */
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
			const rest = () => {
				restsUntilMs = clock() + REST_MS
				return null
			}
			try {
				return await withDeadline(WITHIN_MS, ask, rest, signal)
			} catch (error) {
				signal.throwIfAborted()
				if (!(error instanceof RpcError)) throw error
				return rest()
			}
		}
}
