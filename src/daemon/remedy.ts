/** What a person does about a poll that fails, in the same breath as why: page, status and mails show it at night. */

import { RpcError, type RpcErrorKind } from '../errors.js'

const another = 'another endpoint in `rpc` takes over'
export const reach = `see whether the node runs and can be reached; ${another}`
export const anewOrBehind =
	'the endpoint lags, or its chain began anew and needs a state of its own. ' +
	'To do: put another endpoint first in `rpc`, or give the new chain an empty folder as `state`, and restart'
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

/** `words` with what to do about them, where that is known; a state's errors say it themselves. */
export function withRemedy(error: unknown, words: string): string {
	if (!(error instanceof RpcError)) return words
	const isElsewhere = error.facts.wrongChainId !== undefined
	const remedy = isElsewhere ? 'correct `rpc` or `chain_id`, and restart' : remedies[error.kind]
	return remedy === null ? words : `${words}. To do: ${remedy}`
}

/**
 * What makes one failure another: the words of a resting endpoint count its seconds, and would be new at every tick.
 */
export function newsOf(error: unknown, words: string): string {
	if (!(error instanceof RpcError)) return words
	const { retryAfterMs: _, ...facts } = error.facts
	return JSON.stringify(facts)
}
