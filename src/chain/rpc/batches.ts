/** Sends calls in few HTTP requests: a refused batch again in smaller ones, of an answered one only what failed. */

import { cut } from '../../core/lists.js'
import { RpcError } from '../../errors.js'
import type { BatchLimit } from '../limits/limits.js'
import type { Speed } from '../limits/speed.js'
import { defaultRetryPolicy, type RetryPolicy, retryInMs } from './retry.js'

/** The endpoint accepts no batch of this size; handled inside of this room. */
export class BatchRefused extends Error {
	override readonly name = 'BatchRefused'
	readonly limit: number

	constructor(limit: number) {
		super(`batches of at most ${limit} calls are taken`)
		this.limit = limit
	}
}

export interface Sender<Call> {
	/** Calls in one request. */
	readonly size: BatchLimit
	readonly retry: RetryPolicy
	/** Requests at the same time. */
	readonly width: () => number
	readonly speed: Pick<Speed, 'refusedInRow'>
	/** One HTTP request without retry; throws RpcError, BatchRefused, or the signal's reason. */
	readonly post: (calls: readonly Call[], signal: AbortSignal) => Promise<readonly unknown[]>
	readonly now: () => number
	readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
	/** From 0, inclusive, to 1, exclusive. */
	readonly random: () => number
}

/** Every plan allows 5 calls a second: a smaller size is not learnt from rate limits. */
const leastLearnt = 5
const manyInRow = 3
/**
 * Some gateways fail each batch above some size, with any error, and answer single calls. After a batch has failed as a
 * whole 3 times (with timeouts 2; 1 less for smaller batches), one of its calls is sent alone, at most twice. If
 * that is answered, batches are cut to a quarter (an eighth after timeouts) until they are answered, and that size is
 * kept for an hour.
 */
const wholeFailures = 3
const mostTrials = 2
const smaller = 4
const smallerAfterTimeout = 8
const guessKeptMs = 3_600_000
/** geth's code for the calls of a batch that its answer has no room for (25 MB); alone each may fit. */
const answerIsFull = -32003

/** Indexes of calls that are sent together. */
type Slice = readonly number[]

interface Sending<Call> extends Sender<Call> {
	readonly calls: readonly Call[]
	readonly signal: AbortSignal
	readonly startedAtMs: number
	/** In the order of the calls. */
	readonly answers: unknown[]
	answered: number
	/** After a request has failed for good, the rest is not sent: the endpoint may be down. */
	failure: RpcError | null
	/** A batch has failed as a whole: whether smaller ones may be answered. */
	readonly isForItsSize: (slice: Slice, error: RpcError, tried: number) => Promise<boolean>
}

/** Answers or RpcErrors in the order of the calls. Throws RpcError if no call was answered, or the signal's reason. */
export async function sendBatches<Call>(
	calls: readonly Call[],
	sender: Sender<Call>,
	signal: AbortSignal,
): Promise<readonly unknown[]> {
	const sending: Sending<Call> = {
		...{ ...sender, calls, signal },
		startedAtMs: sender.now(),
		answers: calls.map(() => null),
		answered: 0,
		failure: null,
		isForItsSize: createSizeTrial(calls, sender, signal),
	}
	await sendAll(sending, cut([...calls.keys()], sender.size.now()), 1)
	if (sending.answered === 0 && sending.failure !== null) throw sending.failure
	return sending.answers
}

async function sendAll<Call>(sending: Sending<Call>, slices: readonly Slice[], tried: number): Promise<void> {
	const queue = slices.values()
	const worker = async () => {
		for (const slice of queue) await settle(sending, slice, tried)
	}
	await Promise.all(Array.from({ length: Math.min(sending.width(), slices.length) }, worker))
}

/** Sends a slice until each of its calls has an answer or has failed for good. */
async function settle<Call>(sending: Sending<Call>, slice: Slice, tried: number): Promise<void> {
	const { calls, size, post, signal, failure } = sending
	if (failure !== null) return fail(sending, slice, failure)
	if (slice.length > size.now()) return sendAll(sending, cut(slice, size.now()), tried)
	let said: readonly unknown[]
	try {
		said = await post(
			slice.map((place) => calls[place] as Call),
			signal,
		)
	} catch (thrown) {
		if (thrown instanceof BatchRefused) {
			const most = thrown.limit < slice.length ? thrown.limit : Math.max(1, Math.floor(slice.length / 2))
			if (most < size.now()) size.learn(most)
			return sendAll(sending, cut(slice, most), tried)
		}
		if (!(thrown instanceof RpcError)) throw thrown
		return settleFailed(sending, slice, thrown, tried)
	}
	if (slice.length > 1) size.worked(slice.length)
	const failed: number[] = []
	const unfit: number[] = []
	let error: RpcError | null = null
	for (const [at, place] of slice.entries()) {
		const answer = said[at]
		sending.answers[place] = answer
		if (!(answer instanceof RpcError)) sending.answered += 1
		else if (slice.length > 1 && answer.facts.code === answerIsFull) unfit.push(place)
		else if (retryInMs(answer, tried, sending.retry, 0) !== null) {
			failed.push(place)
			error = answer
		} else if (endsAll(answer)) sending.failure ??= answer
		else sending.answered += 1
	}
	if (unfit.length > 0) await sendAll(sending, cut(unfit, Math.ceil(slice.length / 2)), tried)
	if (error !== null) await retryLater(sending, failed, error, tried)
}

