/** Which endpoints of a network give no answer, in words: who is woken by a stall must know whom to ask. */

import type { RpcRequest } from '../chain/rpc/rpc.js'

export interface Unanswered {
	/** A request has ended. */
	ended(request: Pick<RpcRequest, 'endpoint' | 'result'>): void
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
			if (result === 'aborted') return
			if (result === 'ok') failing.delete(endpoint)
			else failing.set(endpoint, result)
		},
		words() {
			const all = [...failing].map(([endpoint, result]) => `${endpoint} ${failures[result] ?? 'gives no good answer'}`)
			return all.length === 0 ? null : all.join(', ')
		},
	}
}
