/** Statements of the native coin: columns and rows. */

import { formatAmount } from '../../base/amount.js'
import { fitWords } from '../../base/text/outgoing.js'
import { toChecksum } from '../../config/address.js'
import type { Entry } from '../../core/ledger/statementEntries.js'
import type { StatementItem } from '../../statements/statement.js'
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

type Said = Exclude<StatementItem, { item: 'read' }>

const columns = [
	'block',
	'time',
	'kind',
	'direction',
	'value',
	'fee',
	'change',
	'balance',
	'asset',
	'from',
	'to',
	'label',
	'tx',
	'trace',
] as const
type Row = Readonly<Partial<Record<(typeof columns)[number], string>>>

export function createStatementPrinter(format: StatementFormat, facts: StatementFacts): StatementPrinter<Said> {
	const { network } = facts
	return createPrinter<Said, (typeof columns)[number]>(format, {
		columns,
		title: `${nameOf(facts)} on ${network.name}, in ${network.symbol}`,
		tableHead,
		tableLine,
		rowsOf: (item) => rowsOf(item, facts),
		wordsOf: (item) => wordsOf(item, facts),
		jsonOf: (item) => jsonOf(item, facts),
	})
}

function rowsOf(item: Said, facts: StatementFacts): readonly Row[] {
	const { network } = facts
	const coins = (wei: bigint) => formatAmount(wei, network.decimals)
	const base = { asset: network.symbol }
	switch (item.item) {
		case 'opening':
			return [{ ...base, ...placeOf(item.block), kind: 'opening', balance: coins(item.balanceWei) }]
		case 'entry': {
			const { block, kind, direction, valueWei, feeWei, changeWei, from, to, txHash, trace } = item.entry
			return [
				{
					...base,
					...placeOf(block),
					kind,
					direction,
					value: coins(valueWei),
					fee: coins(feeWei),
					change: coins(changeWei),
					balance: coins(item.balanceWei),
					from: from === null ? '' : toChecksum(from),
					to: to === null ? '' : toChecksum(to),
					label: otherLabel(item.entry, facts) ?? '',
					tx: txHash ?? '',
					trace: trace ?? '',
				},
			]
		}
		case 'unexplained':
			return [{ ...base, block: blocksOf(item.span), kind: 'unexplained', value: coins(item.differenceWei) }]
		case 'unproved':
			return [{ ...base, block: blocksOf(item.span), kind: 'unproved' }]
		case 'closing':
			return [
				{ ...base, ...placeOf(item.block), kind: 'closing', balance: coins(item.balanceWei) },
				{ ...base, ...placeOf(item.block), kind: 'difference', value: coins(item.balanceWei - item.explainedWei) },
			]
	}
}

function wordsOf(item: Said, { network }: StatementFacts): readonly string[] {
	if (item.item === 'unproved' || item.item === 'unexplained') return [`          ${fitWords(item.why)}`]
	if (item.item !== 'closing') return []
	const differenceWei = item.balanceWei - item.explainedWei
	if (differenceWei === 0n) return ['', 'The books close: the difference is 0.']
	const amount = `${formatAmount(differenceWei, network.decimals)} ${network.symbol}`
	return ['', `THE BOOKS DO NOT CLOSE: ${amount} of the closing balance is explained by nothing above.`]
}

/** Amounts are exact decimal text, in wei and in whole coins. */
function jsonOf(item: Said, facts: StatementFacts): object {
	const { network, address } = facts
	const amount = (name: string, wei: bigint) => ({
		[`${name}Wei`]: String(wei),
		[name]: formatAmount(wei, network.decimals),
	})
	const asset = { asset: network.symbol }
	const who = { network: network.name, chainId: network.chainId, address: toChecksum(address) }
	switch (item.item) {
		case 'opening':
			return { type: 'opening', ...who, ...jsonPlace(item.block), ...amount('balance', item.balanceWei), ...asset }
		case 'entry': {
			const { block, kind, direction, valueWei, feeWei, changeWei, from, to, txHash, txIndex, trace } = item.entry
			const label = otherLabel(item.entry, facts)
			return {
				type: 'movement',
				...jsonPlace(block),
				txHash,
				txIndex,
				trace,
				kind,
				direction,
				from: from === null ? null : toChecksum(from),
				to: to === null ? null : toChecksum(to),
				...(label === null ? {} : { counterpartyLabel: label }),
				...amount('value', valueWei),
				...amount('fee', feeWei),
				...amount('change', changeWei),
				...amount('balance', item.balanceWei),
				...asset,
			}
		}
		case 'unexplained': {
			const { span, differenceWei, why } = item
			return { type: 'unexplained', ...jsonSpan(span), ...amount('difference', differenceWei), ...asset, reason: why }
		}
		case 'unproved':
			return { type: 'unproved', ...jsonSpan(item.span), reason: item.why }
		case 'closing': {
			const differenceWei = item.balanceWei - item.explainedWei
			return {
				type: 'closing',
				...who,
				...jsonPlace(item.block),
				...amount('balance', item.balanceWei),
				...amount('explained', item.explainedWei),
				...amount('difference', differenceWei),
				...asset,
				closed: differenceWei === 0n,
			}
		}
	}
}

function jsonSpan({ from, to }: { readonly from: bigint; readonly to: bigint }) {
	return { fromBlock: Number(from), toBlock: Number(to) }
}

function blocksOf({ from, to }: { readonly from: bigint; readonly to: bigint }): string {
	return from === to ? String(to) : `${from}-${to}`
}

function otherLabel({ direction, from, to }: Entry, { watches }: StatementFacts): string | null {
	const other = direction === 'in' ? from : direction === 'out' ? to : null
	return other === null ? null : labelOf(other, watches)
}

const tableHead: Row = {
	block: 'block',
	time: 'time',
	kind: 'kind',
	change: 'change',
	fee: 'of it fee',
	balance: 'balance',
	label: 'from or to',
	tx: 'transaction',
}

function tableLine(row: Row): string {
	const amount = row.change ?? row.value ?? ''
	const cells = [
		(row.block ?? '').padEnd(9),
		(row.time ?? '').padEnd(20),
		(row.kind ?? '').padEnd(11),
		amount.padStart(24),
		(row.fee ?? '').padStart(24),
		(row.balance ?? '').padStart(28),
		fitWords(otherOf(row)).padEnd(42),
		row.tx ?? '',
	]
	return cells.join('  ').trimEnd()
}
