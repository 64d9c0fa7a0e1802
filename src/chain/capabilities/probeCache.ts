import { RpcError } from '../../errors.js'
import type { HeadAnswer } from '../heads/heads.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'

/** Answers of an endpoint while it is probed: after a failed probe, the next one asks only for what is missing. */
export interface ProbeCache {
	readonly atMs: number
	/** The head that the probe began with; with another head it would use other blocks. */
	readonly headAnswer: HeadAnswer | null
	/** The same endpoint; calls that were answered before are answered from here. */
	over(rpc: Rpc): Rpc
}

export function createProbeCache(headAnswer: HeadAnswer | null, atMs: number): ProbeCache {
	const answers = new Map<string, unknown>()
	const keyOf = ({ method, params }: RpcCall) => JSON.stringify([method, params])

	async function batch(rpc: Rpc, calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
		const missing = calls.filter((call) => !answers.has(keyOf(call)))
		const given = missing.length === 0 ? [] : await rpc.batch(missing, signal)
		const unkept = new Map<string, unknown>()
		for (const [at, call] of missing.entries()) {
			const answer = given[at]
			// A block that is missing now may be there at the next question.
			const kept = answer instanceof RpcError || answer === null ? unkept : answers
			kept.set(keyOf(call), answer)
		}
		return calls.map((call) => answers.get(keyOf(call)) ?? unkept.get(keyOf(call)))
	}

	return {
		atMs,
		headAnswer,
		over: (rpc) => ({
			...rpc,
			async call(method, params, signal) {
				const [answer] = await batch(rpc, [{ method, params }], signal)
				if (answer instanceof RpcError) throw answer
				return answer
			},
			batch: (calls, signal) => batch(rpc, calls, signal),
		}),
	}
}
