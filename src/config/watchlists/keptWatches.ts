/** Watches as JSON and back, whatever their rules hold: so that the last good ones outlive a restart. */

import { createTurns } from '../../base/timeSlices.js'
import type { Address } from '../../model/glossary.js'
import type { WatchRules, WatchSet } from '../../model/watch.js'
import { createWatchSet } from './watchSet.js'

interface Kept {
	readonly rules: readonly WatchRules[]
	readonly lists: readonly {
		readonly watchlist: string
		readonly network: string
		readonly watches: readonly (readonly [rules: number, address: Address, label: string | null])[]
	}[]
}

/** In pieces, and in turns: there may be a million. Throws the signal's reason. */
export async function keptOf(watches: WatchSet, signal?: AbortSignal): Promise<readonly string[]> {
	const rules = new Map<string, number>()
	const lists: string[] = []
	const turns = createTurns()
	for (const { watchlist, first, length } of watches.lists) {
		const rows: string[] = []
		for (let at = first; at < first + length; at++) {
			const watch = watches.at(at)
			if (watch === undefined) continue
			const { address, label, ...own } = watch
			const key = JSON.stringify(own, plain)
			const number = rules.get(key) ?? rules.size
			rules.set(key, number)
			rows.push(JSON.stringify([number, address, label]))
			if (!turns.isOver()) continue
			await turns.next()
			signal?.throwIfAborted()
		}
		const { network = '' } = watches.at(first) ?? {}
		lists.push(`{"watchlist":${JSON.stringify(watchlist)},"network":${JSON.stringify(network)},"watches":[`)
		lists.push(rows.join(','), ']}', ',')
	}
	lists.pop()
	return [`{"rules":[${[...rules.keys()].join(',')}],"lists":[`, ...lists, ']}']
}

/** Of what `keptOf` made. */
export function watchesOf(kept: unknown): WatchSet {
	const { rules, lists }: Kept = JSON.parse(JSON.stringify(kept), rich)
	const gathered = createWatchSet()
	for (const { watchlist, network, watches } of lists) {
		const table = gathered.begin(network, watchlist)
		for (const [number, address, label] of watches) {
			const own = rules[number]
			if (own !== undefined) table.add(address, label, own)
		}
		gathered.end(rules.filter((_, number) => watches.some(([one]) => one === number)))
	}
	return gathered.set()
}

/** What JSON has no word for. */
function plain(_: string, value: unknown): unknown {
	if (typeof value === 'bigint') return { $bigint: String(value) }
	if (typeof value === 'number' && !Number.isFinite(value)) return { $number: String(value) }
	if (value instanceof Map) return { $map: [...value] }
	return value instanceof Set ? { $set: [...value] } : value
}

function rich(_: string, value: unknown): unknown {
	if (typeof value !== 'object' || value === null) return value
	if ('$bigint' in value) return BigInt(String(value.$bigint))
	if ('$number' in value) return Number(value.$number)
	if ('$map' in value) return new Map(value.$map as [unknown, unknown][])
	return '$set' in value ? new Set(value.$set as unknown[]) : value
}
