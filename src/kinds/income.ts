/** Priority fees of one block, paid to its author. */

import { incomeFields } from '../model/ownFields.js'
import { type AccountEvent, accountFacts, accountFields, ofAccount, sideOf } from './account.js'
import { anchors } from './anchors.js'
import { fact } from './fact.js'
import { isEnough } from './minimum.js'
import { coinsOf, watchName } from './phrases.js'
import type { KindRecord } from './record.js'

export interface Income extends AccountEvent {
	readonly kind: 'income'
	readonly wei: bigint
	readonly transactions: number
}

export const income: KindRecord<Income> = {
	...ofAccount,
	kind: 'income',
	// Off by default: every block that a watch produces causes one.
	isDefault: false,
	seenIn: 'state',
	books: 'needed',
	hasDirection: true,
	anchors: [anchors.hash],
	idParts: ({ block }) => [block.hash, 'fees'],
	sides: (event) => sideOf(event, 'in'),
	refusal: ({ wei }, watch) => (isEnough(wei, watch) ? null : 'min_value'),
	fields: (event, view) => ({
		...accountFields(event, { wei: event.wei, frameType: 'income' }, view),
		transactions: event.transactions,
	}),
	frameTypes: ['income'],
	own: incomeFields,
	noun: 'priority fees of a block',
	chosen: () => 'priority fees',
	sentence: (data) =>
		`${watchName(data)} earned ${coinsOf(data)} in priority fees as the author of block ${data.blockNumber}`,
	facts: (data) =>
		accountFacts(data, [
			fact('Kind', 'priority fees of a block that it is the author of'),
			fact('Paid by', `${data.transactions}`),
		]),
}
