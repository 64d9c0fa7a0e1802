/** The balance crosses a threshold of the watch. */

import { formatAmount } from '../base/amount.js'
import { balanceFields } from '../model/ownFields.js'
import type { Thresholds, Watch } from '../model/watch.js'
import { type AccountEvent, accountFacts, accountFields, ofAccount, sideOf } from './account.js'
import { anchors } from './anchors.js'
import { fact } from './fact.js'
import { assetOf, coinsOf, watchName } from './phrases.js'
import type { KindRecord } from './record.js'

/** A change of balance that may cross a threshold; the thresholds are those of each watch. */
export interface Crossing extends AccountEvent {
	readonly kind: 'balance'
	readonly crossed: 'below' | 'above'
	/** Null: the balance was not known before. */
	readonly previousWei: bigint | null
	/** The thresholds that `previousWei` was compared with, as `limitsOf` writes them. */
	readonly comparedLimits: string
	readonly balanceWei: bigint
}

export const balance: KindRecord<Crossing> = {
	...ofAccount,
	kind: 'balance',
	seenIn: 'state',
	isOfNow: true,
	anchors: [anchors.block],
	idParts: ({ block, crossed }) => [`${block.number}`, crossed],
	content: ({ balanceWei }) => `${balanceWei}`,
	announcedContent: ({ balanceWei }) => `${balanceWei}`,
	sides: (event) => sideOf(event, event.crossed === 'below' ? 'out' : 'in'),
	refusal: (event, watch) => (isCrossed(watch, event) ? null : 'threshold'),
	fields(event, view) {
		const { crossed, balanceWei } = event
		const coins = (wei: bigint) => formatAmount(wei, view.network.decimals)
		const threshold = coins(thresholdOf(view.watch.thresholds, crossed) ?? 0n)
		return {
			...accountFields(event, { wei: balanceWei, frameType: 'balance' }, view),
			...{ balanceWei: String(balanceWei), balance: coins(balanceWei), threshold, crossed },
		}
	},
	frameTypes: ['balance'],
	own: balanceFields,
	noun: 'a balance that crossed a threshold',
	chosen({ thresholds }, { network }) {
		if (thresholds === undefined || network === undefined) return null
		const { belowWei, aboveWei } = thresholds
		const words = [
			...(belowWei === null ? [] : [`below ${formatAmount(belowWei, network.decimals)}`]),
			...(aboveWei === null ? [] : [`above ${formatAmount(aboveWei, network.decimals)}`]),
		]
		return `a balance ${words.join(' or ')} ${network.symbol}`
	},
	alarm: { rank: 3, marks: ['LOW', 'HIGH'], markOf: ({ crossed }) => (crossed === 'below' ? 'LOW' : 'HIGH') },
	sentence(data) {
		const now = `the balance of ${watchName(data)} is ${coinsOf(data)}`
		// Not "fell" or "rose": a new watch may be beyond the threshold from the start.
		return `${data.crossed === 'below' ? 'LOW' : 'HIGH'}: ${now}, ${data.crossed} ${data.threshold} ${assetOf(data)}`
	},
	facts: (data) =>
		accountFacts(data, [
			fact('Kind', `balance ${data.crossed} a threshold`),
			fact('Threshold', `${data.threshold} ${assetOf(data)}`),
			fact('Balance', `${data.balance} ${assetOf(data)}`),
		]),
	amount: coinsOf,
}

/** The thresholds of an address's watches, as text: equal for equal ones; null: none. */
export function limitsOf(watches: readonly Watch[] | undefined): string | null {
	const all = watches?.flatMap(({ thresholds }) => (thresholds ? [textOf(thresholds)] : [])) ?? []
	return all.length === 0 ? null : [...new Set(all)].sort().join(' ')
}

function textOf({ belowWei, aboveWei }: Thresholds): string {
	return `${belowWei ?? ''},${aboveWei ?? ''}`
}

function isCrossed({ thresholds }: Watch, { crossed, previousWei, comparedLimits, balanceWei }: Crossing): boolean {
	const limitWei = thresholdOf(thresholds, crossed)
	if (limitWei === null || !isBeyond(balanceWei, crossed, limitWei)) return false
	if (previousWei === null || !isIn(comparedLimits, crossed, limitWei)) return true
	return !isBeyond(previousWei, crossed, limitWei)
}

function isIn(limits: string, crossed: Crossing['crossed'], limitWei: bigint): boolean {
	const place = crossed === 'below' ? 0 : 1
	return limits.split(' ').some((pair) => pair.split(',')[place] === `${limitWei}`)
}

/** Whether a balance is beyond a threshold, equality excluded. */
function isBeyond(wei: bigint, crossed: Crossing['crossed'], limitWei: bigint): boolean {
	return crossed === 'below' ? wei < limitWei : wei > limitWei
}

/** The threshold of that direction; null if the watch has none. */
function thresholdOf(thresholds: Thresholds | undefined, crossed: Crossing['crossed']): bigint | null {
	return (crossed === 'below' ? thresholds?.belowWei : thresholds?.aboveWei) ?? null
}
