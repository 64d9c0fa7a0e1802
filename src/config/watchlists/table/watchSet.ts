import { randomBytes } from 'node:crypto'
import type { WatchRules, WatchSet } from '../../../model/watch.js'
import { createWatchTable, type WatchTable } from './watchTable.js'

/** The watches of one watchlist in a table; `to` is exclusive. */
interface Stretch {
	readonly watchlist: string
	readonly table: WatchTable
	readonly from: number
	readonly to: number
}

/** Collects the watches of all watchlists, one watchlist after the other. */
export interface WatchSetBuilder {
	/** Begins a watchlist of a network. Returns the table for its watches. */
	begin(network: string, watchlist: string): WatchTable
	/** Ends the watchlist; `rules` are the rules of its watches. */
	end(rules: Iterable<WatchRules>): void
	set(): WatchSet
}

export function createWatchSet(): WatchSetBuilder {
	const tables = new Map<string, WatchTable>()
	const stretches: Stretch[] = []
	const rules: WatchRules[] = []
	let open: Omit<Stretch, 'to'> | null = null
	return {
		begin(network, watchlist) {
			const table = tables.get(network) ?? createWatchTable(randomBytes(4).readUInt32LE())
			tables.set(network, table)
			open = { watchlist, table, from: table.length }
			return table
		},
		end(own) {
			if (open === null) return
			stretches.push({ ...open, to: open.table.length })
			for (const one of own) rules.push(one)
			open = null
		},
		set: () => setOf(tables, stretches, Object.freeze(rules)),
	}
}

function setOf(
	networks: ReadonlyMap<string, WatchTable>,
	stretches: readonly Stretch[],
	rules: readonly WatchRules[],
): WatchSet {
	let length = 0
	const lists = stretches.map(({ watchlist, from, to }) => {
		const list = { watchlist, first: length, length: to - from }
		length += list.length
		return list
	})
	const set: WatchSet = {
		length,
		lists,
		networks,
		rules,
		at(number) {
			let rest = number < 0 ? length + number : number
			if (rest < 0) return undefined
			for (const { table, from, to } of stretches) {
				if (rest < to - from) return table.at(from + rest)
				rest -= to - from
			}
			return undefined
		},
		*[Symbol.iterator]() {
			for (const { table, from, to } of stretches) {
				for (let number = from; number < to; number++) yield table.at(number)
			}
		},
	}
	return Object.freeze(set)
}
