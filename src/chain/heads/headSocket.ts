/**
 * One WebSocket over which a node reports new heads, from opening to end. `ws` is used instead of undici's WebSocket,
 * because it gives the status of a refused handshake, sends pings, and limits the time of the handshake and the size of
 * a message.
 */

import { WebSocket } from 'ws'
import { limitInterims } from '../../base/net/connections.js'
import { RpcError, type RpcErrorKind } from '../../errors.js'
import { misread, wordsOf } from '../rpc/border.js'
import type { EndpointUrl } from '../rpc/endpointUrl.js'
import { readAnswers } from '../rpc/envelope.js'
import { failureOf } from '../rpc/http.js'
import { isObject } from '../wire/wire.js'

export interface HeadSocketOptions {
	/** An http or https URL; the same place is connected to by ws or wss. */
	readonly url: EndpointUrl
	/** The node has confirmed the subscription. */
	readonly onSubscribed: () => void
	/** There is a new head; the message's header is not read. */
	readonly onHead: () => void
	readonly limits: HeadSocketLimits
}

export interface HeadSocketLimits {
	/** Deadline for the handshake, and then for the answer to the subscription. */
	readonly answerMs: number
	/** Interval of pings; the connection is dead if nothing has come before the next ping. */
	readonly pingEveryMs: number
	/** After this time without a head the subscription counts as lost: gateways forget some on living connections. */
	readonly silenceMs: number
	/** Most messages in 10 s, pings included; above that the connection is closed. */
	readonly mostMessages: number
	readonly mostBytes: number
}

const FLOOD_MS = 10_000

const subscribe = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })
/** A header has about 1 KB; some nodes send the transactions' hashes with it. */
const maxMessageBytes = 1024 * 1024

/** Never resolves. Rejects with RpcError when the connection ended, or with the signal's reason; closes the socket. */
export function listenForHeads(options: HeadSocketOptions, signal: AbortSignal): Promise<never> {
	const { url, limits } = options
	return new Promise((_resolve, reject) => {
		const socket = new WebSocket(url.origin.replace(/^http/, 'ws') + url.path, {
			...(url.authorization === null ? {} : { headers: { authorization: url.authorization } }),
			maxPayload: maxMessageBytes,
			perMessageDeflate: false,
			finishRequest(request) {
				limitInterims(request)
				request.end()
			},
		})
		let subscription: string | null = null
		let isAlive = true

		function end(kind: RpcErrorKind, what: string): void {
			const { name: endpoint } = url
			finish(new RpcError(`${endpoint} ${what}`, { kind, endpoint, method: 'eth_subscribe' }))
		}

		function finish(reason: unknown): void {
			clearTimeout(deadline)
			clearInterval(pings)
			signal.removeEventListener('abort', abort)
			socket.removeAllListeners()
			// Terminating a socket that is still opening emits an error.
			socket.on('error', () => {})
			socket.terminate()
			reject(reason)
		}

		const abort = () => finish(signal.reason)
		let deadline = setTimeout(() => end('timeout', tooSlow(limits.answerMs)), limits.answerMs)
		let pingedAtMs = performance.now()
		const pings = setInterval(() => {
			const passedMs = performance.now() - pingedAtMs
			pingedAtMs += passedMs
			// A late timer means that this process was blocked: a pong may be waiting to be read.
			if (!isAlive && passedMs < 1.5 * limits.pingEveryMs) end('timeout', 'answers no ping: the connection is dead')
			isAlive = false
			if (socket.readyState === WebSocket.OPEN) socket.ping()
		}, limits.pingEveryMs)

		let window = { fromMs: performance.now(), messages: 0, bytes: 0 }

		/** Whether the messages exceed the limits; the connection is closed then. */
		function isFlood(bytes: number): boolean {
			isAlive = true
			const nowMs = performance.now()
			if (nowMs - window.fromMs > FLOOD_MS) window = { fromMs: nowMs, messages: 0, bytes: 0 }
			window.messages += 1
			window.bytes += bytes
			const { mostMessages, mostBytes } = limits
			if (window.messages <= mostMessages && window.bytes <= mostBytes) return false
			const what = window.bytes > mostBytes ? `${mostBytes} bytes` : `${mostMessages} messages`
			end('too-large', `sent more than ${what} in ${FLOOD_MS / 1_000} s: the connection was closed`)
			return true
		}

		function waitForHead(): void {
			clearTimeout(deadline)
			const silence = () => end('timeout', `gave no head for ${limits.silenceMs / 1_000} s`)
			deadline = setTimeout(silence, limits.silenceMs)
		}

		function receive(text: string): void {
			const said = readMessage(text, subscription, url)
			if ('ended' in said) {
				end(...said.ended)
			} else if ('subscription' in said) {
				subscription = said.subscription
				waitForHead()
				options.onSubscribed()
			} else if (said.head) {
				if (subscription !== null) waitForHead()
				options.onHead()
			}
		}

		socket.on('open', () => {
			clearTimeout(deadline)
			deadline = setTimeout(() => end('timeout', tooSlow(limits.answerMs)), limits.answerMs)
			socket.send(subscribe)
		})
		socket.on('message', (data: Buffer) => {
			if (isFlood(data.length)) return
			try {
				receive(String(data))
			} catch (error) {
				finish(misread(error, { endpoint: url.name, method: 'eth_subscribe' }))
			}
		})
		socket.on('pong', (data) => isFlood(data.length))
		socket.on('ping', (data) => isFlood(data.length))
		socket.on('unexpected-response', (_request, response) => {
			const { statusCode = 0 } = response
			end(kindOf(statusCode), `does not open a WebSocket (HTTP ${statusCode})`)
		})
		socket.on('error', (error) => {
			const { kind, message } = failureOf(error)
			end(kind, `does not tell of new heads: ${message}`)
		})
		socket.on('close', (code) => end('network', `closed the WebSocket (code ${code})`))
		if (signal.aborted) abort()
		else signal.addEventListener('abort', abort, { once: true })
	})
}

