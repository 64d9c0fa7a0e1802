/** Tells the operator what to do about a failing poll. Page, status and mails show it right after the reason. */

import { RpcError, type RpcErrorKind } from '../../errors.js'

const another = 'another endpoint in `rpc` takes over'
export const reach = `see whether the node runs and can be reached; ${another}`
/** docs/operations.md, "At 3 a.m.", says the same. */
const behind =
	'the head is behind the checkpoint: no alerts until it catches up. The endpoint lags, or the chain was restarted'

/** How long polls may fail, as of a node that starts together with the machine, and the head may be behind. */
export const LASTING_MS = 60_000
/** Several nodes behind one endpoint may differ by this much for a moment. */
const FEW_BLOCKS = 16n

interface Behind {
	readonly head: bigint
	readonly checkpoint: bigint
}

export function isFarBehind({ head, checkpoint }: Behind): boolean {
	return checkpoint - head > FEW_BLOCKS
}

export function behindInWords({ head, checkpoint }: Behind): string {
	return (
		`${behind} (its head is block ${head}, and block ${checkpoint} was scanned). To do: put another endpoint first ` +
		'in `rpc`; for a restarted chain, give the network another name, in its watchlists too; then restart'
	)
}

const plan = `a larger plan; ${another}`
const doctor = `\`tracewatch doctor\` says what it lacks; ${another}`

const remedies: Readonly<Record<RpcErrorKind, string | null>> = {
	network: reach,
	timeout: reach,
	server: reach,
	rate: plan,
	quota: plan,
	auth: `put the right URL into \`rpc\`, or its secret, and restart; ${another}`,
	unsupported: doctor,
	'no-data': doctor,
	malformed: doctor,
	'bad-params': doctor,
	'too-large': null,
	unsettled: null,
}

/** `words` followed by the remedy, if one is known. Errors of the state contain their own. */
export function withRemedy(error: unknown, words: string): string {
	if (!(error instanceof RpcError)) return words
	const isElsewhere = error.facts.wrongChainId !== undefined
	const remedy = isElsewhere ? 'correct `rpc` or `chain_id`, and restart' : remedies[error.kind]
	return remedy === null ? words : `${words}. To do: ${remedy}`
}

/**
 * Identifies a failure, to log only changes. The message of a paused endpoint counts seconds and would differ at every
 * tick.
 */
export function newsOf(error: unknown, words: string): string {
	if (!(error instanceof RpcError)) return words
	const { retryAfterMs: _, ...facts } = error.facts
	return JSON.stringify(facts)
}
