/**
 * The room finds out what an endpoint can do (`probe.ts`), chooses a source by it (`choice.ts`), and remembers it
 * (`registry.ts`).
 */

import type { RpcError } from '../../errors.js'
import type { Tracer } from '../sources/debugTrace.js'
import type { SourceName } from '../sources/source.js'

/** What one endpoint can do, as it was seen to do it: the client's name is a hint, the probes are the proof. */
export interface Capabilities {
	/** As the node names itself; null where it does not. */
	readonly clientVersion: string | null
	readonly chainId: bigint | null
	/** `ots_getApiLevel`; null where there is none. It says nothing of trace methods. */
	readonly otsLevel: number | null
	readonly head: { readonly number: bigint; readonly timestampS: bigint }
	readonly safeTag: boolean
	readonly finalizedTag: boolean

	/** By method: whether it answered, and rightly. `unknown`: not asked, or there was nothing to prove it with. */
	readonly methods: {
		readonly trace_filter: Ability
		readonly trace_block: Ability
		readonly trace_transaction: Ability
		readonly debug_traceBlockByNumber: Ability
	}
	/** Which tracer of `debug_traceBlockByNumber` was understood; null when it was not asked. */
	readonly tracer: Tracer | null
	/** What two lists in one question mean: either, or both. Null: not seen. */
	readonly filterMode: 'union' | 'intersection' | null
	/** What a question beyond the head meets. Null: not seen. */
	readonly beyondHead: 'refused' | 'empty' | null
	/** A transaction that failed by its receipt had a root row that says so. */
	readonly marksFailures: boolean
	/** How rewards come; `none` also where the blocks looked at had none. */
	readonly rewards: 'none' | 'paid' | 'zero'

	/** Blocks that the probes looked at; none on a chain too young or too quiet. */
	readonly probed: readonly bigint[]
	/** The answers were checked against each other and agree; without it they are trusted for now only. */
	readonly proved: boolean
	/** What may be used, best first. Empty: this endpoint can tell nothing of frames. */
	readonly sources: readonly SourceName[]
	/** A source is there to be trusted. */
	readonly trusted: boolean
	/** Something failed that may do better soon. */
	readonly passing: boolean
	/** What is weak about this endpoint, a sentence each, for the operator. */
	readonly reasons: readonly string[]
}

export type Ability = 'yes' | 'no' | 'wrong' | 'unknown'

/** What a probe of one method came to; `why` is a sentence, or null when all is well. */
export interface Finding {
	readonly ability: Ability
	readonly why: string | null
	/** It may be otherwise in a minute: the node failed, or took too long. */
	readonly passing?: boolean
}

export const fine: Finding = { ability: 'yes', why: null }
export const notAsked: Finding = { ability: 'unknown', why: null }

/**
 * What a method's refusal says of it. Throws the error again when it says something of the moment or of the connection
 * instead: then nothing can be learnt now.
 */
export function findingOf(method: string, error: RpcError): Finding {
	if (isPassing(error)) throw error
	const isRefused = ['unsupported', 'auth', 'bad-params'].includes(error.kind)
	return isRefused
		? { ability: 'no', why: `${method} is not offered (${error.message})` }
		: {
				ability: 'wrong',
				why: `${method} failed when it was tried (${error.message})`,
				passing: error.kind !== 'malformed',
			}
}

function isPassing({ kind, facts }: RpcError): boolean {
	if (kind === 'malformed') return facts.content !== true
	if (kind === 'server') return facts.status === undefined || facts.status >= 500
	return kind === 'network' || kind === 'rate' || kind === 'quota'
}

/** Besu's filter never gives self-destructs, creations by their address, or rewards (docs/nodes.md, "Nodes"). */
export function isBlindByName(clientVersion: string | null): boolean {
	return /^besu\b/i.test(clientVersion ?? '')
}
