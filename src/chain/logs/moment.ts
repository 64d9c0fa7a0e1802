/** Questions that make words better, and nothing else: no alert waits long for them, and no endpoint rests for one. */

import { DeadlinePassed, withDeadline } from '../../base/deadline.js'
import { RpcError } from '../../errors.js'
import type { Endpoints } from '../endpoints/endpoints.js'
import type { Rpc } from '../rpc/rpc.js'

const WITHIN_MS = 2_000
/** How long nothing of the kind is asked after it was waited for in vain. */
const REST_MS = 60_000

/** Resolves to null where no endpoint answers within a moment, or did not lately. Throws for an abort only. */
export type AskInAMoment = <T>(
	job: (rpc: Rpc, limited: AbortSignal) => Promise<T>,
	signal: AbortSignal,
) => Promise<T | null>

export function createMoment(
	{ use }: Pick<Endpoints, 'use'>,
	{ withinMs = WITHIN_MS, restMs = REST_MS }: { readonly withinMs?: number; readonly restMs?: number } = {},
): AskInAMoment {
	let restsUntilMs = Number.NEGATIVE_INFINITY
	return async (job, signal) => {
		if (performance.now() < restsUntilMs) return null
		try {
			return await withDeadline(withinMs, (limited) => use((rpc) => mildly(rpc, job, limited), limited), signal)
		} catch (error) {
			signal.throwIfAborted()
			if (error instanceof DeadlinePassed) restsUntilMs = performance.now() + restMs
			else if (!(error instanceof RpcError)) throw error
			return null
		}
	}
}

/** A contract may be written to make a node fail: that is no reason to stop reading from it. */
async function mildly<T>(
	rpc: Rpc,
	job: (rpc: Rpc, limited: AbortSignal) => Promise<T>,
	limited: AbortSignal,
): Promise<T> {
	try {
		return await job(rpc, limited)
	} catch (error) {
		limited.throwIfAborted()
		if (!(error instanceof RpcError) || error.kind === 'rate') throw error
		throw new RpcError(error.message, { ...error.facts, kind: 'no-data' }, { cause: error })
	}
}
