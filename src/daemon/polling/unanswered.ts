/** Names the endpoints of a network that give no answer, so that the notice of a stall says which one to check. */

import type { RpcRequest } from '../../chain/rpc/rpc.js'

export interface Unanswered {
	/** Notes the result of a request; returns whether the words change. */
	ended(request: Pick<RpcRequest, 'endpoint' | 'result'>): boolean
	/** `node.example.org does not answer`, for each endpoint whose last request failed; null if there is none. */
	words(): string | null
}

const failures: Readonly<Record<string, string>> = {
	timeout: 'does not answer',
	network: 'cannot be reached',
	rate: 'answers with rate limits (429)',
	quota: 'was asked more than is paid for',
	auth: 'refuses the key',
}

export function createUnanswered(): Unanswered {
	const failing = new Map<string, string>()
	return {
		ended({ endpoint, result }) {
			// This program aborted the request, so it says nothing about the endpoint.
			if (result === 'aborted') return false
			if (result === 'ok') return failing.delete(endpoint)
			const isNew = failing.get(endpoint) !== result
			failing.set(endpoint, result)
			return isNew
		},
		words() {
			const all = [...failing].map(([endpoint, result]) => `${endpoint} ${failures[result] ?? 'gives no good answer'}`)
			return all.length === 0 ? null : all.join(', ')
		},
	}
}
