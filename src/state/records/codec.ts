/**
 * The room writes the state as JSON and reads it. This file: the one way in which lines of the journal and snapshots
 * hold what JSON has no form for. A bigint is text, `"5n"`; text of that form is written with a `'` before it. A map is
 * `{"$map":[[key,value],…]}`, one of books `{"$books":[…]}`, a set `{"$set":[…]}`, and a field that is undefined
 * `{"$undefined":true}`: without it, a field that a spread sets to undefined would be absent after a restart. No object
 * of the state has such a key.
 */

import { type BookRow, bookRows, booksIn } from './bookRows.js'

const NUMBER = /^'*-?\d+n$/

export function toJson(value: unknown): string {
	return JSON.stringify(value, inJson)
}

/** The value that `toJson` was given. */
export function fromJson(text: string): unknown {
	return decoded(JSON.parse(text))
}

function inJson(_key: string, value: unknown): unknown {
	if (typeof value === 'bigint') return `${value}n`
	if (typeof value === 'string') return isLikeNumber(value) ? `'${value}` : value
	if (value === undefined) return { $undefined: true }
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
	if (value instanceof Set) return { $set: [...value] }
	if (!isMap(value)) return value
	const $books = bookRows(value)
	return $books === null ? { $map: [...value] } : { $books }
}

/** Changes its argument in place: a reviver of JSON.parse takes several times as long. */
function decoded(json: unknown): unknown {
	if (typeof json === 'string') {
		if (!isLikeNumber(json)) return json
		return json.startsWith("'") ? json.slice(1) : BigInt(json.slice(0, -1))
	}
	if (typeof json !== 'object' || json === null) return json
	if (Array.isArray(json)) {
		for (let at = 0; at < json.length; at++) json[at] = decoded(json[at])
		return json
	}
	const fields = json as Record<string, unknown>
	for (const key in fields) {
		const after = decoded(fields[key])
		if (key === '$books') return booksIn(after as BookRow[])
		if (key === '$map') return new Map(after as [unknown, unknown][])
		if (key === '$set') return new Set(after as unknown[])
		if (key === '$undefined') return undefined
		if (after !== fields[key]) fields[key] = after
	}
	return fields
}

function isLikeNumber(text: string): boolean {
	return text.endsWith('n') && NUMBER.test(text)
}

/** Also of maps that are not of the class `Map`. */
function isMap(value: object): value is ReadonlyMap<unknown, unknown> {
	return typeof (value as Partial<ReadonlyMap<unknown, unknown>>).get === 'function' && Symbol.iterator in value
}
