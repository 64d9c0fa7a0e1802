import type { Problem } from '../errors.js'
import type { KnownTokens } from '../model/token.js'

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

/** The value of a key; undefined when `value` is no object or lacks the key. */
export function at(value: unknown, key: string): unknown {
	return value !== null && typeof value === 'object' ? Reflect.get(value, key) : undefined
}

/** The list under this key; empty where there is none. */
export function listAt(value: unknown, key: string): readonly unknown[] {
	const found = at(value, key)
	return Array.isArray(found) ? found : []
}

/** The text under this key; null where there is none. */
export function textAt(value: unknown, key: string): string | null {
	const found = at(value, key)
	return typeof found === 'string' ? found : null
}
