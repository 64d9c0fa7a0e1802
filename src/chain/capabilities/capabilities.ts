/**
 * The room probes what an endpoint can do (`probe.ts`), which sources may be used (`permitted.ts`), and remembers the
 * results (`registry.ts`).
 */

import type { RpcError } from '../../errors.js'
import type { Block } from '../../model/chain.js'
import type { Tracer } from '../sources/debugTrace.js'
import type { SourceName } from '../sources/source.js'

/** What one endpoint can do, as its answers showed: the client's name is a hint, the probes are the proof. */
export interface Capabilities {
	/** The node's own name and version; null where it gives none. */
	readonly clientVersion: string | null
	readonly chainId: bigint | null
	/** `ots_getApiLevel`; null where there is none. It says nothing about trace methods. */
	readonly otsLevel: number | null
	readonly head: Pick<Block, 'number' | 'timestampS' | 'hasNoTime'>
	readonly safeTag: boolean
	readonly finalizedTag: boolean

	/** By method: whether it answered, and rightly. `unknown`: not asked, or there was nothing to check it with. */
	readonly methods: {
		readonly trace_filter: Ability
		readonly trace_block: Ability
		readonly trace_transaction: Ability
		readonly debug_traceBlockByNumber: Ability
	}
	/** The tracer of `debug_traceBlockByNumber` that worked; null when none was asked for. */
	readonly tracer: Tracer | null
	/** Whether two lists in one call mean either or both, for the operator. Null: not seen. */
	readonly filterMode: 'union' | 'intersection' | null
	/** How the endpoint answers a request beyond its head. Null: not seen. */
	readonly beyondHead: 'refused' | 'empty' | null
	/** A transaction that failed by its receipt had a root row marked as failed. */
	readonly marksFailures: boolean
	/** How rewards come; `none` also where the probed blocks had none. */
	readonly rewards: 'none' | 'paid' | 'zero'

	/** Blocks that were used for the probe; none on a chain that is too young or too quiet. */
	readonly probed: readonly bigint[]
	/** The answers were checked against each other and agree; without it they are trusted for now only. */
	readonly proved: boolean
	/** Sources that may be used, best first. Empty: this endpoint cannot give frames. */
	readonly sources: readonly SourceName[]
	/** There is at least one source to trust. */
	readonly trusted: boolean
	/** A probe failed in a way that may pass soon. */
	readonly passing: boolean
	/** The weaknesses of this endpoint, a sentence each, for the operator. */
	readonly reasons: readonly string[]
}

export type Ability = 'yes' | 'no' | 'wrong' | 'unknown'

/** The result of probing one method; `why` is a sentence, or null without a fault. */
export interface Finding {
	readonly ability: Ability
	readonly why: string | null
	/** The result may differ in a minute: the node failed, or took too long. */
	readonly passing?: boolean
}

export const fine: Finding = { ability: 'yes', why: null }
export const notAsked: Finding = { ability: 'unknown', why: null }

/** What a refusal says about the method. Throws the error again if it is about the current load or the connection. */
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

/** What bad answers say of a method. If others were good, the blocks may be to blame: it is trusted for now. */
export function findingOfAnswers(method: string, error: RpcError, good: number): Finding {
	const found: Finding =
		error.kind === 'unsettled' ? { ability: 'wrong', why: error.message } : findingOf(method, error)
	return found.ability === 'wrong' && good > 0 ? { ...found, passing: true } : found
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
