/**
 * Many calls in as few HTTP requests as the node takes: what it refuses goes again in smaller ones, what failed goes
 * again alone.
 */

import { RpcError } from '../../errors.js'
import type { Limit } from '../endpoints/limits.js'
import type { Speed } from '../endpoints/speed.js'
import { defaultPatience, type Patience, retryInMs } from './retry.js'

/** The node takes no batch of this size; never seen outside. */
export class BatchRefused extends Error {
	override readonly name = 'BatchRefused'
	readonly limit: number

	constructor(limit: number) {
		super(`batches of at most ${limit} calls are taken`)
		this.limit = limit
	}
}

/** How requests of one endpoint are sent. */
export interface Sender<Call> {
	/** Calls in one request. */
	readonly size: Limit
	readonly patience: Patience
	/** Requests at the same time. */
	readonly width: () => number
	readonly speed: Pick<Speed, 'refusedInRow'>
	/** One HTTP request, asked once; throws RpcError, BatchRefused, or the signal's reason. */
	readonly post: (calls: readonly Call[], signal: AbortSignal) => Promise<readonly unknown[]>
	readonly now: () => number
	readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
	/** From 0 up to, not including, 1. */
	readonly random: () => number
}

/** Plans bear as many calls in a second, and by chance no limit gets lower than that. */
const leastLearnt = 5
const manyInRow = 3

/** Some of the calls, by their places, that go together. */
type Slice = readonly number[]

/**
 * Resolves to an answer or an RpcError for each call, in their order. Answers that came are kept: only what failed is
 * asked again. Throws RpcError when nothing at all was answered, or the signal's reason.
 */
export async function sendBatches<Call>(
	calls: readonly Call[],
	{ size, patience, width, speed, post, now, wait, random }: Sender<Call>,
	signal: AbortSignal,
): Promise<readonly unknown[]> {
	const answers: unknown[] = calls.map(() => null)
	const startedAtMs = now()
	let answered = 0
	// Once a request has failed for good, the rest is not asked: a dead or angry node is not knocked at on and on.
	let failure: RpcError | null = null

	function fail(slice: Slice, error: RpcError): void {
		for (const place of slice) answers[place] = error
	}

	/** Sends a slice until each of its calls has an answer, or has failed for good. */
	async function settle(slice: Slice, tried: number): Promise<void> {
		if (failure !== null) return fail(slice, failure)
		if (slice.length > size.now()) return settleAll(cut(slice, size.now()), tried)
		let again: readonly number[] = slice
		let error: RpcError | null = null
		try {
			const said = await post(
				slice.map((place) => calls[place] as Call),
				signal,
			)
			const failed: number[] = []
			for (const [at, place] of slice.entries()) {
				const answer = said[at]
				answers[place] = answer
				if (!(answer instanceof RpcError)) answered += 1
				else if (retryInMs(answer, tried, patience, 0) !== null) {
					failed.push(place)
					error = answer
				} else if (endsAll(answer)) failure ??= answer
				else answered += 1
			}
			again = failed
		} catch (thrown) {
			if (thrown instanceof BatchRefused) {
				const most = thrown.limit < slice.length ? thrown.limit : Math.max(1, Math.floor(slice.length / 2))
				if (most < size.now()) size.learn(most)
				return settleAll(cut(slice, most), tried)
			}
			if (!(thrown instanceof RpcError)) throw thrown
			error = thrown
		}
		if (error === null) return
		if (isOfCall(error)) {
			// Nodes that take no batches refuse a single call with an error status: the others are asked all the same.
			const [place, ...others] = again
			if (place !== undefined && others.length === 0) {
				answers[place] = error
				answered += 1
				return
			}
			// One of them, as the node says in good form, and not which.
			if (error.facts.code !== undefined) return settleAll(cut(again, Math.ceil(again.length / 2)), tried)
		}
		// Too much for one answer, which says nothing of other calls: not learnt.
		if (error.kind === 'too-large' && slice.length > 1) return settleAll(cut(slice, Math.ceil(slice.length / 2)), tried)
		const waitMs = retryInMs(error, tried, patience, random())
		if (waitMs === null || now() - startedAtMs + waitMs > mostMs(error, patience)) {
			if (error.kind !== 'too-large') failure ??= error
			return fail(again, error)
		}
		if (waitMs > 0) await wait(waitMs, signal)
		// What was too slow or too fast twice may be too much at once; so may what comes after others that were.
		const isTwice = tried > 1 || (error.kind === 'rate' && speed.refusedInRow() >= manyInRow)
		const isHeavy = isTwice && (error.kind === 'timeout' || error.kind === 'rate')
		const most = isHeavy ? Math.max(1, Math.ceil(again.length / 2)) : again.length
		// More calls than a second bears are refused each time; by chance few are refused twice in a row.
		if (isHeavy && error.kind === 'rate' && most >= leastLearnt && most < size.now()) size.learn(most)
		return settleAll(cut(again, Math.min(most, size.now())), most < again.length ? tried : tried + 1)
	}

	async function settleAll(slices: readonly Slice[], tried: number): Promise<void> {
		const queue = slices.values()
		const worker = async () => {
			for (const slice of queue) await settle(slice, tried)
		}
		await Promise.all(Array.from({ length: Math.min(width(), slices.length) }, worker))
	}

	await settleAll(cut([...calls.keys()], size.now()), 1)
	if (answered === 0 && failure !== null) throw failure
	return answers
}

/**
 * How long the same is asked again here. Another endpoint may be there for what fails; but "slower" is a speed, and to
 * begin anew elsewhere costs more than a short wait: only one that wants to be left alone for longer is left at once.
 */
function mostMs({ kind, facts: { retryAfterMs = 0 } }: RpcError, { withinMs }: Patience): number {
	if (kind !== 'rate') return withinMs
	return retryAfterMs > withinMs ? -1 : Math.max(withinMs, defaultPatience.withinMs)
}

/** What one call has met all others would meet. */
function endsAll({ kind }: RpcError): boolean {
	return kind === 'rate' || kind === 'quota' || kind === 'auth'
}

/** What a node says of one question, and not of whoever asks. */
function isOfCall({ kind }: RpcError): boolean {
	return kind === 'unsupported' || kind === 'bad-params' || kind === 'no-data' || kind === 'unsettled'
}

function cut(places: readonly number[], size: number): readonly Slice[] {
	const all: Slice[] = []
	for (let at = 0; at < places.length; at += size) all.push(places.slice(at, at + size))
	return all
}

/** The method of one request; `batch` for several methods. */
export function methodOf(calls: readonly { readonly method: string }[]): string {
	const first = calls[0]?.method ?? 'batch'
	return calls.every(({ method }) => method === first) ? first : 'batch'
}
