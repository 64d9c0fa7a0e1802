/** The books of the watch do not close: its balance moved and no event explains it. */

import { formatAmount } from '../base/amount.js'
import { printable } from '../base/text/printable.js'
import type { Span } from '../model/chain.js'
import { unexplainedFields } from '../model/ownFields.js'
import { type AccountEvent, accountFacts, accountFields, ofAccount, sideOf } from './account.js'
import { anchors } from './anchors.js'
import { blocksOf, fact } from './fact.js'
import { assetOf, coinsOf, watchName } from './phrases.js'
import type { KindRecord } from './record.js'
import { byHeader } from './standing.js'

export interface Unexplained extends AccountEvent {
	readonly kind: 'unexplained'
	/** The smallest range to which the difference was narrowed down; `block` is its last block. */
	readonly span: Span
	readonly openingWei: bigint
	readonly closingWei: bigint
	readonly explainedWei: bigint
	readonly endpoints: readonly string[]
	readonly reason: string
}

export const unexplained: KindRecord<Unexplained> = {
	...ofAccount,
	kind: 'unexplained',
	seenIn: 'state',
	books: 'needed',
	anchors: [anchors.blocks],
	idParts: ({ span }) => [`${span.from}-${span.to}`, 'balance'],
	missing(entry, missing) {
		const standing = byHeader(entry, missing)
		if (standing !== 'here') return standing
		const answer = missing.answers.reading.get(entry.id)
		if (answer === undefined) return { ask: 'reading' }
		return answer === 'yes' ? 'gone' : 'here'
	},
	sides: (event) => sideOf(event, differenceOf(event) < 0n ? 'out' : 'in'),
	fields(event, view) {
		const wei = differenceOf(event)
		return {
			...accountFields(event, { wei: wei < 0n ? -wei : wei, frameType: 'balance' }, view),
			fromBlock: Number(event.span.from),
			toBlock: Number(event.span.to),
			openingWei: String(event.openingWei),
			closingWei: String(event.closingWei),
			explainedWei: String(event.explainedWei),
			differenceWei: String(wei),
			difference: formatAmount(wei, view.network.decimals),
			endpoints: event.endpoints,
			reason: event.reason,
		}
	},
	frameTypes: ['balance'],
	own: unexplainedFields,
	noun: 'a change of the balance that no event explains',
	chosen: () => 'what is unexplained',
	alarm: { rank: 1, marks: ['UNEXPLAINED'], markOf: () => 'UNEXPLAINED' },
	sentence: (data) =>
		`UNEXPLAINED: the balance of ${watchName(data)} ${data.direction === 'in' ? 'rose' : 'fell'} ` +
		`by ${coinsOf(data)}, and no reported movement explains it`,
	facts(data) {
		const wei = (name: string, amount: string | undefined) =>
			amount === undefined ? [] : [fact(name, `${amount} wei`)]
		return accountFacts(data, [
			fact('Kind', 'unexplained change of a balance'),
			fact('Difference', `${data.difference} ${assetOf(data)}`),
			fact('Blocks', blocksOf(data)),
			...wei('Balance before', data.openingWei),
			...wei('Explained', data.explainedWei),
			...wei('Balance after', data.closingWei),
			...wei('Not explained', data.differenceWei),
			fact('Asked', (data.endpoints ?? []).map((host) => printable(host)).join(', ')),
			fact('Reason', printable(data.reason ?? '', 500)),
		])
	},
	// An alert that is explained later needs no warning.
	warnings: (_, isRetracted) => (isRetracted ? [] : [warning]),
	retracted:
		'An alert that you were sent is retracted: a later look explains the balance, or its block is no longer in the ' +
		'chain.',
}

function differenceOf({ openingWei, closingWei, explainedWei }: Unexplained): bigint {
	return closingWei - openingWei - explainedWei
}

const warning =
	'Coins moved, and nothing that you were sent says why: a node leaves something out, or the chain moved them in a ' +
	'way that leaves no trace. Look at this address by other means before you trust its balance.'
