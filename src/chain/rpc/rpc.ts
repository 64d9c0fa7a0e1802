/** JSON-RPC over HTTP to one endpoint: every request of tracewatch passes through `post` below. */

import { RpcError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import { BatchRefused, createBatchSize, sendBatches } from './batches.js'
import { misread, wordsOf } from './border.js'
import { batchLimitIn, classify, kindOfText, type Verdict } from './classify.js'
import { readEndpointUrl } from './endpointUrl.js'
import { type Fault, readAnswers, readErrorBody } from './envelope.js'
import { createHttp, type HttpAnswer, HttpFailure } from './http.js'
import { createLimiter } from './limiter.js'
import { shapeOfAnswer } from './shapes.js'

export interface RpcCall {
	readonly method: string
	readonly params: readonly unknown[]
}

export interface Rpc {
	/** Host and port only. */
	readonly endpoint: string
	/**
	 * Resolves to `result` as the node sent it, also when it is null: what null means is the caller's to say.
	 * Throws RpcError, or the signal's reason when it is aborted. Never retries.
	 */
	call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown>
	/**
	 * Answers in the order of the calls; a call that failed alone is an RpcError in its place. One HTTP request where the
	 * node takes batches, else several. Throws RpcError when no call was answered at all, or the signal's reason.
	 */
	batch(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]>
	/** A call made now would wait for our own limit: that it takes long says nothing of the node. */
	isHeldBack(): boolean
	/** Words of this node as they may be shown: without the secrets of its URL, on one line, at most 300 characters. */
	words(said: unknown): string
	close(): Promise<void>
}

/** One HTTP request, for metrics. */
export interface RpcRequest {
	readonly endpoint: string
	/** `batch` for calls of several methods. */
	readonly method: string
	/** `ok`, `aborted`, or the kind of the error. */
	readonly result: string
	readonly durationMs: number
}

export interface RpcOptions {
	readonly url: string
	/** For one HTTP request, its body included. Default 30 s. */
	readonly timeoutMs?: number
	/** Default 5 s. */
	readonly connectTimeoutMs?: number
	/** Of one decoded body; of a large one only what counts is kept. Default 1 GB. */
	readonly maxBodyBytes?: number
	/** Kept open at most. Default 4. */
	readonly connections?: number
	/** Calls in one HTTP request, before the node has said anything of it. Default 100. */
	readonly maxBatch?: number
	/** Calls that may leave in any second; a batch counts as many as it holds, for so providers bill. Default null: no limit. */
	readonly requestsPerSecond?: number | null
	readonly onRequest?: (request: RpcRequest) => void
	/** Again and again while a large answer comes. */
	readonly onProgress?: () => void
	readonly clock?: Clock
}

/** Of a node's words in a message. */
const mostWords = 300

/** Throws PlainError, without the URL in it, when `url` cannot be used. */
export function createRpc(options: RpcOptions): Rpc {
	const url = readEndpointUrl(options.url)
	const clock = options.clock ?? Date.now
	const connections = options.connections ?? 4
	const http = createHttp(url, {
		timeoutMs: options.timeoutMs ?? 30_000,
		connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
		maxBodyBytes: options.maxBodyBytes ?? 1_000_000_000,
		connections,
		...(options.onProgress !== undefined && { onProgress: options.onProgress }),
	})
	const perSecond = options.requestsPerSecond ?? null
	const limiter = perSecond === null ? null : createLimiter({ requestsPerSecond: perSecond })
	const batches = createBatchSize(Math.min(options.maxBatch ?? 100, limiter?.burst ?? Number.POSITIVE_INFINITY), clock)
	let lastId = 0

	/** One HTTP request. Throws RpcError when it failed as a whole, BatchRefused when it should have been smaller. */
	async function post(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
		const requests = calls.map(({ method, params }) => {
			lastId += 1
			return { jsonrpc: '2.0', id: lastId, method, params }
		})
		const batch = calls.length > 1
		const method = methodOf(calls)
		if (limiter !== null) await limiter.take(calls.length, signal)
		const startedAtMs = performance.now()
		let result = 'aborted'
		try {
			const shape = shapeOfAnswer(calls.map((call) => call.method))
			const answer = await http.post(JSON.stringify(batch ? requests : requests[0]), shape, signal)
			const ids = requests.map(({ id }) => id)
			const answers = read(answer, calls, ids, batch)
			result = answers.find((one) => one instanceof RpcError)?.kind ?? 'ok'
			return answers
		} catch (error) {
			signal.throwIfAborted()
			const failure = failureOf(error, method)
			if (failure instanceof RpcError) result = failure.kind
			if (failure instanceof BatchRefused) result = 'too-large'
			throw failure
		} finally {
			options.onRequest?.({ endpoint: url.name, method, result, durationMs: performance.now() - startedAtMs })
		}
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
			const limit = batchLimitIn(reading.whole.text) ?? (reading.single && isRefusal(reading.whole) ? 1 : null)
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
		return new RpcError(`${url.name} ${inWords({ ...fault, text }, answer.status, method)}`, {
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

	return {
		endpoint: url.name,
		async call(method, params, signal) {
			const [answer] = await post([{ method, params }], signal)
			if (answer instanceof RpcError) throw answer
			return answer
		},
		batch: (calls, signal) => sendBatches({ calls, batches, lanes: connections, post, signal }),
		isHeldBack: () => limiter?.isHoldingBack() ?? false,
		words: (said) => wordsOf(said, url, mostWords),
		close: http.close,
	}
}

function inWords({ broken, text, code }: Fault, status: number, method: string): string {
	const said = text === '' ? '' : `: "${text}"`
	if (broken !== null) return `gave an answer to ${method} that cannot be believed: ${broken}${said}`
	const where = code === null ? `HTTP ${status}` : `HTTP ${status}, code ${code}`
	if (status < 300 || status > 399) return `refused ${method}${said} (${where})`
	return `sends ${method} to another address (${where}), which is not followed: write that address into \`rpc\``
}

/** A single answer to a batch that says nothing of rates, keys or limits: this node takes no batches. */
function isRefusal({ text, code, broken }: Fault): boolean {
	const kind = kindOfText(text) ?? 'bad-params'
	return (kind === 'bad-params' || kind === 'unsupported') && (broken !== null || code === -32600)
}

function methodOf(calls: readonly RpcCall[]): string {
	const first = calls[0]?.method ?? 'batch'
	return calls.every(({ method }) => method === first) ? first : 'batch'
}
