/** Shared parts of the kinds whose events are frames. */

import type { AlertData, FrameEvent } from '../model/alert.js'
import { anchors } from './anchors.js'
import { fact } from './fact.js'
import { amountFacts, coinFields, coinsOf, partyFacts, signed } from './phrases.js'
import type { KindFields, KindRecord, Side, View } from './record.js'
import { byTransaction } from './standing.js'

export type OfFrame = Omit<FrameEvent, 'kind'>

export const ofFrames = {
	isDefault: true,
	seenIn: 'frames',
	books: 'unused',
	isOfNow: false,
	hasDirection: true,
	anchors: [anchors.hash],
	idParts: ({ txHash, trace }: OfFrame) => [txHash, trace],
	content: ({ from, to, valueWei }) => contentOf([from, to, valueWei]),
	announcedContent: ({ from, to, valueWei }) => contentOf([from, to, valueWei]),
	missing: (entry, missing) => byTransaction(entry, missing, entry.proved === true),
	sides: partiesOf,
	fields: frameFields,
	alarm: null,
	warnings: () => [],
	retracted:
		'An alert that you were sent is retracted: the chain was reorganised and its event is no longer in the chain, or ' +
		'balances prove that its block moved something else. Treat it as if it had not happened. If it is sent again, ' +
		'the later message counts.',
	amount: (data) => signed(data, coinsOf(data)),
} satisfies Partial<KindRecord<FrameEvent>>

/** Sender before recipient. */
export function partiesOf({ from, to }: Pick<FrameEvent, 'from' | 'to'>): readonly Side[] {
	if (from === null) return [{ address: to, direction: 'in' }]
	if (from === to) return [{ address: to, direction: 'self' }]
	return [
		{ address: from, direction: 'out' },
		{ address: to, direction: 'in' },
	]
}

export function contentOf(parts: readonly (string | bigint | null | undefined)[]): string {
	return parts.join(' ').toLowerCase()
}

export function frameFields(event: OfFrame, { network, checksum }: View): KindFields {
	const { initiator } = event
	return {
		txHash: event.txHash,
		txIndex: event.txIndex,
		traceAddress: event.traceAddress,
		frameType: event.frameType,
		category: event.traceAddress.length === 0 ? 'external' : 'internal',
		from: event.from === null ? null : checksum(event.from),
		to: checksum(event.to),
		...(initiator === null ? {} : { initiator: checksum(initiator) }),
		...coinFields(event.valueWei, network),
	}
}

/** `kindInWords`: the value of the row `Kind`. `recipient`: the name of the recipient's row. */
export function frameFacts(data: AlertData, recipient: string, kindInWords: string) {
	return [
		...partyFacts(data, recipient),
		...amountFacts(data),
		fact('Kind', kindInWords),
		fact('Depth', depthInWords(data)),
		...(data.initiator === undefined || data.initiator === data.from ? [] : [fact('Started by', data.initiator)]),
		...(data.creatorConfirmed === true ? [fact('Creator', 'confirmed by the node')] : []),
		fact('Transaction', data.txHash, data.links?.tx),
	]
}

export function depthInWords({ frameType, traceAddress }: AlertData): string {
	if (frameType === 'reward') return 'outside of any transaction'
	if (traceAddress.length === 0) return '0: the transaction itself'
	return `${traceAddress.length}: inside the transaction, at ${traceAddress.join('.')}`
}
