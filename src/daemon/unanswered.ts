/** Which endpoints of a network give no answer, in words: who is woken by a stall must know whom to ask. */

import type { RpcRequest } from '../chain/rpc/rpc.js'

export interface Unanswered {
	/** A request has ended; whether that changes the words. */
	ended(request: Pick<RpcRequest, 'endpoint' | 'result'>): boolean
	/** `node.example.org does not answer`, for each whose last request failed; null: there is none. */
	words(): string | null
}

const failures: Readonly<Record<string, string>> = {
	timeout: 'does not answer',
	network: 'cannot be reached',
	rate: 'asks for slower requests',
	quota: 'was asked more than is paid for',
	auth: 'refuses the key',
}

export function createUnanswered(): Unanswered {
	const failing = new Map<string, string>()
	return {
		ended({ endpoint, result }) {
			// We hung up: it may have been about to answer.
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
