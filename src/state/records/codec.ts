/**
 * The room writes the state as JSON and reads it. This file: the one way in which lines of the journal and snapshots
 * hold what JSON has no form for. A bigint is text, `"5n"`; text of that form is written with a `'` before it. A map is
 * `{"$map":[[key,value],…]}`, a set `{"$set":[…]}`, and a field that is undefined `{"$undefined":true}`: without it, a
 * field that a spread sets to undefined would be absent after a restart.
 */

const TAGS = ['$map', '$set', '$undefined', '$object']
const NUMBER = /^'*-?\d+n$/

type Entries = Readonly<Record<string, unknown>>

/** The value as plain JSON; parts that need no other form are shared, not copied. */
export function encoded(value: unknown): unknown {
	if (typeof value === 'bigint') return `${value}n`
	if (typeof value === 'string') return isLikeNumber(value) ? `'${value}` : value
	if (value === undefined) return { $undefined: true }
	if (typeof value !== 'object' || value === null) return value
	if (Array.isArray(value)) return listWith(value, encoded)
	if (value instanceof Set) return { $set: Array.from(value, encoded) }
	if (isMap(value)) return { $map: Array.from(value, ([key, one]) => [encoded(key), encoded(one)]) }
	const plain = objectWith(value as Entries, encoded)
	return tagOf(value) === undefined ? plain : { $object: plain }
}

/** The value that `encoded` was given; changes its argument in place. */
export function decoded(json: unknown): unknown {
	if (typeof json === 'string') {
		if (!isLikeNumber(json)) return json
		return json.startsWith("'") ? json.slice(1) : BigInt(json.slice(0, -1))
	}
	if (typeof json !== 'object' || json === null) return json
	if (Array.isArray(json)) return decodeItems(json)
	switch (tagOf(json)) {
		case '$map':
			return new Map(decodeItems((json as { $map: [unknown, unknown][] }).$map) as [unknown, unknown][])
		case '$set':
			return new Set(decodeItems((json as { $set: unknown[] }).$set))
		case '$undefined':
			return undefined
		case '$object':
			return decodeFields((json as { $object: Record<string, unknown> }).$object)
		default:
			return decodeFields(json as Record<string, unknown>)
	}
}

function isLikeNumber(text: string): boolean {
	return text.endsWith('n') && NUMBER.test(text)
}

/** Also of maps that are not of the class `Map`. */
function isMap(value: object): value is ReadonlyMap<unknown, unknown> {
	return typeof (value as Partial<ReadonlyMap<unknown, unknown>>).get === 'function' && Symbol.iterator in value
}

/** The first key, where it is a tag. */
function tagOf(value: object): string | undefined {
	for (const key in value) return TAGS.includes(key) ? key : undefined
	return undefined
}

function listWith(list: readonly unknown[], form: (value: unknown) => unknown): readonly unknown[] {
	const made = list.map(form)
	return made.every((one, index) => one === list[index]) ? list : made
}

function objectWith(from: Entries, form: (value: unknown) => unknown): Entries {
	let made: Record<string, unknown> | null = null
	for (const key in from) {
		const one = form(from[key])
		if (one === from[key]) continue
		made ??= { ...from }
		made[key] = one
	}
	return made ?? from
}

function decodeItems(list: unknown[]): unknown[] {
	for (let at = 0; at < list.length; at++) list[at] = decoded(list[at])
	return list
}

function decodeFields(fields: Record<string, unknown>): unknown {
	for (const key in fields) {
		const before = fields[key]
		const after = decoded(before)
		if (after !== before) fields[key] = after
	}
	return fields
}
