/** A kind of a later version: two versions may share a database, and each sends what the other posted. */

import type { Kind } from '../model/kind.js'
import { ofAccount } from './account.js'
import { fact } from './fact.js'
import { coinsOf, partyFacts, signed, transactionFacts, watchName } from './phrases.js'
import type { Happened, KindRecord } from './record.js'

export const unknown: KindRecord<Happened> = {
	...(ofAccount as unknown as KindRecord<Happened>),
	kind: 'unknown' as Kind,
	isDefault: false,
	seenIn: 'state',
	anchors: [],
	idParts: ({ kind }) => noEvent(kind),
	sides: () => [],
	fields: ({ kind }) => noEvent(kind),
	// The version that announced it decides whether it still stands.
	missing: () => 'here',
	frameTypes: [],
	noun: 'an alert of a kind that this version does not know',
	chosen: () => null,
	sentence: (data) => `${watchName(data)}: ${data.kind}${data.valueWei === undefined ? '' : `, ${coinsOf(data)}`}`,
	facts: (data) => [
		...partyFacts(data, 'To'),
		fact('Kind', `${data.kind}, ${data.direction}`),
		...transactionFacts(data),
	],
	warnings: () => [
		'A later version of tracewatch made this alert; this one does not know its kind, and shows a part of it.',
	],
	amount: (data) => (data.valueWei === undefined ? '—' : signed(data, coinsOf(data))),
}

function noEvent(kind: Kind): never {
	throw new Error(`this version makes no events of kind ${kind}`)
}
