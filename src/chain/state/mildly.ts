/** A failed request about state must not put an endpoint to rest, because other reads need it. */

import { RpcError } from '../../errors.js'
import type { Job } from '../endpoints/endpoint.js'

/** The same request; its failures say that the endpoint lacks this state, not that it is bad. */
export function mild<T>(job: Job<T>): Job<T> {
	return async (rpc, until) => {
		try {
			return await job(rpc, until)
		} catch (error) {
			if (!(error instanceof RpcError) || !isOfTheQuestion(error)) throw error
			const facts = { ...error.facts, kind: 'no-data' as const, ...(mayPass(error) && { forNow: true as const }) }
			throw new RpcError(error.message, facts, { cause: error })
		}
	}
}

/** The request may succeed in a moment. */
export function mayPass({ kind, facts }: RpcError): boolean {
	if (facts.content === true || facts.wrongChainId !== undefined) return false
	return ['server', 'malformed', 'timeout', 'network', 'rate', 'unsettled'].includes(kind)
}

function isOfTheQuestion({ kind, facts }: RpcError): boolean {
	if (facts.wrongChainId !== undefined) return false
	return ['server', 'malformed', 'unsupported', 'bad-params', 'timeout', 'too-large'].includes(kind)
}
