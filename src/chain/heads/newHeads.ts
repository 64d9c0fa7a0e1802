/** Follows the heads of one network over WebSocket: a block is scanned when it comes, not at the next poll. */

import { backoffMs, jittered } from '../../base/waits/backoff.js'
import { waitMs } from '../../base/waits/wait.js'
import { PlainError, RpcError } from '../../errors.js'
import type { Log } from '../../model/ports.js'
import { type EndpointUrl, readEndpointUrl } from '../rpc/endpointUrl.js'
import { type HeadSocketLimits, listenForHeads } from './headSocket.js'

export interface FollowOptions {
	/** ws or wss, in order of preference, not empty. One is used at a time: with two, each head is polled twice. */
	readonly urls: readonly string[]
	/** Something may be new. Without arguments: data of the socket is not trusted. Heads close together call it once. */
	readonly onHead: () => void
	readonly log: Log
	readonly limits?: Partial<HeadSocketLimits>
	/** Least time between two calls of `onHead`, so that a node that floods causes no more polls. Default: 250 ms. */
	readonly gapMs?: number
	/** From 0, inclusive, to 1, exclusive. */
	readonly random?: () => number
	readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

const usualLimits: HeadSocketLimits = {
	answerMs: 10_000,
	pingEveryMs: 30_000,
	silenceMs: 120_000,
	// Four blocks per second with the hashes of all their transactions are 40 messages and 3 MB.
	mostMessages: 500,
	mostBytes: 16_000_000,
}
/** After a flood, an endpoint counts as good again when a connection to it has lasted this long. */
const calmMs = 60_000
const firstRestMs = 1_000
const longestRestMs = 60_000
/** Providers end connections now and then: the first end in a row is not warned of. */
const quietEnds = 1

/**
 * Resolves when the signal aborts. A connection that ends is replaced by one to the next URL, after a rest that grows
 * with each failure. Throws PlainError, without the URL in it, when a URL cannot be used.
 */
export async function followHeads(options: FollowOptions, signal: AbortSignal): Promise<void> {
	const { log, random = Math.random, wait = waitMs } = options
	const urls = options.urls.map(readSocketUrl)
	const wake = coalesce(options.onHead, options.gapMs ?? 250)
	const limits = { ...usualLimits, ...options.limits }
	let failures = 0
	let hasWarned = false
	let hasFlooded = false

	function isGood(endpoint: string): void {
		if (hasWarned) log.info({ endpoint }, 'new heads are followed again')
		failures = 0
		hasWarned = false
		hasFlooded = false
	}

	try {
		for (let attempt = 0; ; attempt += 1) {
			const url = urls[attempt % urls.length]
			if (url === undefined) throw new RangeError('there is no URL to follow heads at')
			const onSubscribed = () => {
				log.debug({ endpoint: url.name }, 'new heads are followed')
				wake.call()
			}
			const startedAtMs = performance.now()
			const onHead = () => {
				if (!hasFlooded || performance.now() - startedAtMs >= calmMs) isGood(url.name)
				wake.call()
			}
			try {
				await listenForHeads({ url, onSubscribed, onHead, limits }, signal)
			} catch (error) {
				if (!(error instanceof RpcError)) throw error
				// A chain without a new block for a while is not the connection's failure.
				if (performance.now() - startedAtMs >= limits.silenceMs) isGood(url.name)
				hasFlooded ||= error.kind === 'too-large'
				failures += 1
				const facts = { endpoint: url.name, kind: error.kind, error: error.message }
				if (hasWarned || failures <= quietEnds) log.debug(facts, 'a connection for new heads has ended')
				else {
					log.warn(facts, 'new heads cannot be followed; polling continues on its schedule')
					hasWarned = true
				}
			}
			const rounds = Math.ceil(failures / urls.length)
			await wait(jittered(backoffMs(rounds, firstRestMs, longestRestMs), random), signal)
		}
	} catch (error) {
		if (!signal.aborted) throw error
	} finally {
		wake.end()
	}
}

/** The first call acts at once; calls that follow too soon become one, at the end of the gap. */
function coalesce(act: () => void, gapMs: number): { call(): void; end(): void } {
	let gap: NodeJS.Timeout | null = null
	let again = false
	function call(): void {
		if (gap !== null) {
			again = true
			return
		}
		again = false
		gap = setTimeout(() => {
			gap = null
			if (again) call()
		}, gapMs)
		act()
	}
	return {
		call,
		end() {
			if (gap !== null) clearTimeout(gap)
		},
	}
}

function readSocketUrl(text: string): EndpointUrl {
	const form = /^ws(s?):\/\//i
	if (!form.test(text)) throw new PlainError('A ws URL must begin with ws:// or wss://.')
	return readEndpointUrl(text.replace(form, 'http$1://'))
}
