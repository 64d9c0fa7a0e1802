/**
 * Decides whether one endpoint may be asked now. A failing endpoint rests, longer each time, and comes back by a trial
 * request. What an operator must fix is logged once, with what to do. Only changes from good to failing and back are
 * logged.
 */

import { backoffMs, jittered } from '../../base/waits/backoff.js'
import type { RpcError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'

export interface Breaker {
	/** 0: it may be asked. */
	restingMs(): number
	/** Failing until the next success; a request now is a trial. */
	failing(): boolean
	lastError(): RpcError | null
	/** `startedAtMs`: when the request began. A success from before the last failure is ignored. */
	succeeded(startedAtMs: number): void
	failed(error: RpcError, startedAtMs: number): void
}

export interface BreakerOptions {
	readonly endpoint: string
	readonly clock: Clock
	readonly log: Log
	/** From 0, inclusive, to 1, exclusive. */
	readonly random: () => number
}

const firstRestMs = 1_000
const longestRestMs = 60_000
/**
 * Longest rest for what an operator must fix: long enough to cost nothing, short enough that no restart is needed. The
 * first rests are short, because some of these errors pass by themselves: a firewall's 403, a key that has not reached
 * all servers yet, a load balancer that chose a wrong node.
 */
const fixRestMs = 10 * 60_000
const firstFixRestMs = 5_000
/** Without such a failure for this time it counts as fixed. A success shows little: only one method may be refused. */
const fixedAfterMs = 2 * fixRestMs

export function createBreaker({ endpoint, clock, log, random }: BreakerOptions): Breaker {
	let failures = 0
	let failedAtMs = Number.NEGATIVE_INFINITY
	let restsUntilMs = 0
	let toFix = 0
	let toFixAtMs = Number.NEGATIVE_INFINITY
	let last: RpcError | null = null
	let logged: Advice | 'failing' | null = null

	/** The number of consecutive failures that an operator must fix, including this one. */
	function countToFix(): number {
		toFix = clock() - toFixAtMs < fixedAfterMs ? toFix + 1 : 1
		toFixAtMs = clock()
		return toFix
	}

	function restFor(error: RpcError): number {
		const { retryAfterMs } = error.facts
		if (adviceFor(error) === 'quota') return Math.max(retryAfterMs ?? 0, fixRestMs)
		if (adviceFor(error) !== null) return backoffMs(countToFix(), firstFixRestMs, fixRestMs)
		const restMs = jittered(backoffMs(failures, firstRestMs, longestRestMs), random)
		return Math.max(retryAfterMs ?? 0, Math.round(restMs))
	}

	function tell(error: RpcError, restMs: number): void {
		const facts = { endpoint, kind: error.kind, error: error.message, restMs }
		const advice = adviceFor(error)
		if (advice !== null) {
			if (logged !== advice) log.error(facts, advices[advice])
			logged = advice
		} else if (logged === null) {
			log.warn(facts, 'endpoint failing: backing off')
			logged = 'failing'
		}
	}

	return {
		restingMs: () => Math.max(0, restsUntilMs - clock()),
		failing: () => failures > 0,
		lastError: () => last,
		succeeded(startedAtMs) {
			if (failures === 0 || startedAtMs < failedAtMs) return
			if (logged !== null) log.info({ endpoint }, 'the endpoint is back')
			failures = 0
			restsUntilMs = 0
			last = null
			logged = null
		},
		failed(error, startedAtMs) {
			if (!blames(error)) return
			// Requests that were under way together and fail together count as one failure.
			if (failures > 0 && startedAtMs < failedAtMs) return
			failures += 1
			failedAtMs = clock()
			last = error
			const restMs = restFor(error)
			restsUntilMs = failedAtMs + restMs
			tell(error, restMs)
		},
	}
}

/** Whether the error means that the endpoint is down: not for one of a request or a block, nor for a rate limit. */
export function blames({ kind, facts }: RpcError): boolean {
	if (facts.ofHeader) return false
	switch (kind) {
		case 'quota':
		case 'timeout':
		case 'network':
		case 'server':
		case 'auth':
		case 'malformed':
			return true
		default:
			return false
	}
}

type Advice = 'quota' | 'auth' | 'chain'

function adviceFor({ facts }: RpcError): Advice | null {
	if (facts.wrongChainId !== undefined) return 'chain'
	return facts.kind === 'quota' || facts.kind === 'auth' ? facts.kind : null
}

const advices: Readonly<Record<Advice, string>> = {
	quota:
		"the endpoint's plan is used up: backing off; raise the plan with the provider, or add another endpoint to `rpc`",
	auth:
		'the endpoint refuses our key: backing off; correct its URL in `rpc`, ' +
		'or the variable or file that the URL comes from',
	chain: 'the endpoint is on another chain and is not used: correct its URL in `rpc`, or `chain_id`',
}
