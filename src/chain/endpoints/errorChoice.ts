/** What to say when every endpoint has failed, each in its own way. Pure. */

import { RpcError, type RpcErrorKind } from '../../errors.js'

/**
 * What may pass by itself comes before what a person must mend: as long as one endpoint may come back, trying again is
 * right. A timeout is first because the caller can do something about it: ask for less.
 */
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

/** The error to throw; with several it keeps the facts of the most telling and says them all. `errors` is not empty. */
export function mostTelling(errors: readonly RpcError[]): RpcError {
	const [first, ...others] = errors.toSorted((a, b) => rank(a) - rank(b))
	if (first === undefined) throw new RangeError('no error to choose from')
	if (others.length === 0) return first
	const all = [first, ...others].map(({ message }) => message).join('; ')
	return new RpcError(`No endpoint could answer: ${all}`, first.facts, { cause: first })
}

function rank({ facts }: RpcError): number {
	return facts.wrongChainId === undefined ? order.indexOf(facts.kind) : order.length
}
