import type { Problem } from '../errors.js'
import type { KnownTokens } from '../model/token.js'
import { readName, readWholeNumber } from './values.js'

/** Absolute paths, and where the settings name them. */
export type WatchlistPlace = ({ readonly folder: string } | { readonly files: readonly string[] }) & {
	readonly named: Omit<Problem, 'message'>
}

/** What an amount needs to know of a network. */
export interface Coin {
	readonly decimals: number
	readonly symbol: string
	/** Absent: the network names none. Null: that cannot be known. */
	readonly tokens?: KnownTokens | null
	/** Whether its balances are known; absent: the settings are wrong somewhere. */
	readonly keepsBooks?: boolean
}

/** What watchlists are checked against. Null: not known, because that part of the settings is wrong itself. */
export interface Names {
	readonly networks: ReadonlyMap<string, Coin | null> | null
	readonly receivers: readonly string[] | null
}

/** Of settings that are right. */
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
 * Of settings that are wrong somewhere: as much as can be known, so that the problems of the watchlists are reported at
 * once.
 */
export function guessNames(value: unknown): Names {
	const networks = named(at(value, 'networks'))
	const receivers = named(at(value, 'receivers'))
	return {
		networks: networks && new Map(networks.map(({ name, entry }) => [name, coinOf(entry)])),
		receivers: receivers?.map(({ name }) => name) ?? null,
	}
}

/** The entries of a list that all have a right name; null when one has none, or there is no list. */
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
		return { decimals: readWholeNumber(decimals, 77), symbol, tokens: null }
	} catch {
		return null
	}
}

/** The value of a key of whatever was read. */
export function at(value: unknown, key: string): unknown {
	return value !== null && typeof value === 'object' ? Reflect.get(value, key) : undefined
}
