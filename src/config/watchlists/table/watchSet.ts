import { randomBytes } from 'node:crypto'
import type { WatchSet } from '../../../model/watch.js'
import { createWatchTable, type WatchTable } from './watchTable.js'

/** Collects the watches of all watchlists, one watchlist after the other. */
export interface WatchSetBuilder {
	/** Begins a watchlist of a network. Returns the table for its watches. */
	begin(network: string, watchlist: string): WatchTable
	end(): void
	set(): WatchSet
}

export function createWatchSet(): WatchSetBuilder {
	const networks = new Map<string, WatchTable>()
	/** The watchlists in order; the watches of each are consecutive in the table of its network. */
	const lists: { watchlist: string; table: WatchTable; from: number; first: number; length: number }[] = []
	let length = 0

	function* watches() {
		for (const list of lists) for (let at = 0; at < list.length; at++) yield list.table.at(list.from + at)
	}

	return {
		begin(network, watchlist) {
			const table = networks.get(network) ?? createWatchTable(randomBytes(4).readUInt32LE())
			networks.set(network, table)
			lists.push({ watchlist, table, from: table.length, first: length, length: 0 })
			return table
		},
		end() {
			const list = lists.at(-1)
			if (list === undefined) return
			list.length = list.table.length - list.from
			length += list.length
		},
		set: () =>
			Object.freeze({
				length,
				lists: Object.freeze(lists.map(({ watchlist, first, length }) => Object.freeze({ watchlist, first, length }))),
				networks,
				rules: Object.freeze([...networks.values()].flatMap(({ index }) => index.rules?.() ?? [])),
				at(number: number) {
					const place = number < 0 ? length + number : number
					const list = lists.findLast(({ first }) => first <= place)
					return list === undefined || place >= length ? undefined : list.table.at(list.from + place - list.first)
				},
				[Symbol.iterator]: watches,
			}),
	}
}
