/**
 * Watches as JSON and back, whatever their rules hold: so that the last good ones outlive a restart. They are cut into
 * pieces that are understood each by itself, at certain addresses and not by count: an edited line changes one piece.
 */

import { createHash } from 'node:crypto'
import { createTimeSlices } from '../../base/timeSlices.js'
import type { Address } from '../../model/glossary.js'
import type { KeptLists } from '../../model/state.js'
import type { Watch, WatchRules, WatchSet } from '../../model/watch.js'
import { plain, rich } from './richJson.js'
import { createWatchSet } from './watchSet.js'
import type { WatchTable } from './watchTable.js'

interface Piece {
	/** The first of its watchlist. */
	readonly begins: boolean
	readonly watchlist: string
	readonly network: string
	readonly rules: readonly unknown[]
	readonly watches: readonly (readonly [rules: number, address: Address, label: string | null])[]
}

/** As an earlier version kept them: all in one. */
interface Whole {
	readonly rules: readonly unknown[]
	readonly lists: readonly Pick<Piece, 'watchlist' | 'network' | 'watches'>[]
}

/** Grows with each change of what the pieces look like, or those that are kept would stay as they are. */
const form = 1
/** A piece ends at the first address of this kind, one in 1,024, after so many watches. */
const isBorder = (address: Address) => (Number.parseInt(address.slice(-3), 16) & 0x3ff) === 0
const fewestWatches = 512
/** Whatever the addresses are like. */
const mostWatches = 8_192

/**
 * `revision` is that of the files which the watches were read from. Rejects with the signal's reason, which the pieces
 * throw too.
 */
export async function keptOf(watches: WatchSet, revision: string, signal?: AbortSignal): Promise<KeptLists> {
	// The files say which addresses with which labels; what else there is stands in the rules, some of it by settings.
	const key = createHash('sha256').update(`${form} ${revision}\n`)
	const slices = createTimeSlices()
	for (const rules of watches.rules) {
		if (slices.isOver()) await slices.next()
		signal?.throwIfAborted()
		key.update(JSON.stringify(rules, plain))
	}
	return { key: key.digest('base64url'), pieces: () => piecesOf(watches, signal) }
}

function* piecesOf(watches: WatchSet, signal?: AbortSignal): Generator<string> {
	for (const { watchlist, first, length } of watches.lists) {
		const { network = '' } = watches.at(first) ?? {}
		const names = `"watchlist":${JSON.stringify(watchlist)},"network":${JSON.stringify(network)}`
		for (let at = first; at < first + length; ) {
			signal?.throwIfAborted()
			const { to, rules, rows } = pieceFrom(watches, at, first + length)
			yield `{"begins":${at === first},${names},"rules":[${rules}],"watches":[${rows}]}`
			at = to
		}
	}
}

/** `end` and `to` are not included. */
function pieceFrom(watches: WatchSet, from: number, end: number) {
	const rules = new Map<string, number>()
	const rows: string[] = []
	let before: Watch | null = null
	let number = 0
	let to = from
	while (to < end && rows.length < mostWatches) {
		const watch = watches.at(to)
		to += 1
		if (watch === undefined) continue
		// Most watches of a list share their rules, of which each part is one object.
		if (before === null || !sharesRules(watch, before)) number = numberOf(watch, rules)
		rows.push(JSON.stringify([number, watch.address, watch.label]))
		before = watch
		if (rows.length >= fewestWatches && isBorder(watch.address)) break
	}
	return { to, rules: [...rules.keys()].join(','), rows: rows.join(',') }
}

function sharesRules(one: Watch, other: Watch): boolean {
	const keys = Object.keys(one) as (keyof Watch)[]
	const own = keys.filter((key) => key !== 'address' && key !== 'label')
	return keys.length === Object.keys(other).length && own.every((key) => one[key] === other[key])
}

function numberOf({ address, label, ...own }: Watch, rules: Map<string, number>): number {
	const key = JSON.stringify(own, plain)
	const number = rules.get(key) ?? rules.size
	rules.set(key, number)
	return number
}

/** Of the pieces that `keptOf` made, in order. Throws for others, and what their source throws. */
export async function watchesOf(kept: AsyncIterable<unknown>): Promise<WatchSet> {
	const gathered = createWatchSet()
	const known = new Map<string, WatchRules>()
	const slices = createTimeSlices()
	/** Of the watchlist that is under way. */
	let open: { readonly table: WatchTable; readonly used: Set<WatchRules> } | null = null
	for await (const content of kept) {
		for (const { begins, watchlist, network, rules, watches } of piecesIn(content)) {
			if (begins || open === null) {
				if (open !== null) gathered.end(open.used)
				open = { table: gathered.begin(network, watchlist), used: new Set() }
			}
			const own = rules.map((one) => rulesOf(one, known))
			for (const [number, address, label] of watches) {
				if (slices.isOver()) await slices.next()
				const named = own[number]
				if (named === undefined) continue
				open.table.add(address, label, named)
				open.used.add(named)
			}
		}
	}
	if (open !== null) gathered.end(open.used)
	return gathered.set()
}

function piecesIn(content: unknown): readonly Piece[] {
	const kept = content as Piece | Whole
	if (!('lists' in kept)) return [kept]
	return kept.lists.map((list) => ({ ...list, begins: true, rules: kept.rules }))
}

/** The same object for the same rules. */
function rulesOf(written: unknown, known: Map<string, WatchRules>): WatchRules {
	const text = JSON.stringify(written)
	const rules = known.get(text) ?? (JSON.parse(text, rich) as WatchRules)
	known.set(text, rules)
	return rules
}
