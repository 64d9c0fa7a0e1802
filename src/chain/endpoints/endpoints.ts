/**
 * The room has the endpoints of one network. A job goes to the first one that is able, then to the next where that may
 * help.
 */

import { withDeadline } from '../../base/waits/deadline.js'
import { waitMs } from '../../base/waits/wait.js'
import { RpcError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import { askHash, askLatest } from '../heads/heads.js'
import type { Rpc } from '../rpc/rpc.js'
import { type Attempted, createEndpoint, type Endpoint, type Job, type Need } from './endpoint.js'
import { mostSpecific } from './errorChoice.js'
import { lagsOf, MOST_LAG_BLOCKS, type NewestBlock } from './lags.js'

export interface Endpoints {
	/**
	 * Resolves to the job's result on the first endpoint that is able. `job` may run several times, on one endpoint or on
	 * several, and gets the same Rpc object for the same endpoint each time. With `need.block`, only endpoints are asked
	 * whose reported head is at that block or above it.
	 *
	 * Throws the signal's reason at once; the most specific RpcError when all have failed. If `job` throws anything but
	 * an RpcError, it could not read an answer: `malformed` (`endpoint.ts`, the border for incoming data).
	 */
	use<T>(job: Job<T>, signal: AbortSignal, need?: Need): Promise<T>
	/**
	 * This endpoint has answered a caller that asked it in spite of its rest: its failure was caused by the request, and
	 * it may be asked again. Endpoints are identified by their limits, because an Rpc may be wrapped.
	 */
	heard(rpc: Pick<Rpc, 'limits'>): void
	/** Each endpoint's chain id is checked again at its next request. */
	recheckChainId(): void
	/** In order of preference. */
	states(): readonly EndpointState[]
	close(): Promise<void>
}

export interface EndpointState {
	/** Host and port. */
	readonly endpoint: string
	/** Neither failing nor lagging. */
	readonly healthy: boolean
	/** Null: it may be asked now. */
	readonly restingUntilMs: number | null
	readonly lagging: boolean
	/** The failure that still counts; null when there is none. */
	readonly lastError: string | null
	/** Its latest reported head; null before it was asked. */
	readonly head: bigint | null
}

export interface EndpointsOptions {
	/** In order of preference; at least one. */
	readonly rpcs: readonly Rpc[]
	readonly chainId: number
	/** Measures rests and ages: a clock that is never set. */
	readonly clock: Clock
	/** Wall clock to compare with the heads' timestamps. Default: `clock`. */
	readonly wallClock?: Clock
	readonly log: Log
	readonly random?: () => number
	readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Longest wait here for an endpoint that asked for a pause, when no other is left; longer waits are the caller's. */
const longestWaitMs = 10_000
const waitsPerUse = 2
const compareEveryMs = 15_000
const forHead = { soonMs: 5_000 }
/** How long a job waits for the heads of the endpoints: one that hangs must not slow down the others. */
const compareWaitMs = 1_000

export function createEndpoints(options: EndpointsOptions): Endpoints {
	const { chainId, clock, log, random = Math.random, wait = waitMs } = options
	const { wallClock = clock } = options
	const endpoints = options.rpcs.map((rpc) => createEndpoint({ rpc, chainId, clock, log, random, wait }))
	const lagging = new Set<Endpoint>()
	const closing = new AbortController()
	let comparing: Promise<void> | null = null
	let comparedAtMs = Number.NEGATIVE_INFINITY

	/** Lagging endpoints come last: they are better than none. */
	function able(): readonly Endpoint[] {
		const awake = endpoints.filter((one) => one.restingMs() === 0)
		return [...awake.filter((one) => !lagging.has(one)), ...awake.filter((one) => lagging.has(one))]
	}

	/** With one endpoint there is nothing to compare. */
	async function freshLags(signal: AbortSignal): Promise<void> {
		if (endpoints.length < 2) return
		if (comparing === null) {
			if (clock() - comparedAtMs < compareEveryMs) return
			// An endpoint held back by our own rate limit would seem slow, and the others would only be compared with each
			// other.
			if (able().some(({ rpc }) => rpc.isHeldBack())) return
			comparedAtMs = clock()
			comparing = compareHeads().finally(() => {
				comparing = null
			})
		}
		const round = comparing
		await withDeadline(
			compareWaitMs,
			(enough) => Promise.race([round, aborted(enough)]),
			() => {},
			signal,
		)
		signal.throwIfAborted()
	}

	/** Compares only heads given at the same time: an older one would seem to lag. */
	async function compareHeads(): Promise<void> {
		const heads = new Map<Endpoint, NewestBlock>()
		const one = async (endpoint: Endpoint) => {
			const head = await tell(endpoint, (rpc, until) => askLatest(rpc, until))
			if (head !== null) heads.set(endpoint, head)
		}
		await Promise.all(able().map(one))
		const hashAt = (endpoint: Endpoint, number: bigint) => tell(endpoint, (rpc, until) => askHash(rpc, number, until))
		const lags = await lagsOf(heads, hashAt, wallClock())
		for (const [endpoint, lag] of lags) noteLag(endpoint, lag)
	}

	/** Null where it cannot answer; its breaker has recorded why. */
	async function tell<T>(endpoint: Endpoint, ask: Job<T | null>): Promise<T | null> {
		try {
			const came = await within(endpoint, ask, forHead, closing.signal)
			return 'result' in came ? came.result : null
		} catch (error) {
			if (!closing.signal.aborted) throw error
			return null
		}
	}

	async function within<T>(
		endpoint: Endpoint,
		job: Job<T>,
		need: Need & { readonly soonMs: number },
		signal: AbortSignal,
	): Promise<Attempted<T>> {
		const ms = need.soonMs
		const startedAtMs = clock()
		const isFull = endpoint.rpc.limits.speed.isFull()
		const late = () => {
			const error = tooSlow(endpoint, need === forHead ? 'tell its head' : 'answer', ms)
			// The request waited for our own limit, or for a pause that the endpoint asked for: that is no failure.
			const isOurs = isFull || endpoint.rpc.isHeldBack()
			if (!isOurs && need.isMild !== true) endpoint.failed(error, startedAtMs)
			return { error }
		}
		return withDeadline(ms, (until) => endpoint.attempt(job, need, until), late, signal)
	}

	function noteLag(endpoint: Endpoint, lagBlocks: bigint): void {
		const lags = lagBlocks > MOST_LAG_BLOCKS
		if (lags === lagging.has(endpoint)) return
		const facts = { endpoint: endpoint.rpc.endpoint, lagBlocks: Number(lagBlocks) }
		if (lags) {
			lagging.add(endpoint)
			log.warn(facts, 'the endpoint lags behind the others and is passed over')
		} else {
			lagging.delete(endpoint)
			log.info(facts, 'the endpoint has caught up')
		}
	}

	/** Time until an endpoint may be asked that wanted a pause; null when that is too long to wait here. */
	function shortWaitMs(): number | null {
		const slowed = endpoints.filter(({ breaker }) => breaker.restingMs() === 0)
		const shortest = Math.min(...slowed.map(({ rpc }) => rpc.awayMs()))
		if (shortest === 0) return null
		return shortest <= longestWaitMs ? shortest : null
	}

	return {
		async use(job, signal, need = {}) {
			const errors = new Map<Endpoint, RpcError>()
			for (let waits = 0; ; waits += 1) {
				signal.throwIfAborted()
				await freshLags(signal)
				const asked = ranked(able(), need.rank)
				for (const endpoint of asked) {
					// An endpoint held back by our own limit is not slow.
					const { soonMs } = need
					const hasTime = soonMs === undefined || endpoint === asked.at(-1) || endpoint.rpc.isHeldBack()
					const came = await (hasTime
						? endpoint.attempt(job, need, signal)
						: within(endpoint, job, { ...need, soonMs }, signal))
					if ('result' in came) return came.result
					errors.set(endpoint, came.error)
				}
				const nextMs = waits < waitsPerUse ? shortWaitMs() : null
				if (nextMs === null) throw mostSpecific(endpoints.map((one) => errors.get(one) ?? resting(one)))
				await wait(nextMs, signal)
			}
		},
		heard({ limits }) {
			for (const { rpc, breaker } of endpoints) if (rpc.limits === limits) breaker.succeeded(clock())
		},
		recheckChainId() {
			for (const endpoint of endpoints) endpoint.recheckChainId()
		},
		states() {
			return endpoints.map((one) => {
				const restMs = one.restingMs()
				return {
					endpoint: one.rpc.endpoint,
					healthy: !one.breaker.failing() && !lagging.has(one),
					restingUntilMs: restMs === 0 ? null : clock() + restMs,
					lagging: lagging.has(one),
					lastError: one.breaker.lastError()?.message ?? null,
					head: one.head(),
				}
			})
		},
		async close() {
			closing.abort()
			await comparing
			await Promise.all(options.rpcs.map((rpc) => rpc.close()))
		},
	}
}

function ranked(endpoints: readonly Endpoint[], rank: Need['rank']): readonly Endpoint[] {
	return rank === undefined ? endpoints : endpoints.toSorted((a, b) => rank(a.rpc) - rank(b.rpc))
}

/** A resting endpoint was not asked, because it failed before. */
function resting({ rpc: { endpoint, awayMs }, breaker, restingMs }: Endpoint): RpcError {
	const last = breaker.lastError()
	const retryAfterMs = restingMs()
	const why = last?.message ?? (awayMs() > 0 ? `${endpoint} asked for slower requests` : `${endpoint} failed`)
	return new RpcError(`${why}; it is asked again in ${Math.ceil(retryAfterMs / 1_000)} s`, {
		...(last?.facts ?? { kind: awayMs() > 0 ? 'rate' : 'network', endpoint }),
		retryAfterMs,
	})
}

function tooSlow({ rpc: { endpoint } }: Endpoint, what: string, ms: number): RpcError {
	const seconds = ms / 1_000
	return new RpcError(`${endpoint} did not ${what} within ${seconds} s`, { kind: 'timeout', endpoint })
}

function aborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
