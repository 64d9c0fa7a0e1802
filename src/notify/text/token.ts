/** A token transfer in words: what moved, which way, and who started it. */

import { printable } from '../../base/printable.js'
import type { AlertData } from '../../model/alert.js'
import type { TokenData } from '../../model/token.js'

const nobody = '0x0000000000000000000000000000000000000000'

/** `100 USDC`, `PUNK #42`, `5 of ITEM #7`, `1000000 units of the unknown token "USDC" (0x1234…abcd)`. */
export function tokenAmount({ standard, amount, amountRaw, tokenId, ...token }: TokenData): string {
	const name = tokenName(token)
	if (tokenId !== null) {
		const of = standard === 'erc721' ? '' : `${amount ?? amountRaw} of `
		return `${of}${name} #${tokenId.length > 20 ? `${tokenId.slice(0, 8)}…${tokenId.slice(-8)}` : tokenId}`
	}
	if (amount === null) return `${amountRaw} units of ${name}`
	return token.known ? `${amount} ${name}` : `${amount} of ${name}`
}

/** Only the operator's word stands alone: anybody can call a token as he likes. */
function tokenName({ known, symbol, address }: Pick<TokenData, 'known' | 'symbol' | 'address'>): string {
	const word = printable(symbol ?? '', 20)
	if (known) return word
	const where = `${address.slice(0, 6)}…${address.slice(-4)}`
	return word === '' ? `the unknown token ${where}` : `the unknown token "${word}" (${where})`
}

/** `subject` and `other` as the sentence names them; `other` is the counterparty. */
export function tokenHappening(data: AlertData, token: TokenData, subject: string, other: string): string {
	return `${moved(data, token, subject, other)}${floodOf(data)}`
}

/** Nobody reads thousands of messages that a stranger made for the price of one transaction. */
function floodOf({ more }: AlertData): string {
	return more === undefined
		? ''
		: `, and ${more} more transfers of unknown tokens or of nothing in this block, which are not told`
}

function moved(data: AlertData, token: TokenData, subject: string, other: string): string {
	const amount = tokenAmount(token)
	const how = isByAnother(data) ? `, in a transaction of ${shortOf(data.initiator ?? '')}${nothingMoved(token)}` : ''
	if (data.direction === 'self') return `${subject} sent ${amount} to itself${how}`
	if (data.direction === 'in') {
		return data.from === nobody
			? `${subject} received ${amount}, newly made`
			: `${subject} received ${amount} from ${other}`
	}
	return data.to === nobody
		? `${subject} sent ${amount} to nobody: burnt or unwrapped${how}`
		: `${subject} sent ${amount} to ${other}${how}`
}

/** It left the watch in a transaction that the watch did not send. */
function isByAnother({ direction, initiator, watch }: AlertData): boolean {
	return direction !== 'in' && initiator !== undefined && initiator !== watch.address
}

/** Tokens let anybody write a transfer of nothing from anybody, to put an address into his history. */
function nothingMoved({ amountRaw, standard }: TokenData): string {
	return amountRaw === '0' && standard !== 'erc721' ? ': nothing moved, and anybody can do that' : ''
}

/** Name and value of what is said beside the parties. */
export function tokenLines(data: AlertData, token: TokenData): readonly (readonly [name: string, value: string])[] {
	const { symbol, known, standard, amount, amountRaw, tokenId, decimals, address } = token
	const word = printable(symbol ?? '', 20)
	const standing = known ? 'named in the settings' : 'UNKNOWN: its contract calls itself so, and nobody vouches for it'
	return [
		...(amount === null
			? []
			: ([['Amount', known ? `${amount} ${word}`.trim() : `${amount} of an unknown token`]] as const)),
		['Raw amount', decimals === null ? amountRaw : `${amountRaw} (${decimals} decimals)`],
		...(tokenId === null ? [] : ([['Token id', tokenId]] as const)),
		['Token', `${word === '' ? '' : `${word}, `}${address} (${standards[standard]}; ${standing})`],
		...(token.imitates === undefined ? [] : ([['Called like', imitated(token.imitates)]] as const)),
		...(data.more === undefined
			? []
			: ([['Not told', `${data.more} more of unknown tokens or of nothing in this block`]] as const)),
		...(data.operator === undefined ? [] : ([['Operator', data.operator]] as const)),
		...(data.initiator === undefined ? [] : ([['Started by', startedBy(data)]] as const)),
	]
}

/** Of the operator's tokens, or the coin, what an unknown one is called like. */
function imitated({ symbol, address }: NonNullable<TokenData['imitates']>): string {
	return `${printable(symbol, 20)}, ${address ?? 'the coin of this network'}`
}

function startedBy(data: AlertData): string {
	if (data.initiator === data.watch.address) return `${data.initiator}, the watch itself`
	if (!isByAnother(data)) return `${data.initiator}`
	const how =
		data.token?.amountRaw === '0'
			? 'nothing moved, which needs no approval and anybody can do'
			: data.token?.known === true
				? 'it used an approval, or called a contract that is the watch'
				: 'it used an approval, or the token says what it likes'
	return `${data.initiator}, not the watch itself: ${how}`
}

const standards = { erc20: 'ERC-20', erc721: 'ERC-721', erc1155: 'ERC-1155' } as const

function shortOf(address: string): string {
	return `${address.slice(0, 6)}…${address.slice(-4)}`
}
