/**
 * Whether one endpoint may be asked now. A failing one rests, longer each time, and comes back by trial; what a person
 * has to mend is said once, in words of what to do. Only the change from good to failing and back is logged.
 */

import { backoffMs, jittered } from '../../base/backoff.js'
import type { RpcError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'

export interface Breaker {
	/** 0: it may be asked. */
	restingMs(): number
	/** Failing until the next success: what is asked now is a trial. */
	failing(): boolean
	lastError(): RpcError | null
	/** `startedAtMs`: when the asking began; news from before the last failure is no news. */
	succeeded(startedAtMs: number): void
	failed(error: RpcError, startedAtMs: number): void
}

export interface BreakerOptions {
	readonly endpoint: string
	readonly clock: Clock
	readonly log: Log
	/** From 0 up to, not including, 1. */
	readonly random: () => number
}

const firstRestMs = 1_000
const longestRestMs = 60_000
/**
 * For what a person has to mend: long enough in the end to cost nothing, short enough to need no restart. A firewall's
 * 403, a key that is not known everywhere yet or a balancer that sent us to a neighbour pass by themselves: the first
 * rests are short.
 */
const mendRestMs = 10 * 60_000
const firstMendRestMs = 5_000
/** Without such a failure for so long it is mended. An answer says little: one method may be refused, and no other. */
const mendedAfterMs = 2 * mendRestMs
const quotaRestMs = 60 * 60_000

export function createBreaker({ endpoint, clock, log, random }: BreakerOptions): Breaker {
	let failures = 0
	let failedAtMs = Number.NEGATIVE_INFINITY
	let restsUntilMs = 0
	let toMend = 0
	let toMendAtMs = Number.NEGATIVE_INFINITY
	let last: RpcError | null = null
	let logged: Advice | 'failing' | null = null

	/** How many failures in a row a person has to mend, with the one now. */
	function countToMend(): number {
		toMend = clock() - toMendAtMs < mendedAfterMs ? toMend + 1 : 1
		toMendAtMs = clock()
		return toMend
	}

	function restFor(error: RpcError): number {
		const { retryAfterMs } = error.facts
		if (adviceFor(error) === 'quota') return Math.max(retryAfterMs ?? quotaRestMs, mendRestMs)
		if (adviceFor(error) !== null) return backoffMs(countToMend(), firstMendRestMs, mendRestMs)
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
			log.warn(facts, 'an endpoint fails and rests')
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
			// Several requests that were under way together fail together: that is one failure.
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

/** Whether the error says that the endpoint is down: not one against this question only, and "slower" is a speed. */
export function blames({ kind }: RpcError): boolean {
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
		"the endpoint's plan is used up and it rests: raise the plan with the provider, or add another endpoint to `rpc`",
	auth:
		'the endpoint refuses our key and rests: correct its URL in `rpc`, ' +
		'or the variable or file that the URL comes from',
	chain: 'the endpoint is on another chain and is not used: correct its URL in `rpc`, or `chain_id`',
}
