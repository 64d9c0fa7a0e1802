/**
 * The room `commands/statement` prints statements: as a table for people, as CSV for spreadsheets, as one JSON object a
 * line for programs. This file: what statements of the coin and of tokens share.
 */

import { csvLine } from '../../base/text/csvLine.js'
import { fitWords } from '../../base/text/outgoing.js'
import { utc } from '../../base/utc.js'
import { toChecksum } from '../../config/address.js'
import type { Block } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Network, WatchIndex } from '../../model/watch.js'

export type StatementFormat = 'table' | 'csv' | 'json'

export interface StatementPrinter<Item> {
	/** The lines of one item; empty when the format does not show it. */
	linesOf(item: Item): readonly string[]
}

export interface StatementFacts {
	readonly network: Network
	readonly address: Address
	/** Labels of watched addresses are taken from here. */
	readonly watches: WatchIndex
}

type Row<Column extends string> = Readonly<Partial<Record<Column, string>>>

/** How one kind of statement is printed. */
export interface Form<Item, Column extends string> {
	/** The columns of CSV. */
	readonly columns: readonly Column[]
	/** Title above the table. */
	readonly title: string
	readonly tableHead: Row<Column>
	tableLine(row: Row<Column>): string
	rowsOf(item: Item): readonly Row<Column>[]
	/** Lines below the item's rows, in a table only. */
	wordsOf(item: Item): readonly string[]
	jsonOf(item: Item): object
}

export function createPrinter<Item, Column extends string>(
	format: StatementFormat,
	form: Form<Item, Column>,
): StatementPrinter<Item> {
	if (format === 'json') return { linesOf: (item) => [JSON.stringify(form.jsonOf(item))] }
	const isCsv = format === 'csv'
	const { columns, title, tableHead } = form
	const cellsOf = (row: Row<Column>) => columns.map((column) => row[column] ?? '')
	let heads = isCsv ? [columns.join(',')] : [title, '', form.tableLine(tableHead)]
	return {
		linesOf(item) {
			const rows = form.rowsOf(item).map((row) => (isCsv ? csvLine(cellsOf(row)) : form.tableLine(row)))
			const lines = [...heads, ...rows, ...(isCsv ? [] : form.wordsOf(item))]
			heads = []
			return lines
		},
	}
}

/** The address, with its label before it if it has one. */
export function nameOf({ address, watches }: Pick<StatementFacts, 'address' | 'watches'>): string {
	const label = labelOf(address, watches)
	return label === null ? toChecksum(address) : `${fitWords(label)} ${toChecksum(address)}`
}

export function labelOf(address: Address, watches: WatchIndex): string | null {
	return watches.get(address)?.find(({ label }) => label !== null)?.label ?? null
}

export function placeOf({ number, timestampS }: Block): { readonly block: string; readonly time: string } {
	return { block: String(number), time: utc(Number(timestampS) * 1_000) }
}

export function jsonPlace({ number, hash, timestampS }: Block) {
	return { blockNumber: Number(number), blockHash: hash, blockTimestamp: timeOf(timestampS) }
}

function timeOf(seconds: bigint): string {
	return new Date(Number(seconds) * 1_000).toISOString()
}

/** The counterparty of a row: its label, else its address; '' when there is none. */
export function otherOf({ direction, from, to, label }: Row<'direction' | 'from' | 'to' | 'label'>): string {
	if (label !== undefined && label !== '') return label
	return (direction === 'in' ? from : direction === 'out' ? to : undefined) ?? ''
}
