/** Watches as JSON and back, whatever their rules hold: so that the last good ones outlive a restart. */

import type { Address } from '../../model/glossary.js'
import type { Watch, WatchRules, WatchSet } from '../../model/watch.js'
import { createWatchSet } from './watchSet.js'

interface Kept {
	readonly rules: readonly WatchRules[]
	readonly lists: readonly {
		readonly watchlist: string
		readonly network: string
		readonly watches: readonly (readonly [rules: number, address: Address, label: string | null])[]
	}[]
}

/** In many pieces, made as they are taken: there may be a million watches. Throws the signal's reason. */
export function* keptOf(watches: WatchSet, signal?: AbortSignal): Generator<string> {
	const rules = new Map<string, number>()
	yield '{"lists":['
	for (const [index, { watchlist, first, length }] of watches.lists.entries()) {
		const { network = '' } = watches.at(first) ?? {}
		yield `${index === 0 ? '' : ','}{"watchlist":${JSON.stringify(watchlist)},"network":${JSON.stringify(network)}`
		yield ',"watches":['
		let before: Watch | null = null
		let number = 0
		for (let at = first; at < first + length; at++) {
			signal?.throwIfAborted()
			const watch = watches.at(at)
			if (watch === undefined) continue
			// Most watches of a list share their rules, of which each part is one object.
			if (before === null || !sharesRules(watch, before)) number = numberOf(watch, rules)
			yield `${before === null ? '' : ','}${JSON.stringify([number, watch.address, watch.label])}`
			before = watch
		}
		yield ']}'
	}
	yield `],"rules":[${[...rules.keys()].join(',')}]}`
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

/** Of what `keptOf` made. */
export function watchesOf(kept: unknown): WatchSet {
	const { rules: written, lists } = kept as Kept
	const rules: readonly WatchRules[] = JSON.parse(JSON.stringify(written), rich)
	const gathered = createWatchSet()
	for (const { watchlist, network, watches } of lists) {
		const table = gathered.begin(network, watchlist)
		const used = new Set<number>()
		for (const [number, address, label] of watches) {
			const own = rules[number]
			if (own === undefined) continue
			table.add(address, label, own)
			used.add(number)
		}
		gathered.end(rules.filter((_, number) => used.has(number)))
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
