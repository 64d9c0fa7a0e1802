/** The family of errors. Each is one sentence for a person, then facts; `cause` keeps what lies under it. */

/** One thing wrong in one place of a file; line and column start at 1. */
export interface Problem {
	readonly file: string
	readonly line: number
	readonly column: number
	readonly message: string
}

/** The user's configuration or watchlists are wrong; the program exits with 78. Carries every problem found. */
export class ConfigError extends Error {
	override readonly name = 'ConfigError'
	readonly problems: readonly Problem[]

	constructor(problems: readonly Problem[]) {
		super(problems.map(formatProblem).join('\n'))
		this.problems = problems
	}
}

/** `file:line:column: message`, the form that editors jump to. */
export function formatProblem({ file, line, column, message }: Problem): string {
	return `${file}:${line}:${column}: ${message}`
}

/**
 * What a failed call to a node means for the caller.
 *
 * - `too-large`: ask for less (`limit` blocks, where the node named a number).
 * - `rate`: wait (`retryAfterMs`), then slower. `quota`: paid for no more today; tell the operator, do not retry.
 * - `unsupported`: the method is not there. `no-data`: this node has not got (or no longer has) that block's state.
 * - `timeout`, `network`, `server`: try again, smaller or elsewhere. `auth`: the key is refused.
 * - `malformed`: the answer cannot be believed. `bad-params`: our request is wrong for this node.
 * - `unsettled`: the chain changed while it was read; ask again.
 */
export type RpcErrorKind =
	| 'too-large'
	| 'rate'
	| 'quota'
	| 'unsupported'
	| 'no-data'
	| 'timeout'
	| 'network'
	| 'server'
	| 'auth'
	| 'malformed'
	| 'bad-params'
	| 'unsettled'

export interface RpcErrorFacts {
	readonly kind: RpcErrorKind
	/** Host and port only: keys live in paths. */
	readonly endpoint: string
	readonly method?: string
	readonly status?: number
	readonly code?: number
	/** Blocks per request that the node says it allows. */
	readonly limit?: number
	readonly retryAfterMs?: number
	/** Decimal; the chain that the endpoint is on, where that is not the configured one. */
	readonly wrongChainId?: string
	/** The answer arrived whole, but what it says cannot be true: asking the same again will not help. */
	readonly content?: true
	/** Of `no-data`: it failed in a way that may pass; asked again, the node may tell it. */
	readonly forNow?: true
}

/** A node did not give an answer that can be used. The message names the endpoint by host and says what happened. */
export class RpcError extends Error {
	override readonly name = 'RpcError'
	readonly facts: RpcErrorFacts

	constructor(message: string, facts: RpcErrorFacts, options?: ErrorOptions) {
		super(message, options)
		this.facts = facts
	}

	get kind(): RpcErrorKind {
		return this.facts.kind
	}
}

/**
 * The state cannot be read, written or locked; the message says what to do. `lost`: another instance polls this network
 * now, and nothing of what was asked was written.
 */
export class StateError extends Error {
	override readonly name = 'StateError'
	readonly reason: 'locked' | 'damaged' | 'newer' | 'disk' | 'mismatch' | 'lost'

	constructor(reason: StateError['reason'], message: string, options?: ErrorOptions) {
		super(message, options)
		this.reason = reason
	}
}

/** The command line was wrong; the program exits with 2. */
export class UsageError extends Error {
	override readonly name = 'UsageError'
}

/** Something that the user can fix, printed without a stack; the program exits with 1. */
export class PlainError extends Error {
	override readonly name = 'PlainError'
}
