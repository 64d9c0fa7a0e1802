/** A frame moved coins. */

import { formatAmount } from '../base/amount.js'
import type { AlertData, FrameEvent } from '../model/alert.js'
import { noFields } from '../model/ownFields.js'
import { frameFacts, ofFrames } from './frames.js'
import { isEnough } from './minimum.js'
import { coinsOf, counterpartyName, directionInWords, shortAddress, watchName } from './phrases.js'
import type { KindRecord } from './record.js'
import { byHeader } from './standing.js'

export const transfer: KindRecord<FrameEvent> = {
	...ofFrames,
	kind: 'transfer',
	// A reward belongs to its block, and not every source gives it.
	missing: (entry, missing) =>
		entry.txHash === entry.block.hash ? byHeader(entry, missing) : ofFrames.missing(entry, missing),
	refusal({ frameType, valueWei }, watch) {
		// The deployment's alert already contains the endowment.
		const isEndowment = frameType === 'create' || frameType === 'create2'
		if (isEndowment && watch.kinds.includes('deployment')) return 'endowment'
		return isEnough(valueWei, watch) ? null : 'min_value'
	},
	frameTypes: ['call', 'create', 'create2', 'suicide', 'reward'],
	own: noFields,
	noun: 'a transfer',
	chosen(watch, { network }) {
		const least =
			watch.minValueWei <= 1n || network === undefined
				? ''
				: ` of at least ${formatAmount(watch.minValueWei, network.decimals)} ${network.symbol}`
		return `transfers${directionInWords(watch)}${least}`
	},
	sentence(data) {
		const [subject, amount] = [watchName(data), coinsOf(data)]
		if (data.direction === 'self') return `${subject} sent ${amount} to itself`
		if (data.frameType === 'reward') return `${subject} received ${amount} as a block reward`
		const other = counterpartyName(data)
		const how = data.frameType === 'suicide' ? ' (a contract destroyed itself)' : ''
		return data.direction === 'in'
			? `${subject} received ${amount} from ${other}${how}`
			: `${subject} sent ${amount} to ${other}${how}${startedBy(data)}`
	},
	facts: (data) => frameFacts(data, 'To', `transfer (${origins[data.frameType] ?? data.frameType}), ${data.direction}`),
}

const origins: Readonly<Partial<Record<AlertData['frameType'], string>>> = {
	call: 'a call',
	create: 'the endowment of a new contract',
	create2: 'the endowment of a new contract',
	suicide: 'the balance of a contract that destroyed itself',
	reward: 'a block reward',
}

/** The sender of the transaction, if not the watch: usual for a contract, a used key or delegation otherwise. */
function startedBy({ initiator, from, to }: AlertData): string {
	if (initiator === undefined || initiator === from) return ''
	const who = initiator === to ? 'the recipient' : shortAddress(initiator)
	return `, in a transaction that ${who} started`
}
