import { resolve } from 'node:path'
import { readWhole } from './values.js'

/** Absolute paths. */
export type WatchlistPlace = { readonly folder: string } | { readonly files: readonly string[] }

/** What an amount needs to know of a network. */
export interface Coin {
	readonly decimals: number
	readonly symbol: string
}

/** What watchlists are checked against. Null: not known, because that part of the settings is wrong itself. */
export interface Known {
	readonly networks: ReadonlyMap<string, Coin | null> | null
	readonly receivers: readonly string[] | null
}

/** Of settings that are right. */
export function knownOf(settings: {
	readonly networks: readonly ({ readonly name: string } & Coin)[]
	readonly receivers: readonly { readonly name: string }[]
}): Known {
	return {
		networks: new Map(settings.networks.map(({ name, decimals, symbol }) => [name, { decimals, symbol }])),
		receivers: settings.receivers.map(({ name }) => name),
	}
}

/** Of settings that are wrong somewhere: as much as can be told, so that the watchlists' own problems are told at once. */
export function guess(value: unknown, folder: string): { readonly known: Known; readonly watchlists: WatchlistPlace } {
	const networks = named(at(value, 'networks'))
	const receivers = named(at(value, 'receivers'))
	const known = {
		networks: networks && new Map(networks.map((network) => [String(at(network, 'name')), coinOf(network)])),
		receivers: receivers === null ? null : receivers.map((receiver) => String(at(receiver, 'name'))),
	}
	const place = at(value, 'watchlists')
	const files = Array.isArray(place) ? place.filter((file) => typeof file === 'string') : []
	if (files.length > 0) return { known, watchlists: { files: files.map((file) => resolve(folder, file)) } }
	return { known, watchlists: { folder: resolve(folder, typeof place === 'string' ? place : 'watchlists') } }
}

/** The entries of a list that all have names; null when one has none, or there is no list. */
function named(list: unknown): readonly unknown[] | null {
	if (!Array.isArray(list) || list.length === 0) return null
	return list.every((entry) => typeof at(entry, 'name') === 'string') ? list : null
}

function coinOf(network: unknown): Coin | null {
	const [decimals, symbol] = [at(network, 'decimals') ?? '18', at(network, 'symbol') ?? 'ETH']
	if (typeof decimals !== 'string' || typeof symbol !== 'string') return null
	try {
		return { decimals: readWhole(decimals, 77), symbol }
	} catch {
		return null
	}
}

/** The value of a key of whatever was read. */
export function at(value: unknown, key: string): unknown {
	return value !== null && typeof value === 'object' ? Reflect.get(value, key) : undefined
}
