/** Words for a token transfer: what moved, in which direction, and who started it. */

import { printable } from '../base/text/printable.js'
import type { AlertData } from '../model/alert.js'
import type { TokenData } from '../model/ownFields.js'
import { counterpartyName, shortAddress, watchName } from './phrases.js'

const zeroAddress = '0x0000000000000000000000000000000000000000'

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

/** Only a symbol that the operator configured stands alone: any token can claim any symbol. */
function tokenName({ known, symbol, address }: Pick<TokenData, 'known' | 'symbol' | 'address'>): string {
	const word = printable(symbol ?? '', 20)
	if (known) return word
	const where = shortAddress(address)
	return word === '' ? `the unknown token ${where}` : `the unknown token "${word}" (${where})`
}

export function tokenSentence(data: AlertData, token: TokenData): string {
	return `${moved(data, token, watchName(data), counterpartyName(data))}${floodOf(data)}`
}

/** A spammer can make thousands of transfers in one transaction: one alert stands for the rest. */
function floodOf({ more }: AlertData): string {
	return more === undefined
		? ''
		: `, and ${more} more transfers of unknown tokens or of nothing in this block, without alerts of their own`
}

function moved(data: AlertData, token: TokenData, subject: string, other: string): string {
	const amount = tokenAmount(token)
	const how = isByAnother(data)
		? `, in a transaction of ${shortAddress(data.initiator ?? '')}${nothingMoved(token)}`
		: ''
	if (data.direction === 'self') return `${subject} sent ${amount} to itself${how}`
	if (data.direction === 'in') {
		return data.from === zeroAddress
			? `${subject} received ${amount}, newly made`
			: `${subject} received ${amount} from ${other}`
	}
	return data.to === zeroAddress
		? `${subject} sent ${amount} to the zero address: burnt or unwrapped${how}`
		: `${subject} sent ${amount} to ${other}${how}`
}

/** Whether tokens left the watch in a transaction that the watch did not send. */
function isByAnother({ direction, initiator, watch }: AlertData): boolean {
	return direction !== 'in' && initiator !== undefined && initiator !== watch.address
}

/** Token contracts let anyone report a transfer of zero from any address, to plant an address in its history. */
function nothingMoved({ amountRaw, standard }: TokenData): string {
	return amountRaw === '0' && standard !== 'erc721' ? ': nothing moved, and any account can do that' : ''
}

/** Name and value of the lines shown besides the parties. */
export function tokenLines(data: AlertData, token: TokenData): readonly (readonly [name: string, value: string])[] {
	const { symbol, known, standard, amount, amountRaw, tokenId, decimals, address } = token
	const word = printable(symbol ?? '', 20)
	const standing = known
		? 'named in the settings'
		: 'UNKNOWN: the contract chose this name itself, and it is not verified'
	return [
		...(amount === null
			? []
			: ([['Amount', known ? `${amount} ${word}`.trim() : `${amount} of an unknown token`]] as const)),
		['Raw amount', amount === null ? amountRaw : `${amountRaw} (${decimals} decimals)`],
		...(tokenId === null ? [] : ([['Token id', tokenId]] as const)),
		['Token', `${word === '' ? '' : `${word}, `}${address} (${standards[standard]}; ${standing})`],
		...(token.imitates === undefined ? [] : ([['Called like', imitated(token.imitates)]] as const)),
		...(data.more === undefined
			? []
			: ([['Not listed', `${data.more} more of unknown tokens or of nothing in this block${namesOf(data)}`]] as const)),
		...(data.operator === undefined ? [] : ([['Operator', data.operator]] as const)),
		...(data.initiator === undefined ? [] : ([['Started by', startedBy(data)]] as const)),
	]
}

function namesOf({ moreContracts = [] }: AlertData): string {
	return moreContracts.length === 0 ? '' : `, from the contracts ${moreContracts.join(', ')}`
}

function imitated({ symbol, address }: NonNullable<TokenData['imitates']>): string {
	return `${printable(symbol, 20)}, ${address ?? 'the coin of this network'}`
}

function startedBy(data: AlertData): string {
	if (data.initiator === data.watch.address) return `${data.initiator}, the watch itself`
	if (!isByAnother(data)) return `${data.initiator}`
	const how =
		data.token?.amountRaw === '0'
			? 'nothing moved, which needs no approval and any account can do'
			: data.token?.known === true
				? 'it used an approval, or called a contract that is the watch'
				: 'it used an approval, or the token says what it likes'
	return `${data.initiator}, not the watch itself: ${how}`
}

const standards = { erc20: 'ERC-20', erc721: 'ERC-721', erc1155: 'ERC-1155' } as const

export function tokenWarnings({ known, imitates, address, standard }: TokenData): readonly string[] {
	if (known) return []
	if (imitates === undefined) return [standard === 'erc20' ? unknownNote : unknownItemNote]
	const name = printable(imitates.symbol, 20)
	if (imitates.address === null)
		return [`This is not ${name}, the coin of this network, but a token that calls itself so. ${unknownNote}`]
	return [
		`This is not the ${name} that you know, but another contract that calls itself so. ${unknownNote}`,
		`This one: ${address}`,
		`You know: ${imitates.address}`,
	]
}

const claim =
	'open no site that it names, approve nothing and send nothing for it. It may have been sent only so that you do.'
const unknownNote = `This token is not verified, and its contract may log transfers that did not happen: ${claim}`
const unknownItemNote = `This item is not verified, and its contract may log transfers that did not happen: ${claim}`
