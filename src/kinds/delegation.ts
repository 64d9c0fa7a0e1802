/** An EIP-7702 authorisation sets, changes or clears the code of the watch. */

import type { AlertData } from '../model/alert.js'
import type { Authorised } from '../model/books.js'
import type { Address } from '../model/glossary.js'
import { delegationFields } from '../model/ownFields.js'
import { type AccountEvent, accountFacts, accountFields, ofAccount, sideOf } from './account.js'
import { anchors } from './anchors.js'
import { fact } from './fact.js'
import { shortAddress, watchName } from './phrases.js'
import type { KindRecord } from './record.js'
import { byTransactionOrHeader } from './standing.js'

export interface Delegation extends AccountEvent {
	readonly kind: 'delegation'
	/** Null if only the state shows the change. */
	readonly authorised: Authorised | null
	/** The address whose code the watch runs from now on; null: none. */
	readonly delegate: Address | null
	/** Absent: the authorisation was signed, and the code was not checked. */
	readonly previous?: Address | null
}

export const delegation: KindRecord<Delegation> = {
	...ofAccount,
	kind: 'delegation',
	seenIn: 'transactions',
	books: 'used',
	anchors: [anchors.hash, anchors.block],
	idParts: ({ authorised, block }) =>
		authorised === null ? [`${block.number}`, 'code'] : [authorised.txHash, `auth_${authorised.at}`],
	missing: byTransactionOrHeader,
	sides: (event) => sideOf(event, 'self'),
	fields(event, view) {
		const { authorised, delegate, previous } = event
		return {
			...accountFields(event, { wei: 0n, frameType: 'delegation' }, view, authorised ?? undefined),
			delegate: delegate === null ? null : view.checksum(delegate),
			previous: previous == null ? null : view.checksum(previous),
			...(previous === undefined && { confirmed: false }),
			authorisation:
				authorised === null ? null : { chainId: Number(authorised.chainId), nonce: Number(authorised.nonce) },
		}
	},
	frameTypes: ['delegation'],
	own: delegationFields,
	noun: 'a delegation (EIP-7702)',
	chosen: () => 'delegations',
	alarm: { rank: 2, marks: ['DELEGATION'], markOf: () => 'DELEGATION' },
	sentence: (data) => `DELEGATION: ${watchName(data)} ${happening(data)}`,
	facts: (data) =>
		accountFacts(
			data,
			[
				fact('Kind', 'delegation of a plain address (EIP-7702)'),
				fact('Delegated to', data.delegate ?? 'no account'),
				fact('Before', data.confirmed === false ? 'not known' : (data.previous ?? 'none that is known')),
				fact('Authorised', authorisationInWords(data)),
				...(data.initiator === undefined ? [] : [fact('Started by', data.initiator)]),
			],
			false,
		),
	amount: () => '—',
}

/** The delegate's code can spend from the address. */
function happening({ delegate, previous, confirmed }: AlertData): string {
	if (confirmed === false) {
		const what = delegate == null ? 'an end of its delegation' : `a delegation to ${shortAddress(delegate)}`
		return `signed ${what}, which is in the chain; whether it took effect was not asked`
	}
	const before = previous == null ? '' : shortAddress(previous)
	if (delegate == null) return `is no longer delegated${before === '' ? '' : ` (to ${before} before)`}`
	const instead = before === '' ? '' : `; before: ${before}`
	return `is delegated to ${shortAddress(delegate)}, whose code can spend from it${instead}`
}

function authorisationInWords({ authorisation }: AlertData): string {
	if (authorisation == null) return 'unknown: only the state of the address shows it'
	const { chainId, nonce } = authorisation
	return `for ${chainId === 0 ? 'every chain' : `chain ${chainId}`}, with nonce ${nonce}`
}
