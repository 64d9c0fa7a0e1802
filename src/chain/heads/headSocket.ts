/**
 * One WebSocket over which a node tells of new heads, from the opening to the end. `ws` and not the WebSocket of
 * undici: it says with which status a handshake was refused, pings, and bounds the time of the handshake and the size
 * of a message.
 */

import { WebSocket } from 'ws'
import { RpcError, type RpcErrorKind } from '../../errors.js'
import { misread, wordsOf } from '../rpc/border.js'
import type { EndpointUrl } from '../rpc/endpointUrl.js'
import { readAnswers } from '../rpc/envelope.js'
import { failureOf } from '../rpc/http.js'
import { isObject } from '../wire.js'

export interface HeadSocketOptions {
	/** Of the form http or https; the same place is connected to by ws or wss. */
	readonly url: EndpointUrl
	/** The node has promised to tell. */
	readonly onSubscribed: () => void
	/** There is a new head; what the node says of it is not read. */
	readonly onHead: () => void
	readonly limits: HeadSocketLimits
}

export interface HeadSocketLimits {
	/** For the handshake, and then for the answer to the subscription. */
	readonly answerMs: number
	/** A ping after so long; the connection is dead when nothing has come by the next. */
	readonly pingEveryMs: number
	/**
	 * Without a head for so long the subscription is taken to be lost: nodes and gateways forget them on living
	 * connections.
	 */
	readonly silenceMs: number
}

const subscribe = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })
/** A header has about 1 KB; some nodes tell the transactions' hashes with it. */
const maxMessageBytes = 1024 * 1024

/**
 * Never resolves. Rejects with RpcError when it has ended, whyever, or with the signal's reason; the socket is closed
 * then.
 */
export function listenForHeads(options: HeadSocketOptions, signal: AbortSignal): Promise<never> {
	const { url, limits } = options
	return new Promise((_resolve, reject) => {
		const socket = new WebSocket(url.origin.replace(/^http/, 'ws') + url.path, {
			...(url.authorization === null ? {} : { headers: { authorization: url.authorization } }),
			maxPayload: maxMessageBytes,
			perMessageDeflate: false,
		})
		let subscription: string | null = null
		let isAlive = true

		function end(kind: RpcErrorKind, what: string): void {
			const { name: endpoint } = url
			finish(new RpcError(`${endpoint} ${what}`, { kind, endpoint, method: 'eth_subscribe' }))
		}

		function finish(reason: unknown): void {
			clearTimeout(patience)
			clearInterval(pings)
			signal.removeEventListener('abort', abort)
			socket.removeAllListeners()
			// To end a socket that is still opening is an error to it.
			socket.on('error', () => {})
			socket.terminate()
			reject(reason)
		}

		const abort = () => finish(signal.reason)
		let patience = setTimeout(() => end('timeout', tooSlow(limits.answerMs)), limits.answerMs)
		let pingedAtMs = performance.now()
		const pings = setInterval(() => {
			const passedMs = performance.now() - pingedAtMs
			pingedAtMs += passedMs
			// So late, this process stood still itself: a pong that came meanwhile is still to be read.
			if (!isAlive && passedMs < 1.5 * limits.pingEveryMs) end('timeout', 'answers no ping: the connection is dead')
			isAlive = false
			if (socket.readyState === WebSocket.OPEN) socket.ping()
		}, limits.pingEveryMs)

		function waitForHead(): void {
			clearTimeout(patience)
			const silence = () => end('timeout', `gave no head for ${limits.silenceMs / 1_000} s`)
			patience = setTimeout(silence, limits.silenceMs)
		}

		function receive(text: string): void {
			isAlive = true
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
			clearTimeout(patience)
			patience = setTimeout(() => end('timeout', tooSlow(limits.answerMs)), limits.answerMs)
			socket.send(subscribe)
		})
		socket.on('message', (data) => {
			try {
				receive(String(data))
			} catch (error) {
				finish(misread(error, { endpoint: url.name, method: 'eth_subscribe' }))
			}
		})
		socket.on('pong', () => {
			isAlive = true
		})
		socket.on('ping', () => {
			isAlive = true
		})
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

/** `subscription`: null as long as the node has not answered. Pure. */
function readMessage(text: string, subscription: string | null, url: EndpointUrl): Said {
	const message = parse(text)
	if (isObject(message) && message.method === 'eth_subscription') {
		const { params } = message
		// Some nodes tell before they have answered; what others subscribed to is not for us.
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
