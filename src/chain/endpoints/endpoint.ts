/** One endpoint: checks that it is on the right chain and has the block, and retries on it where that can help. */

import { backoffMs, jittered } from '../../base/waits/backoff.js'
import { RpcError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import { withTxLists } from '../blocks/txLists.js'
import { askHead, askQuantity, watchHead } from '../heads/heads.js'
import { misread } from '../rpc/border.js'
import type { Rpc } from '../rpc/rpc.js'
import { type Breaker, blames, createBreaker } from './breaker.js'

export interface Need {
	/** Only endpoints whose latest reported head is at that block or above it. */
	readonly block?: bigint
	/** The job may run while the chain id is checked; its result counts only if that is right. */
	readonly beside?: true
	/** Endpoints with a lower rank are asked first; among equals, in order of preference. */
	readonly rank?: (rpc: Rpc) => number
	/** In ms, on each endpoint but the last candidate; a slower one does not count as failing for that alone. */
	readonly soonMs?: number
	/** A missed deadline does not count against the endpoint. */
	readonly isMild?: true
}

export interface Endpoint {
	readonly rpc: Rpc
	readonly breaker: Breaker
	/** 0: it may be asked now. Else it is down, or has asked for a pause. */
	restingMs(): number
	/** Its latest reported head; null before it was asked. */
	head(): bigint | null
	/**
	 * Runs the job here, again if the chain changed during it; single requests are retried below. With `block`, only if
	 * the head is at that block or above it, else `no-data`. This is the border for incoming data: anything thrown while
	 * answers are read becomes an error of this endpoint. Throws the signal's reason, nothing else.
	 */
	attempt<T>(job: Job<T>, need: Need, signal: AbortSignal): Promise<Attempted<T>>
	/** The chain id is checked again at the next request. */
	recheckChainId(): void
	/** A request that began then was given up: the endpoint may rest, and its chain id is checked again. */
	failed(error: RpcError, startedAtMs: number): void
}

/** For small requests: after 5 s the next endpoint is asked, because one that hangs must not delay alerts. */
export const soon: Need = { soonMs: 5_000 }

/** The signal is the caller's, or ends earlier if another endpoint is to be asked. */
export type Job<T> = (rpc: Rpc, signal: AbortSignal) => Promise<T>

export type Attempted<T> = { readonly result: T } | { readonly error: RpcError }

export interface EndpointOptions {
	readonly rpc: Rpc
	readonly chainId: number
	readonly clock: Clock
	readonly log: Log
	readonly random: () => number
	readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** The chain may have changed during the request, or the node may not have processed all of a block yet. */
const retriesInPlace = 2
const retryBaseMs = 200
/** Free plans limit the rate many times a day: it is logged only after more than 2 refusals in a row. */
const quietRefusals = 2

export function createEndpoint({ rpc: inner, chainId, clock, log, random, wait }: EndpointOptions): Endpoint {
	const breaker = createBreaker({ endpoint: inner.endpoint, clock, log, random })
	let head: bigint | null = null
	let verified = false
	let refusals = 0
	const rpc = watchHead(withTxLists(inner, log), (seen) => {
		head = seen
	})

	/** Before the first use, and again after a failure: a URL may lead to another node than before. */
	async function admit(signal: AbortSignal): Promise<void> {
		if (verified) return
		// After a rest there is one trial, of one request.
		await checkChain(breaker.failing() ? { ...rpc, call: rpc.once } : rpc, chainId, signal)
		verified = true
	}

	async function reach(block: bigint, signal: AbortSignal): Promise<void> {
		if (head !== null && head >= block) return
		const now = await askHead(rpc, signal)
		if (now >= block) return
		const { endpoint } = rpc
		throw new RpcError(`${endpoint} has not got block ${block} yet: its head is ${now}`, { kind: 'no-data', endpoint })
	}

	function refused(error: RpcError): void {
		refusals += 1
		if (refusals !== quietRefusals + 1) return
		const { message } = error
		log.warn({ endpoint: rpc.endpoint, error: message }, 'an endpoint keeps answering with rate limits')
	}

	function answered(): void {
		if (refusals > quietRefusals) log.info({ endpoint: rpc.endpoint }, 'the endpoint accepts our requests again')
		refusals = 0
	}

	function failed(error: RpcError, startedAtMs: number): void {
		verified = false
		breaker.failed(error, startedAtMs)
	}

	return {
		rpc,
		breaker,
		failed,
		restingMs: () => Math.max(breaker.restingMs(), rpc.awayMs()),
		head: () => head,
		recheckChainId() {
			verified = false
		},
		async attempt(job, { block, beside = false }, signal) {
			for (let retry = 0; ; retry += 1) {
				const startedAtMs = clock()
				try {
					const admitted = admit(signal)
					if (!beside) await admitted
					if (block !== undefined) await reach(block, signal)
					const [result] = await Promise.all([job(rpc, signal), admitted])
					breaker.succeeded(startedAtMs)
					answered()
					return { result }
				} catch (thrown) {
					signal.throwIfAborted()
					const error = misread(thrown, rpc)
					if (error.kind === 'rate') refused(error)
					if (retry === retriesInPlace || error.kind !== 'unsettled') {
						if (blames(error)) failed(error, startedAtMs)
						else if (error.kind !== 'rate') breaker.succeeded(startedAtMs)
						return { error }
					}
				}
				await wait(jittered(backoffMs(retry + 1, retryBaseMs, Number.POSITIVE_INFINITY), random), signal)
			}
		},
	}
}

/** Throws RpcError of kind `malformed` with `wrongChainId` when the endpoint is on another chain. */
async function checkChain(rpc: Pick<Rpc, 'endpoint' | 'call'>, chainId: number, signal: AbortSignal): Promise<void> {
	const id = await askQuantity(rpc, 'eth_chainId', signal)
	if (id === BigInt(chainId)) return
	throw new RpcError(`${rpc.endpoint} is on chain ${id}, but chain ${chainId} is configured`, {
		kind: 'malformed',
		endpoint: rpc.endpoint,
		method: 'eth_chainId',
		wrongChainId: String(id),
	})
}
