/**
 * The room speaks JSON-RPC over HTTP with one endpoint and trusts none of its answers. Every request of tracewatch
 * passes through `post` below.
 */

import { waitMs } from '../../base/waits/wait.js'
import { RpcError } from '../../errors.js'
import type { CalledFunctions } from '../../model/chain.js'
import type { Clock } from '../../model/glossary.js'
import { createLimiter } from '../limits/limiter.js'
import { createLimits, type Limits } from '../limits/limits.js'
import type { Refusal } from '../limits/speed.js'
import { everything, shapeOfAnswer } from '../stream/shapes.js'
import { createProgress, type Progress } from './answerProgress.js'
import { BatchRefused, methodOf, type Sender, sendBatches } from './batches.js'
import { misread, wordsOf } from './border.js'
import { batchLimitIn, classify, kindOfText, type Verdict } from './classify.js'
import { createClosing } from './closing.js'
import { readEndpointUrl } from './endpointUrl.js'
import { type Fault, readAnswers, readErrorBody } from './envelope.js'
import { createHttp, type HttpAnswer, HttpFailure } from './http.js'
import { defaultRetryPolicy, type RetryPolicy, refusalIn } from './retry.js'

export interface RpcCall {
	readonly method: string
	readonly params: readonly unknown[]
	/** For traces: the calls whose inputs are kept of a large answer; see `Reading`. */
	readonly calls?: CalledFunctions | undefined
	/** Nothing is left out of a large answer: it is no trace, whatever the method says. */
	readonly isWhole?: true
}

