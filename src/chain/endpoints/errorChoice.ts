/** Chooses the error to report when every endpoint has failed. Pure. */

import { RpcError, type RpcErrorKind } from '../../errors.js'

/** First what may pass by itself, then what an operator must fix. A timeout is first: the caller can ask for less. */
const order: readonly RpcErrorKind[] = [
	'timeout',
	'rate',
	'server',
	'network',
	'unsettled',
	'malformed',
	'too-large',
	'no-data',
	'bad-params',
	'unsupported',
	'quota',
	'auth',
]

/** The error to throw: the facts of the most specific one, and all messages. `errors` is not empty. */
export function mostSpecific(errors: readonly RpcError[]): RpcError {
	const [first, ...others] = errors.toSorted((a, b) => rank(a) - rank(b))
	if (first === undefined) throw new RangeError('no error to choose from')
	if (others.length === 0) return first
	const all = [first, ...others].map(({ message }) => message).join('; ')
	return new RpcError(`No endpoint could answer: ${all}`, first.facts, { cause: first })
}

function rank({ facts }: RpcError): number {
	return facts.wrongChainId === undefined ? order.indexOf(facts.kind) : order.length
}
