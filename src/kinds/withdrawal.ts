/** The consensus layer credits the watch, as listed in the header. */

import type { AlertData } from '../model/alert.js'
import type { BlockRef } from '../model/chain.js'
import { withdrawalFields } from '../model/ownFields.js'
import type { Announcement } from '../model/state.js'
import { type AccountEvent, accountFacts, accountFields, ofAccount, sideOf } from './account.js'
import { fact } from './fact.js'
import { isEnough } from './minimum.js'
import { coinsOf, watchName } from './phrases.js'
import type { KindRecord } from './record.js'
import { type HeaderFacts, replacement } from './standing.js'

export interface Withdrawn extends AccountEvent {
	readonly kind: 'withdrawal'
	readonly wei: bigint
	/** The index of the withdrawal, unique on the chain. */
	readonly index: bigint
	readonly validatorIndex: bigint
}

export const withdrawal: KindRecord<Withdrawn> = {
	...ofAccount,
	kind: 'withdrawal',
	seenIn: 'header',
	hasDirection: true,
	anchors: ['withdrawal'],
	idParts: ({ index }) => ['withdrawal', `${index}`],
	// A replacement block may give the same index another amount.
	content: ({ wei }) => `${wei}`,
	announcedContent: ({ valueWei }) => `${valueWei}`,
	missing(entry, missing) {
		const now = replacement(entry, missing)
		if (now === 'here' || !('is' in now)) return now
		if (pays(now.is, entry)) return { moved: refOf(now.is) }
		return now.is.hasUnreadWithdrawals ? 'here' : 'gone'
	},
	sides: (event) => sideOf(event, 'in'),
	refusal: ({ wei }, watch) => (isEnough(wei, watch) ? null : 'min_value'),
	fields: (event, view) => ({
		...accountFields(event, { wei: event.wei, frameType: 'withdrawal' }, view),
		index: String(event.index),
		validatorIndex: String(event.validatorIndex),
	}),
	frameTypes: ['withdrawal'],
	own: withdrawalFields,
	noun: 'a withdrawal from staking',
	chosen: () => 'withdrawals from staking',
	sentence(data) {
		const builder = builderOf(data)
		const what = builder === null ? 'a withdrawal from staking' : `a payment from builder ${builder}`
		return `${watchName(data)} received ${coinsOf(data)} as ${what}`
	},
	facts: (data) =>
		accountFacts(data, [
			fact('Kind', 'withdrawal from the consensus layer'),
			fact('Withdrawal', `${data.index}, of ${payerOf(data)}`),
		]),
}

/** EIP-7732: in the field of the validator, the index of a builder has this added. */
const BUILDERS_FROM = 2n ** 40n

/** Null: a validator paid. */
function builderOf({ validatorIndex = '0' }: AlertData): bigint | null {
	const number = BigInt(validatorIndex)
	return number < BUILDERS_FROM ? null : number - BUILDERS_FROM
}

function payerOf(data: AlertData): string {
	const builder = builderOf(data)
	return builder === null ? `validator ${data.validatorIndex}` : `builder ${builder}`
}

/** Whether a header lists the announced withdrawal with the same amount. */
function pays({ withdrawals = [] }: HeaderFacts, { alerts: [said] }: Announcement): boolean {
	const { index, valueWei, watch } = said?.data ?? {}
	const address = watch?.address.toLowerCase()
	return withdrawals.some(
		(one) => String(one.index) === index && one.address === address && String(one.wei) === valueWei,
	)
}

function refOf({ number, hash }: BlockRef): BlockRef {
	return { number, hash }
}