export interface Rpc {
	/** Host and port only. */
	readonly endpoint: string
	/** `result` as the node sent it, also null. Retries within the policy. Throws RpcError, or the signal's reason. */
	call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown>
	/** Answers in order; a failed one is an RpcError. Throws RpcError if none was answered, or the signal's reason. */
	batch(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]>
	/** A call without retry: to see whether an endpoint is back. */
	once(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown>
	/** How long the endpoint asked to pause, if that is too long to wait in place; 0: it may be asked. */
	awayMs(): number
	readonly limits: Limits
	readonly progress: Progress
	/** A call made now would wait for a rate limit, so a slow answer says nothing about the node. */
	isHeldBack(): boolean
	/** The node's words in displayable form: without the secrets of its URL, on one line, at most 300 characters. */
	words(said: unknown): string
	close(): Promise<void>
}

/** One HTTP request, for metrics. */
export interface RpcRequest {
	readonly endpoint: string
	/** `batch` for calls of several methods. */
	readonly method: string
	/** The methods of its calls: providers bill each of them. */
	readonly calls: readonly string[]
	/** `ok`, `aborted`, or the kind of the error. */
	readonly result: string
	readonly durationMs: number
	/** The learnt limits: requests at once, and calls per second (null: no limit is known). */
	readonly inFlightLimit: number
	readonly rateLimit: number | null
}

export interface RpcOptions {
	readonly url: string
	/** For one HTTP request, its body included. Default: 30 s. */
	readonly timeoutMs?: number
	/** Default: 5 s. */
	readonly connectTimeoutMs?: number
	/** Limit for one decoded body. Above `parsedBytes` (default 4 MiB) only needed parts are kept. Default: 1 GB. */
	readonly maxBodyBytes?: number
	readonly parsedBytes?: number
	/** Most open connections. Default: 8. */
	readonly connections?: number
	/** Calls in one HTTP request before a limit is learnt from the node. Default: 100. */
	readonly maxBatch?: number
	/** Most calls per second; each call of a batch counts, because providers bill them so. Default null: no limit. */
	readonly requestsPerSecond?: number | null
	/** For passing failures. Default: 6 attempts within 75 s. */
	readonly retry?: Partial<RetryPolicy>
	readonly onRequest?: ((request: RpcRequest) => void) | undefined
	/** Called repeatedly while a large answer arrives and is processed. */
	readonly onProgress?: (() => void) | undefined
	readonly clock?: Clock
	/** Measures how long learnt limits are kept, because the clock may be set. Default: `clock`. */
	readonly steady?: Clock
	/** In milliseconds, never backwards. */
	readonly now?: () => number
	readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
	readonly random?: () => number
}

const requestTimeoutMs = 30_000
/** Characters of a node's words in a message. */
const mostWords = 300

/** Throws PlainError, without the URL in it, when `url` cannot be used. */
export function createRpc(options: RpcOptions): Rpc {
	const url = readEndpointUrl(options.url)
	const { clock = Date.now, now = () => performance.now(), random = Math.random, connections = 8 } = options
	const { wait, close } = createClosing(url.name, options.wait ?? waitMs, async () => http.close())
	const progress = createProgress(now, options.onProgress)
	const http = createHttp(url, {
		timeoutMs: options.timeoutMs ?? requestTimeoutMs,
		connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
		maxBodyBytes: options.maxBodyBytes ?? 1_000_000_000,
		connections,
		parsedBytes: options.parsedBytes,
		onProgress: progress.note,
	})
	const { requestsPerSecond: perSecond = null } = options
	const limiter = perSecond === null ? null : createLimiter({ requestsPerSecond: perSecond })
	const batch = Math.min(options.maxBatch ?? 100, limiter?.burst ?? Number.POSITIVE_INFINITY)
	const limits = createLimits({ batch, clock: options.steady ?? clock, now, wait, random })
	const retry = { ...defaultRetryPolicy, ...options.retry }
	const width = () => Math.min(connections, limits.speed.width())
	const sender: Sender<RpcCall> = { size: limits.batch, retry, width, speed: limits.speed, post, now, wait, random }
	let lastId = 0

	/** One HTTP request. Throws RpcError when it failed as a whole, BatchRefused when it should have been smaller. */
	async function post(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
		const requests = calls.map(({ method, params }) => ({ jsonrpc: '2.0', id: ++lastId, method, params }))
		const [batch, method] = [calls.length > 1, methodOf(calls)]
		const pass = await limits.speed.enter(calls.length, retry.withinMs, signal)
		if (pass === null) throw tooSoon(method)
		// While it waited, the batch limit was lowered: this batch would be refused too.
		if (calls.length > limits.batch.now()) {
			pass.giveBack()
			throw new BatchRefused(limits.batch.now())
		}
		let answered = 0
		let refusal: Refusal | null = null
		let startedAtMs: number | null = null
		let result = 'aborted'
		try {
			if (limiter !== null) await limiter.take(calls.length, signal)
			startedAtMs = performance.now()
			const inputs = calls.find((call) => call.calls !== undefined)?.calls
			const methods = calls.map((call) => call.method)
			const shape = calls.some((call) => call.isWhole) ? everything : shapeOfAnswer(methods, inputs)
			const answer = await http.post(JSON.stringify(batch ? requests : requests[0]), shape, signal)
			const ids = requests.map(({ id }) => id)
			const answers = read(answer, calls, ids, batch)
			const failures = answers.filter((one) => one instanceof RpcError)
			result = failures[0]?.kind ?? 'ok'
			refusal = failures.map(refusalIn).find((one) => one !== null) ?? null
			answered =
				failures.filter(({ kind }) => kind === 'rate').length === 0 ? calls.length : calls.length - failures.length
			return answers
		} catch (error) {
			signal.throwIfAborted()
			const failure = failureOf(error, method)
			if (failure instanceof RpcError) {
				result = failure.kind
				refusal = refusalIn(failure)
			}
			if (failure instanceof BatchRefused) result = 'too-large'
			throw failure
		} finally {
			pass.end(answered, refusal)
			if (startedAtMs !== null) {
				const durationMs = performance.now() - startedAtMs
				if (answered > 0) limits.noteAnswer(durationMs)
				const learntLimits = { inFlightLimit: limits.speed.width(), rateLimit: limits.speed.callsPerSecond() }
				const methods = calls.map((call) => call.method)
				options.onRequest?.({ endpoint: url.name, method, calls: methods, result, durationMs, ...learntLimits })
			}
		}
	}

	function tooSoon(method: string): RpcError {
		const retryAfterMs = Math.ceil(limits.speed.pausedMs())
		const words = `${url.name} asked for slower requests, and is asked again in ${Math.ceil(retryAfterMs / 1_000)} s`
		return new RpcError(words, { kind: 'rate', endpoint: url.name, method, retryAfterMs })
	}

	function read(
		answer: HttpAnswer,
		calls: readonly RpcCall[],
		ids: readonly number[],
		batch: boolean,
	): readonly unknown[] {
		if (answer.status < 200 || answer.status > 299) {
			const fault = readErrorBody(answer.body)
			const limit = batch ? batchLimitIn(fault.text) : null
			if (limit !== null) throw new BatchRefused(limit)
			throw refused(fault, answer, methodOf(calls))
		}
		const reading = readAnswers(answer.body, ids, batch)
		if ('whole' in reading) {
			const limit = batchLimitIn(reading.whole.text) ?? (reading.single && refusesBatches(reading.whole) ? 1 : null)
			if (batch && limit !== null) throw new BatchRefused(limit)
			throw refused(reading.whole, answer, methodOf(calls))
		}
		return reading.each.map((one, at) => {
			if ('result' in one) return one.result
			const limit = batch ? batchLimitIn(one.fault.text) : null
			if (limit !== null) throw new BatchRefused(limit)
			return refused(one.fault, answer, calls[at]?.method ?? 'batch')
		})
	}

	function refused(fault: Fault, answer: HttpAnswer, method: string): RpcError {
		const facts = { ...answer, text: fault.text, code: fault.code, data: fault.data, method, nowMs: clock() }
		const text = wordsOf(fault.text, url, mostWords)
		const known = fault.broken === null ? null : kindOfText(fault.text)
		const verdict: Verdict = fault.broken === null || known !== null ? classify(facts) : { kind: 'malformed' }
		return new RpcError(`${url.name} ${faultInWords({ ...fault, text }, answer.status, method)}`, {
			...verdict,
			endpoint: url.name,
			method,
			status: answer.status,
			...(fault.code !== null && { code: fault.code }),
		})
	}

	function failureOf(error: unknown, method: string): RpcError | BatchRefused {
		if (error instanceof BatchRefused) return error
		if (!(error instanceof HttpFailure)) return misread(error, { endpoint: url.name, method })
		const { kind, message } = error
		return new RpcError(`${url.name} did not answer ${method}: ${message}`, { kind, endpoint: url.name, method })
	}

	async function one(answering: Promise<readonly unknown[]>): Promise<unknown> {
		const [answer] = await answering
		if (answer instanceof RpcError) throw answer
		return answer
	}

	return {
		endpoint: url.name,
		call: (method, params, signal) => one(sendBatches([{ method, params }], sender, signal)),
		once: (method, params, signal) => one(post([{ method, params }], signal)),
		awayMs() {
			const ms = limits.speed.pausedMs()
			return ms > retry.withinMs ? ms : 0
		},
		batch: (calls, signal) => sendBatches(calls, sender, signal),
		limits,
		progress,
		isHeldBack: () => limits.speed.isHoldingBack() || (limiter?.isHoldingBack() ?? false),
		words: (said) => wordsOf(said, url, mostWords),
		close,
	}
}

/** As the end of a sentence that begins with the endpoint. */
function faultInWords({ broken, text, code }: Fault, status: number, method: string): string {
	const said = text === '' ? '' : `: "${text}"`
	if (broken !== null) return `gave an answer to ${method} that cannot be believed: ${broken}${said}`
	const where = code === null ? `HTTP ${status}` : `HTTP ${status}, code ${code}`
	if (status < 300 || status > 399) return `refused ${method}${said} (${where})`
	return `sends ${method} to another address (${where}), which is not followed: write that address into \`rpc\``
}

/** A single answer to a batch, about neither rates nor keys nor limits: this node accepts no batches. */
function refusesBatches({ text, code, broken }: Fault): boolean {
	const kind = kindOfText(text) ?? 'bad-params'
	return (kind === 'bad-params' || kind === 'unsupported') && (broken !== null || code === -32600)
}
