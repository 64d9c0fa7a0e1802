/** A statement in words: as a table for a person, as CSV for a spreadsheet, as a JSON object a line for a program. */

import { csvLine } from '../base/csvLine.js'
import { fitWords } from '../base/outgoing.js'
import { toChecksum } from '../config/address.js'
import { formatAmount } from '../core/amount.js'
import type { Entry } from '../core/statement.js'
import type { Block } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Network, WatchIndex } from '../model/watch.js'
import type { StatementItem } from '../watch/statement.js'

export type StatementFormat = 'table' | 'csv' | 'json'

export interface StatementPrinter {
	/** The lines of one item; none for what the format does not show. */
	linesOf(item: Exclude<StatementItem, { item: 'read' }>): readonly string[]
}

export interface StatementFacts {
	readonly network: Network
	readonly address: Address
	/** For the labels of those who are watched. */
	readonly watches: WatchIndex
}

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

export function createStatementPrinter(format: StatementFormat, facts: StatementFacts): StatementPrinter {
	if (format === 'json') return { linesOf: (item) => [JSON.stringify(jsonOf(item, facts))] }
	let isFirst = true
	return {
		linesOf(item) {
			const heads = isFirst ? headsOf(format, facts) : []
			isFirst = false
			const rows = rowsOf(item, facts).map((row) => (format === 'csv' ? csvLine(cellsOf(row)) : tableLine(row)))
			return [...heads, ...rows, ...(format === 'table' ? wordsOf(item, facts) : [])]
		},
	}
}

/** The address as a person knows it. */
export function nameOf({ address, watches }: Pick<StatementFacts, 'address' | 'watches'>): string {
	const label = labelOf(address, watches)
	return label === null ? toChecksum(address) : `${fitWords(label)} ${toChecksum(address)}`
}

function headsOf(format: 'table' | 'csv', facts: StatementFacts): readonly string[] {
	if (format === 'csv') return [columns.join(',')]
	const { network } = facts
	return [`${nameOf(facts)} on ${network.name}, in ${network.symbol}`, '', tableLine(tableHead)]
}

function rowsOf(item: Exclude<StatementItem, { item: 'read' }>, facts: StatementFacts): readonly Row[] {
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

function wordsOf(item: Exclude<StatementItem, { item: 'read' }>, { network }: StatementFacts): readonly string[] {
	if (item.item === 'unproved' || item.item === 'unexplained') return [`          ${fitWords(item.why)}`]
	if (item.item !== 'closing') return []
	const differenceWei = item.balanceWei - item.explainedWei
	if (differenceWei === 0n) return ['', 'The books close: the difference is 0.']
	const amount = `${formatAmount(differenceWei, network.decimals)} ${network.symbol}`
	return ['', `THE BOOKS DO NOT CLOSE: ${amount} of the closing balance is explained by nothing above.`]
}

/** Amounts are exact decimal text, in wei and in whole coins. */
function jsonOf(item: Exclude<StatementItem, { item: 'read' }>, facts: StatementFacts): object {
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

function jsonPlace({ number, hash, timestampS }: Block) {
	return { blockNumber: Number(number), blockHash: hash, blockTimestamp: timeOf(timestampS) }
}

function jsonSpan({ from, to }: { readonly from: bigint; readonly to: bigint }) {
	return { fromBlock: Number(from), toBlock: Number(to) }
}

function placeOf({ number, timestampS }: Block): Row {
	return { block: String(number), time: timeOf(timestampS).replace('.000Z', 'Z') }
}

function blocksOf({ from, to }: { readonly from: bigint; readonly to: bigint }): string {
	return from === to ? String(to) : `${from}-${to}`
}

export function timeOf(seconds: bigint): string {
	return new Date(Number(seconds) * 1_000).toISOString()
}

function otherLabel({ direction, from, to }: Entry, { watches }: StatementFacts): string | null {
	const other = direction === 'in' ? from : direction === 'out' ? to : null
	return other === null ? null : labelOf(other, watches)
}

export function labelOf(address: Address, watches: WatchIndex): string | null {
	return watches.get(address)?.find(({ label }) => label !== null)?.label ?? null
}

function cellsOf(row: Row): readonly string[] {
	return columns.map((column) => row[column] ?? '')
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
	const { direction, from = '', to = '', label = '' } = row
	const other = label !== '' ? label : direction === 'in' ? from : direction === 'out' ? to : ''
	const amount = row.change ?? row.value ?? ''
	const cells = [
		(row.block ?? '').padEnd(9),
		(row.time ?? '').padEnd(20),
		(row.kind ?? '').padEnd(11),
		amount.padStart(24),
		(row.fee ?? '').padStart(24),
		(row.balance ?? '').padStart(28),
		fitWords(other).padEnd(42),
		row.tx ?? '',
	]
	return cells.join('  ').trimEnd()
}
