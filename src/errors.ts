/** The error classes. Each message is one sentence for the user; `cause` keeps the underlying error. */

/** One problem at one place of a file; line and column start at 1. */
export interface Problem {
	readonly file: string
	readonly line: number
	readonly column: number
	readonly message: string
}

/** The configuration or the watchlists have problems; the program exits with 78. Carries every problem found. */
export class ConfigError extends Error {
	override readonly name = 'ConfigError'
	readonly problems: readonly Problem[]

	constructor(problems: readonly Problem[]) {
		super(problems.map(formatProblem).join('\n'))
		this.problems = problems
	}
}

/** `file:line:column: message`, the format that editors can jump to. */
export function formatProblem({ file, line, column, message }: Problem): string {
	return `${file}:${line}:${column}: ${message}`
}

/**
 * What a failed call to a node means for the caller.
 *
 * - `too-large`: ask for less (at most `limit` blocks, if the node named a number).
 * - `rate`: wait `retryAfterMs`, then send more slowly. `quota`: the plan's allowance is used up; tell the operator, do
 *   not retry.
 * - `unsupported`: the node lacks the method. `no-data`: the node does not have (or no longer has) that block's state.
 * - `timeout`, `network`, `server`: retry with a smaller request or at another endpoint. `auth`: the key is refused.
 * - `malformed`: the answer is not credible. `bad-params`: the node rejects the form of our request.
 * - `unsettled`: the chain changed during the read; ask again.
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
	/** Host and port only, since paths may contain keys. */
	readonly endpoint: string
	readonly method?: string
	readonly status?: number
	readonly code?: number
	/** Blocks per request that the node allows, as it states. */
	readonly limit?: number
	readonly retryAfterMs?: number
	/** In decimal. The chain of the endpoint, when it is not the configured one. */
	readonly wrongChainId?: string
	/** The answer arrived completely, but its content cannot be true. The same request would not help. */
	readonly content?: true
	/** The header of the block lacks its time, or its lists contradict it: no other source of the endpoint helps. */
	readonly ofHeader?: true
	/** With `no-data` and `server`: the failure may be temporary; a retry may succeed. */
	readonly forNow?: true
}

/** A node did not give a usable answer. The message names the endpoint by host and says what happened. */
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
 * The state cannot be read, written or locked; the message says what to do. `format`: another version wrote it. `lost`:
 * another instance polls this network now, and nothing of the change was written.
 */
export class StateError extends Error {
	override readonly name = 'StateError'
	readonly reason: 'locked' | 'damaged' | 'format' | 'disk' | 'mismatch' | 'lost'

	constructor(reason: StateError['reason'], message: string, options?: ErrorOptions) {
		super(message, options)
		this.reason = reason
	}
}

/** The command line is wrong; the program exits with 2. */
export class UsageError extends Error {
	override readonly name = 'UsageError'
}

/** An error that the user can fix. It is printed without a stack; the program exits with 1. */
export class PlainError extends Error {
	override readonly name = 'PlainError'
}
