/** Statements of tokens: columns and rows. */

import { formatAmount } from '../../base/amount.js'
import { fitWords } from '../../base/text/outgoing.js'
import { toChecksum } from '../../config/address.js'
import type { Account } from '../../core/ledger/tokenEntries.js'
import type { TokenStatementItem } from '../../statements/tokenStatement.js'
import {
	createPrinter,
	jsonPlace,
	labelOf,
	nameOf,
	otherOf,
	placeOf,
	type StatementFacts,
	type StatementFormat,
	type StatementPrinter,
} from './lines.js'

type Said = Exclude<TokenStatementItem, { item: 'read' }>

const columns = [
	'block',
	'time',
	'kind',
	'direction',
	'amount',
	'balance',
	'asset',
	'token',
	'token_id',
	'from',
	'to',
	'label',
	'tx',
	'trace',
] as const
type Row = Readonly<Partial<Record<(typeof columns)[number], string>>>

export function createTokenPrinter(format: StatementFormat, facts: StatementFacts): StatementPrinter<Said> {
	return createPrinter<Said, (typeof columns)[number]>(format, {
		columns,
		title: `${nameOf(facts)} on ${facts.network.name}, tokens`,
		tableHead,
		tableLine,
		rowsOf: (item) => rowsOf(item, facts),
		wordsOf: (item) => wordsOf(item, facts),
		jsonOf: (item) => jsonOf(item, facts),
	})
}

function rowsOf(item: Said, facts: StatementFacts): readonly Row[] {
	const { account, block } = item
	const base = {
		...placeOf(block),
		asset: symbolOf(account, facts) ?? '',
		token: toChecksum(account.contract),
		token_id: account.tokenId === null ? '' : String(account.tokenId),
	}
	const amount = (raw: bigint) => amountOf(raw, account, facts)
	switch (item.item) {
		case 'opening':
			return [{ ...base, kind: 'opening', balance: amount(item.balanceRaw) }]
		case 'entry': {
			const { event, direction, changeRaw } = item.entry
			const label = otherLabel(item, facts)
			return [
				{
					...base,
					kind: 'transfer',
					direction,
					amount: amount(changeRaw),
					balance: amount(item.balanceRaw),
					token_id: event.tokenId === null ? '' : String(event.tokenId),
					from: toChecksum(event.from),
					to: toChecksum(event.to),
					label: label ?? '',
					tx: event.txHash,
					trace: event.trace,
				},
			]
		}
		case 'unproved':
			return [{ ...base, kind: 'unproved' }]
		case 'closing':
			return [
				{ ...base, kind: 'closing', balance: amount(item.balanceRaw) },
				{ ...base, kind: 'difference', amount: amount(item.balanceRaw - item.explainedRaw) },
			]
	}
}

function wordsOf(item: Said, facts: StatementFacts): readonly string[] {
	const indent = '          '
	if (item.item === 'unproved') return [`${indent}its contract does not say what the address has: nothing proves this`]
	if (item.item !== 'closing' || item.balanceRaw === item.explainedRaw) return []
	const { account, balanceRaw, explainedRaw } = item
	const name = symbolOf(account, facts) ?? toChecksum(account.contract)
	const amount = `${amountOf(balanceRaw - explainedRaw, account, facts)} ${name}`
	return [
		`${indent}THE BOOKS DO NOT CLOSE: no log explains ${fitWords(amount)} (the token rebases, or its logs are wrong)`,
	]
}

/** Amounts are exact decimal text, in the smallest unit and in whole tokens. */
function jsonOf(item: Said, facts: StatementFacts): object {
	const { network, address } = facts
	const { account, block } = item
	const amount = (name: string, raw: bigint) => ({
		[`${name}Raw`]: String(raw),
		[name]: decimalsOf(account, facts) === null ? null : amountOf(raw, account, facts),
	})
	const place = jsonPlace(block)
	const token = {
		token: {
			address: toChecksum(account.contract),
			symbol: symbolOf(account, facts),
			decimals: decimalsOf(account, facts),
			known: facts.network.tokens?.has(account.contract) === true,
		},
		tokenId: account.tokenId === null ? null : String(account.tokenId),
	}
	const who = { network: network.name, chainId: network.chainId, address: toChecksum(address) }
	switch (item.item) {
		case 'opening':
			return { type: 'opening', ...who, ...place, ...token, ...amount('balance', item.balanceRaw) }
		case 'entry': {
			const { event, direction, changeRaw } = item.entry
			const label = otherLabel(item, facts)
			return {
				type: 'movement',
				...place,
				txHash: event.txHash,
				txIndex: event.txIndex,
				trace: event.trace,
				kind: 'token',
				standard: event.standard,
				direction,
				from: toChecksum(event.from),
				to: toChecksum(event.to),
				...(label === null ? {} : { counterpartyLabel: label }),
				...(event.initiator === null ? {} : { initiator: toChecksum(event.initiator) }),
				...token,
				tokenId: event.tokenId === null ? null : String(event.tokenId),
				...amount('change', changeRaw),
				...amount('balance', item.balanceRaw),
			}
		}
		case 'unproved':
			return { type: 'unproved', ...place, ...token, reason: 'the contract does not say what the address has' }
		case 'closing': {
			const differenceRaw = item.balanceRaw - item.explainedRaw
			const explained = { ...amount('explained', item.explainedRaw), ...amount('difference', differenceRaw) }
			return {
				type: 'closing',
				...who,
				...place,
				...token,
				...amount('balance', item.balanceRaw),
				...explained,
				closed: differenceRaw === 0n,
			}
		}
	}
}

function symbolOf({ contract }: Account, { network }: StatementFacts): string | null {
	return network.tokens?.get(contract)?.symbol ?? null
}

function decimalsOf({ contract }: Account, { network }: StatementFacts): number | null {
	return network.tokens?.get(contract)?.decimals ?? null
}

/** In whole tokens when the settings name the decimals, else in the smallest unit. */
function amountOf(raw: bigint, account: Account, facts: StatementFacts): string {
	const decimals = decimalsOf(account, facts)
	return decimals === null ? String(raw) : formatAmount(raw, decimals)
}

function otherLabel(
	{ entry: { direction, event } }: Extract<Said, { item: 'entry' }>,
	{ watches }: StatementFacts,
): string | null {
	if (direction === 'self') return null
	return labelOf(direction === 'in' ? event.from : event.to, watches)
}

const tableHead: Row = {
	block: 'block',
	time: 'time',
	kind: 'kind',
	amount: 'change',
	balance: 'balance',
	asset: 'token',
	label: 'from or to',
	tx: 'transaction',
}

function tableLine(row: Row): string {
	const { asset = '', token = '', token_id: id = '' } = row
	const name = `${asset !== '' ? asset : token}${id === '' ? '' : ` #${id}`}`
	const cells = [
		(row.block ?? '').padEnd(9),
		(row.time ?? '').padEnd(20),
		(row.kind ?? '').padEnd(11),
		(row.amount ?? '').padStart(24),
		(row.balance ?? '').padStart(28),
		fitWords(name).padEnd(12),
		fitWords(otherOf(row)).padEnd(42),
		row.tx ?? '',
	]
	return cells.join('  ').trimEnd()
}