/** A request failed as a whole: its calls are sent in smaller requests, or again later. */
async function settleFailed<Call>(sending: Sending<Call>, slice: Slice, error: RpcError, tried: number): Promise<void> {
	const { size } = sending
	if (await sending.isForItsSize(slice, error, tried)) {
		const most = Math.ceil(slice.length / (error.kind === 'timeout' ? smallerAfterTimeout : smaller))
		// If batches of this size worked lately, one of the calls is to blame: the size is not learnt.
		if (!size.hasWorked(slice.length) && most < size.now()) size.learn(most, guessKeptMs)
		// The first piece is sent alone: if it fails too, the others are cut again before they are sent.
		const [first = [], ...others] = cut(slice, most)
		await settle(sending, first, 1)
		return sendAll(sending, others, 1)
	}
	// Endpoints without batches refuse a single call with an error status: the other calls are sent all the same.
	if (isOfCall(error) && slice.length === 1) {
		sending.answered += 1
		return fail(sending, slice, error)
	}
	// The endpoint refuses one of the calls and does not say which.
	const isOfOne = isOfCall(error) && error.facts.code !== undefined
	// An answer that is too large says nothing about other calls: the size is not learnt.
	const isTooLarge = error.kind === 'too-large' && slice.length > 1
	if (isOfOne || isTooLarge) return sendAll(sending, cut(slice, Math.ceil(slice.length / 2)), tried)
	return retryLater(sending, slice, error, tried)
}

/** Sends calls again that failed in passing, in smaller requests if their number may be the reason. */
async function retryLater<Call>(sending: Sending<Call>, slice: Slice, error: RpcError, tried: number): Promise<void> {
	const { retry, size, speed, startedAtMs, now, wait, random, signal } = sending
	const waitMs = retryInMs(error, tried, retry, random())
	if (waitMs === null || now() - startedAtMs + waitMs > mostMs(error, retry)) {
		if (error.kind !== 'too-large') sending.failure ??= error
		return fail(sending, slice, error)
	}
	if (waitMs > 0) await wait(waitMs, signal)
	// Two timeouts or rate limits of the same batch, or one after others, may mean that the batch is too large.
	const isTwice = tried > 1 || (error.kind === 'rate' && speed.refusedInRow() >= manyInRow)
	const isHeavy = isTwice && (error.kind === 'timeout' || error.kind === 'rate')
	const most = isHeavy ? Math.max(1, Math.ceil(slice.length / 2)) : slice.length
	// A batch above the limit per second is refused every time; by chance, few are refused twice in a row.
	if (isHeavy && error.kind === 'rate' && most >= leastLearnt && most < size.now()) size.learn(most)
	return sendAll(sending, cut(slice, Math.min(most, size.now())), most < slice.length ? tried : tried + 1)
}

function fail({ answers }: Pick<Sending<unknown>, 'answers'>, slice: Slice, error: RpcError): void {
	for (const place of slice) answers[place] = error
}

/** Tries one call of a failed batch alone, at most twice: the endpoint may be down. */
function createSizeTrial<Call>(
	calls: readonly Call[],
	{ retry, post }: Sender<Call>,
	signal: AbortSignal,
): Sending<Call>['isForItsSize'] {
	/** Whether a call is answered alone where batches fail; null: not known. */
	let answersAlone: Promise<boolean> | null = null
	let trials = 0

	async function isAnsweredAlone(place: number): Promise<boolean> {
		try {
			const [answer] = await post([calls[place] as Call], signal)
			return !(answer instanceof RpcError && mayBeForSize(answer))
		} catch (error) {
			signal.throwIfAborted()
			return error instanceof RpcError && !mayBeForSize(error)
		}
	}

	return async (slice, error, tried) => {
		if (slice.length === 1 || retry.tries <= 1 || !mayBeForSize(error)) return false
		const isLast = retryInMs(error, tried, retry, 0) === null
		const most = wholeFailures - (error.kind === 'timeout' ? 1 : 0) - (answersAlone === null ? 0 : 1)
		if (tried < most && !isLast) return false
		if (answersAlone === null && trials === mostTrials) return false
		if (answersAlone === null) trials += 1
		answersAlone ??= isAnsweredAlone(slice[0] as number)
		if (await answersAlone) return true
		answersAlone = null
		return false
	}
}

/** How long to retry here before another endpoint is tried: briefly after a rate limit, not for a longer pause. */
function mostMs({ kind, facts: { retryAfterMs = 0 } }: RpcError, { withinMs }: RetryPolicy): number {
	if (kind !== 'rate') return withinMs
	return retryAfterMs > withinMs ? -1 : Math.max(withinMs, defaultRetryPolicy.withinMs)
}

/** Whether the size of a batch may be the reason why it failed as a whole. */
function mayBeForSize({ kind, facts }: RpcError): boolean {
	switch (kind) {
		case 'server':
		case 'network':
		case 'malformed':
		case 'timeout':
			return true
		case 'too-large':
			return facts.status === 413
		// Only if the status stands alone; a JSON-RPC error is the node's answer to one of the calls.
		case 'bad-params':
		case 'unsupported':
		case 'auth':
			return facts.code === undefined
		default:
			return false
	}
}

/** Every other call would fail alike. */
function endsAll({ kind }: RpcError): boolean {
	return kind === 'rate' || kind === 'quota' || kind === 'auth'
}

/** The failure is about this call, not about the endpoint. */
function isOfCall({ kind }: RpcError): boolean {
	return kind === 'unsupported' || kind === 'bad-params' || kind === 'no-data' || kind === 'unsettled'
}

/** The method of one request; `batch` for several methods. */
export function methodOf(calls: readonly { readonly method: string }[]): string {
	const first = calls[0]?.method ?? 'batch'
	return calls.every(({ method }) => method === first) ? first : 'batch'
}
