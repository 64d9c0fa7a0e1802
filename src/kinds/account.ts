/** Shared parts of the kinds whose events concern one address and have no counterparty. */

import type { AlertData } from '../model/alert.js'
import type { Block } from '../model/chain.js'
import type { Address, Hash } from '../model/glossary.js'
import { noFields } from '../model/ownFields.js'
import type { Direction } from '../model/watch.js'
import { type Fact, fact } from './fact.js'
import { amountFacts, coinFields, coinsOf, retractedWithBlock, signed, transactionFacts } from './phrases.js'
import type { Happened, KindFields, KindRecord, View } from './record.js'
import { byHeader } from './standing.js'

export interface AccountEvent extends Happened {
	readonly address: Address
	readonly block: Block
}

export const ofAccount = {
	isDefault: true,
	books: 'unused',
	isOfNow: false,
	hasDirection: false,
	content: () => '',
	announcedContent: () => '',
	missing: byHeader,
	refusal: () => null,
	own: noFields,
	alarm: null,
	warnings: () => [],
	retracted: retractedWithBlock,
	amount: (data) => signed(data, coinsOf(data)),
} satisfies Partial<KindRecord<AccountEvent>>

export function sideOf({ address }: AccountEvent, direction: Direction) {
	return [{ address, direction }]
}

/** `tx`: absent if no transaction caused the event; the block's hash then replaces the transaction's. */
export function accountFields(
	{ address, block }: AccountEvent,
	{ wei, frameType }: { readonly wei: bigint; readonly frameType: AlertData['frameType'] },
	{ network, checksum }: View,
	tx?: { readonly txHash: Hash; readonly txIndex: number; readonly initiator: Address },
): KindFields {
	return {
		txHash: tx?.txHash ?? block.hash,
		txIndex: tx?.txIndex ?? null,
		traceAddress: [],
		frameType,
		category: 'external',
		from: null,
		to: checksum(address),
		...(tx === undefined ? {} : { initiator: checksum(tx.initiator) }),
		...coinFields(wei, network),
	}
}

/** Table rows: the address and the amount, then the rows of the kind. */
export function accountFacts(data: AlertData, own: readonly Fact[], hasAmount = true): readonly Fact[] {
	return [
		fact('Address', data.watch.address, data.links?.to),
		...(hasAmount ? amountFacts(data) : []),
		...own,
		...transactionFacts(data),
	]
}