type Said =
	| { readonly head: boolean }
	| { readonly subscription: string }
	| { readonly ended: readonly [kind: RpcErrorKind, what: string] }

/** `subscription`: null until the node has answered. Pure. */
function readMessage(text: string, subscription: string | null, url: EndpointUrl): Said {
	const message = parse(text)
	if (isObject(message) && message.method === 'eth_subscription') {
		const { params } = message
		// Some nodes report heads before they have answered; those of other subscriptions are ignored.
		if (!isObject(params) || (subscription !== null && params.subscription !== subscription)) return { head: false }
		return params.error === undefined ? { head: true } : { ended: ['server', 'ended the subscription with an error'] }
	}
	if (subscription !== null) {
		return isObject(message) ? { head: false } : { ended: ['malformed', 'sends what is not JSON-RPC'] }
	}
	const reading = readAnswers({ text }, [1], false)
	const answer = 'each' in reading ? reading.each[0] : { fault: reading.whole }
	if (answer === undefined || 'result' in answer) {
		const id = answer?.result
		return typeof id === 'string'
			? { subscription: id }
			: { ended: ['malformed', 'gave an answer to eth_subscribe that is no id'] }
	}
	const { broken, text: words, code } = answer.fault
	if (broken !== null) {
		return { ended: ['malformed', `gave an answer to eth_subscribe that cannot be believed: ${broken}`] }
	}
	return { ended: ['unsupported', `refused eth_subscribe: "${wordsOf(words, url, 300)}" (code ${code})`] }
}

function kindOf(status: number): RpcErrorKind {
	if (status === 401 || status === 403) return 'auth'
	if (status === 429) return 'rate'
	return status >= 500 ? 'server' : 'unsupported'
}

function tooSlow(ms: number): string {
	return `did not begin to tell of new heads within ${ms / 1_000} s`
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text)
	} catch {
		return null
	}
}
