import type { Problem } from '../errors.js'
import type { KnownTokens } from '../model/token.js'
import { readName, readWholeNumber } from './values.js'

/** Where the watchlists are (absolute paths), and the line of the settings that names them. */
export type WatchlistPlace = ({ readonly folder: string } | { readonly files: readonly string[] }) & {
	readonly named: Omit<Problem, 'message'>
}

/** What is needed to read the amounts of a network's watches. */
export interface Coin {
	readonly decimals: number
	readonly symbol: string
	/** Null: unknown. */
	readonly chainId: number | null
	/** Absent: the network names no tokens. Null: unknown. */
	readonly tokens?: KnownTokens | null
	/** Whether books of balances are kept; absent when the settings have problems. */
	readonly keepsBooks?: boolean
}

/** The names that watchlists are checked against. Null: unknown, because that part of the settings has problems. */
export interface Names {
	readonly networks: ReadonlyMap<string, Coin | null> | null
	readonly receivers: readonly string[] | null
}

/** The names in valid settings. */
export function namesOf(settings: {
	readonly networks: readonly ({ readonly name: string } & Coin)[]
	readonly receivers: readonly { readonly name: string }[]
}): Names {
	return {
		networks: new Map(settings.networks.map(({ name, ...coin }) => [name, coin])),
		receivers: settings.receivers.map(({ name }) => name),
	}
}

/**
 * The names in settings that have problems, as far as they can be read, so that the problems of the watchlists are
 * reported in the same run.
 */
export function guessNames(value: unknown): Names {
	const networks = named(at(value, 'networks'))
	const receivers = named(at(value, 'receivers'))
	return {
		networks: networks && new Map(networks.map(({ name, entry }) => [name, coinOf(entry)])),
		receivers: receivers?.map(({ name }) => name) ?? null,
	}
}

/** The entries of a list and their names; null when there is no list, it is empty, or an entry has no valid name. */
function named(list: unknown): readonly { readonly name: string; readonly entry: unknown }[] | null {
	if (!Array.isArray(list) || list.length === 0) return null
	try {
		return list.map((entry: unknown) => ({ name: readName(String(at(entry, 'name'))), entry }))
	} catch {
		return null
	}
}

function coinOf(network: unknown): Coin | null {
	const [decimals, symbol] = [at(network, 'decimals') ?? '18', at(network, 'symbol') ?? 'ETH']
	if (typeof decimals !== 'string' || typeof symbol !== 'string') return null
	try {
		return {
			decimals: readWholeNumber(decimals, 77),
			symbol,
			chainId: Number(at(network, 'chain_id')) || null,
			tokens: null,
		}
	} catch {
		return null
	}
}

/** The value of a key; undefined when `value` is no object or lacks the key. */
export function at(value: unknown, key: string): unknown {
	return value !== null && typeof value === 'object' ? Reflect.get(value, key) : undefined
}

/** The list under this key; empty where there is none. */
export function listAt(value: unknown, key: string): readonly unknown[] {
	const found = at(value, key)
	return Array.isArray(found) ? found : []
}
