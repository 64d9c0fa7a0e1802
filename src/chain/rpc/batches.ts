/** Many calls in as few HTTP requests as the node takes: what it refuses is sent again in smaller ones. */

import { RpcError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import type { RpcCall } from './rpc.js'

/** The node takes no batch of this size; never seen outside. */
export class BatchRefused extends Error {
	override readonly name = 'BatchRefused'
	readonly limit: number

	constructor(limit: number) {
		super(`batches of at most ${limit} calls are taken`)
		this.limit = limit
	}
}

/** How many calls to put into one request. */
export interface BatchSize {
	now(): number
	learn(limit: number): void
}

/** How long a refusal is kept in mind: the node behind an address may be replaced, or the plan paid for. */
const keptMs = 10 * 60_000

export function createBatchSize(max: number, clock: Clock): BatchSize {
	let learnt = max
	let untilMs = 0
	return {
		now: () => (clock() < untilMs ? learnt : max),
		learn(limit) {
			learnt = Math.max(1, Math.min(max, limit))
			untilMs = clock() + keptMs
		},
	}
}

interface Sending {
	readonly calls: readonly RpcCall[]
	readonly batches: BatchSize
	/** Requests at the same time. */
	readonly lanes: number
	/** One HTTP request; throws RpcError, BatchRefused, or the signal's reason. */
	readonly post: (calls: readonly RpcCall[], signal: AbortSignal) => Promise<readonly unknown[]>
	readonly signal: AbortSignal
}

/** Part of `calls`; `to` is not included. */
interface Slice {
	readonly from: number
	readonly to: number
}

export async function sendBatches({ calls, batches, lanes, post, signal }: Sending): Promise<readonly unknown[]> {
	const answers: unknown[] = calls.map(() => null)
	let answered = 0
	// Once a request has failed as a whole, the rest is not asked: a dead or angry node is not knocked at on and on.
	let failure: RpcError | null = null

	/** Resolves to the slices to be sent instead, when this one was too much. */
	async function send({ from, to }: Slice): Promise<readonly Slice[]> {
		try {
			if (failure !== null) throw failure
			const said = await post(calls.slice(from, to), signal)
			for (const [at, answer] of said.entries()) {
				answers[from + at] = answer
				if (answer instanceof RpcError && endsAll(answer)) failure ??= answer
				else answered += 1
			}
			return []
		} catch (error) {
			const size = to - from
			if (error instanceof BatchRefused) {
				const limit = error.limit < size ? error.limit : Math.max(1, Math.floor(size / 2))
				batches.learn(limit)
				return slices(from, to, limit)
			}
			if (!(error instanceof RpcError)) throw error
			// Too much for one answer, which says nothing of other calls: not learnt.
			if (error.kind === 'too-large' && size > 1) return slices(from, to, Math.ceil(size / 2))
			if (error.kind !== 'too-large') failure ??= error
			answers.fill(error, from, to)
			return []
		}
	}

	let left = slices(0, calls.length, batches.now())
	while (left.length > 0) {
		const again: Slice[] = []
		const queue = left.values()
		const lane = async () => {
			for (const slice of queue) again.push(...(await send(slice)))
		}
		await Promise.all(Array.from({ length: Math.min(lanes, left.length) }, lane))
		left = again
	}
	if (answered === 0 && failure !== null) throw failure
	return answers
}

/** What one call has met all others would meet. */
function endsAll({ kind }: RpcError): boolean {
	return kind === 'rate' || kind === 'quota' || kind === 'auth'
}

function slices(from: number, to: number, size: number): readonly Slice[] {
	const all: Slice[] = []
	for (let at = from; at < to; at += size) all.push({ from: at, to: Math.min(at + size, to) })
	return all
}
