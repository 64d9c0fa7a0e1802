/**
 * One endpoint under watch: it is on the right chain, it has the block, and it gets a second chance where that can
 * help.
 */

import { backoffMs, jittered } from '../../base/backoff.js'
import { RpcError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import { askHead, watchHead } from '../heads/heads.js'
import { misread } from '../rpc/border.js'
import type { Rpc } from '../rpc/rpc.js'
import { type Breaker, blames, createBreaker } from './breaker.js'
import { checkChain } from './chainCheck.js'

/** What a job needs of an endpoint. */
export interface Need {
	/** Only endpoints whose head is, by their own word, at that block or after it. */
	readonly block?: bigint
	/** The job may run while the endpoint is asked for its chain: its result counts when that is the right one. */
	readonly beside?: true
	/** Endpoints of a lower rank are asked first; among equals the order of preference stands. */
	readonly rank?: (rpc: Rpc) => number
	/** So long at most on each but the last that may be asked: it is no news to wait for with another at hand. */
	readonly soonMs?: number
	/** To be too late with it says nothing against an endpoint. */
	readonly isMild?: true
}

export interface Endpoint {
	readonly rpc: Rpc
	readonly breaker: Breaker
	/** 0: it may be asked now. It is down, or has asked to be left alone for a while. */
	restingMs(): number
	/** By its own, latest word; null before it was asked. */
	head(): bigint | null
	/**
	 * Runs the job here, several times when the chain changed under it; single requests are asked again below. With
	 * `block` only when the head is at that block or after it; `no-data` otherwise. This is the border for what comes in:
	 * whatever is thrown while answers are read is an error of this endpoint. Throws the signal's reason, nothing else.
	 */
	attempt<T>(job: Job<T>, need: Need, signal: AbortSignal): Promise<Attempted<T>>
	/** A question that began then was given up: it may rest, and is asked anew which chain it is on. */
	failed(error: RpcError, startedAtMs: number): void
}

/** A small question that takes longer is asked of the next endpoint: one that hangs must not keep alerts back. */
export const soon: Need = { soonMs: 5_000 }

/** The signal is the caller's, or ends before it where another endpoint is to be asked. */
export type Job<T> = (rpc: Rpc, signal: AbortSignal) => Promise<T>

/** What came of asking one endpoint. */
export type Attempted<T> = { readonly result: T } | { readonly error: RpcError }

export interface EndpointOptions {
	readonly rpc: Rpc
	readonly chainId: number
	readonly clock: Clock
	readonly log: Log
	readonly random: () => number
	readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** The chain may have changed under the question, or the node not have read all of a block yet. */
const retriesInPlace = 2
const retryBaseMs = 200
/** A free plan says "slower" many times a day: it is news only when waiting does not help, so many times in a row. */
const quietRefusals = 2

export function createEndpoint({ rpc: inner, chainId, clock, log, random, wait }: EndpointOptions): Endpoint {
	const breaker = createBreaker({ endpoint: inner.endpoint, clock, log, random })
	let head: bigint | null = null
	let verified = false
	let refusals = 0
	const rpc = watchHead(inner, (seen) => {
		head = seen
	})

	/** Before the first use, and again after a failure: an address may lead to another node than a minute ago. */
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
		log.warn({ endpoint: rpc.endpoint, error: message }, 'an endpoint keeps asking for slower requests')
	}

	function answered(): void {
		if (refusals > quietRefusals) log.info({ endpoint: rpc.endpoint }, 'the endpoint bears our requests again')
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
