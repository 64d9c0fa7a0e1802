/** Phrases that the alerts of several kinds share. */

import { formatAmount } from '../base/amount.js'
import { printable } from '../base/text/printable.js'
import type { AlertData } from '../model/alert.js'
import type { Network, Watch } from '../model/watch.js'
import { type Fact, fact } from './fact.js'

/** The label of the watch; its short address if it has none. */
export function watchName({ watch }: Pick<AlertData, 'watch'>): string {
	const label = printable(watch.label ?? '')
	return label === '' ? shortAddress(watch.address) : label
}

/** The label of the counterparty; its short address if it has none. */
export function counterpartyName(data: AlertData): string {
	const label = printable(data.counterpartyLabel ?? '')
	if (label !== '') return label
	const address = data.direction === 'in' ? data.from : (data.contractAddress ?? data.to)
	return address === null ? 'no account' : shortAddress(address)
}

/** For example `0x1234…abcd`. */
export function shortAddress(address: string): string {
	return `${address.slice(0, 6)}…${address.slice(-4)}`
}

/** For example `1.5 ETH`. */
export function coinsOf(data: AlertData): string {
	return `${data.value} ${assetOf(data)}`
}

export function assetOf({ asset }: AlertData): string {
	return printable(asset ?? '', 20)
}

/** For example `+1.5 ETH`, with the sign as the watch sees it. */
export function signed({ direction }: AlertData, amount: string): string {
	return direction === 'self' ? amount : `${direction === 'in' ? '+' : '−'}${amount}`
}

export function amountFacts(data: AlertData, name = 'Amount'): readonly Fact[] {
	return [fact(name, coinsOf(data)), fact('In wei', data.valueWei ?? '')]
}

/** Rows for sender and recipient, and for the address that the counterparty imitates. */
export function partyFacts(data: AlertData, recipient: string): readonly Fact[] {
	const { links, lookalike } = data
	const sides = [
		fact('From', data.from ?? 'new coins, from no account', data.from === null ? undefined : links?.from),
		fact(recipient, data.to, links?.to),
	]
	if (lookalike === undefined) return sides
	const { of, prefix, suffix } = lookalike
	const label = printable(lookalike.label ?? '')
	const who = label === '' ? of : `${label}, ${of}`
	return [...sides, fact('Imitates', `${who}: ${prefix} digits agree at the front, ${suffix} at the end`)]
}

/** Empty if no transaction caused the event: the hash is then that of the block. */
export function transactionFacts({ txHash, blockHash, links }: AlertData): readonly Fact[] {
	return txHash === blockHash ? [] : [fact('Transaction', txHash, links?.tx)]
}

/** For an event that leaves the chain together with its block. */
export const retractedWithBlock =
	'An alert that you were sent is retracted: its event is no longer in the chain, because the chain was reorganised. ' +
	'Treat it as if it had not happened. Should it come back, you will be sent it again.'

/** ` in and out`, ` in` or ` out`. */
export function directionInWords({ direction }: Pick<Watch, 'direction'>): string {
	return direction === 'both' ? ' in and out' : ` ${direction}`
}

export function coinFields(wei: bigint, { decimals, symbol }: Pick<Network, 'decimals' | 'symbol'>) {
	return { valueWei: wei.toString(), value: formatAmount(wei, decimals), asset: symbol }
}
