/** Ways in which an answer can be wrong. */

import fc from 'fast-check'

/** Written into the JSON as it is, where JSON.stringify could not go. */
const raw = (text: string) => `@@${text}@@`

const weird = fc.oneof(
	fc.constantFrom<unknown>(
		null,
		true,
		false,
		0,
		-1,
		1.5,
		1e308,
		2 ** 53,
		'',
		'0x',
		'0x0',
		'0xg',
		'-0x1',
		' 0x1',
		'1',
		[],
		{},
		[[]],
	),
	fc.constantFrom<unknown>(
		{ toString: 1 },
		{ valueOf: 1, toString: null },
		{ length: 1e9 },
		{ message: { toString: 1 } },
	),
	fc.constantFrom<unknown>(
		{ error: { code: 1, message: 'x' } },
		{ error: 'execution timeout' },
		{ code: -32000, message: 5 },
	),
	fc.constantFrom(
		'\u001b[2J\u202e',
		'\ud800',
		'\u0000',
		'a'.repeat(100_000),
		`0x${'f'.repeat(100_000)}`,
		'9'.repeat(100_000),
	),
	fc.constantFrom(
		'0x775f05a074000',
		'0xffffffffffffffff',
		`0x${'f'.repeat(64)}`,
		`0x${'f'.repeat(40)}`,
		'latest',
		'0x3b9aca00',
	),
	fc.constantFrom('call', 'CALL', 'create', 'suicide', 'reward', 'staticcall', '__proto__', 'constructor'),
	fc.constantFrom(
		raw('['.repeat(50_000) + ']'.repeat(50_000)),
		raw(`${'{"calls":['.repeat(20_000)}{}${']}'.repeat(20_000)}`),
		raw(`${'{"rate":'.repeat(50_000)}1${'}'.repeat(50_000)}`),
		raw('1e999999'),
		raw(`[${'0,'.repeat(200_000)}0]`),
		raw('{"__proto__":{"type":"call"}}'),
	),
	fc.jsonValue(),
)

export interface Mutation {
	/** In which of the answers of the method, counted from 0; which of its values; how. */
	readonly at: number
	readonly way: 'put' | 'all' | 'far' | 'drop' | 'twice' | 'swap' | 'rename' | 'deepen'
	readonly value: unknown
	/** Given: everything of this name gets the value, whatever `at` and `way` say. */
	readonly key?: string
}

const ways: readonly Mutation['way'][] = [
	...(['put', 'put', 'all', 'all', 'far', 'far', 'far', 'far'] as const),
	...(['drop', 'twice', 'swap', 'rename', 'deepen', 'deepen'] as const),
]

export const mutation: fc.Arbitrary<Mutation> = fc.record({
	at: fc.nat(),
	way: fc.constantFrom(...ways),
	value: weird,
})

/** Of quantities: as dates, as places in a list, as amounts. */
const extremes = [
	'0xffffffffffffffff',
	'0x8765bd21f80',
	'0x3afff4417f',
	'-0x1',
	'0x20000000000001',
	`0x1${'0'.repeat(64)}`,
	`0x${'f'.repeat(65)}`,
	`1${'0'.repeat(77)}`,
	2 ** 53,
	-1,
]

type Holder = Record<string, unknown>

interface Place {
	readonly holder: Holder
	readonly key: string
}

/** A copy of the value, changed in one place; the value itself where it is nested too deep to be looked through. */
export function mutated(value: unknown, mutation: Mutation): unknown {
	try {
		return changed(value, mutation)
	} catch (error) {
		if (!(error instanceof RangeError)) throw error
		return value
	}
}

function changed(value: unknown, { at, way, value: other, key: named }: Mutation): unknown {
	const box = { value: structuredClone(value) }
	const places: Place[] = []
	const walk = (holder: Holder, key: string) => {
		places.push({ holder, key })
		const inner = holder[key]
		if (typeof inner === 'object' && inner !== null) for (const name of Object.keys(inner)) walk(inner as Holder, name)
	}
	walk(box, 'value')
	const { holder, key } = places[at % places.length] as Place
	if (named !== undefined) {
		// The first place is the whole.
		for (const place of places.slice(1)) if (place.key === named) place.holder[named] = other
	} else if (way === 'put') holder[key] = other
	else if (way === 'all') {
		for (const place of places) if (place.key === key) place.holder[key] = other
	} else if (way === 'far') {
		const numbers = places.filter((place) => isNumber(place.holder[place.key]))
		const keys = [...new Set(numbers.map((place) => place.key))]
		const far = keys[Math.floor(at / extremes.length) % keys.length]
		for (const place of numbers) if (place.key === far) place.holder[place.key] = extremes[at % extremes.length]
	} else if (way === 'drop') {
		if (Array.isArray(holder)) holder.splice(Number(key), 1)
		else delete holder[key]
	} else if (way === 'deepen') {
		deepen(
			places.filter((place) => isFrame(place.holder[place.key])),
			at,
		)
	} else if (way === 'twice' && Array.isArray(holder)) holder.push(holder[Number(key)])
	else if (way === 'swap') {
		const from = places[(at * 7 + 3) % places.length] as Place
		holder[key] = structuredClone(from.holder[from.key])
	} else {
		holder[`${key}x`] = holder[key]
		delete holder[key]
	}
	return box.value ?? null
}

const isFrame = (value: unknown): value is Holder => typeof value === 'object' && value !== null && 'type' in value

/** A call in itself, deeper than any of the EVM: each of them is well-formed. */
function deepen(frames: readonly Place[], at: number): void {
	if (frames.length === 0) return
	const { holder, key } = frames[at % frames.length] as Place
	const frame = holder[key] as Holder
	if ('traceAddress' in frame) {
		// All of them would be a million numbers; one alone lacks its ancestors.
		holder[key] = { ...frame, traceAddress: Array.from({ length: levels }, () => 0) }
		return
	}
	let inner: Holder = { ...frame, calls: [] }
	for (let depth = 1; depth < levels; depth++) inner = { ...frame, calls: [inner] }
	holder[key] = inner
}

const levels = 1_500

const isNumber = (value: unknown) =>
	typeof value === 'number' || (typeof value === 'string' && /^0x[0-9a-f]{1,24}$/.test(value))

/** As it goes out; no JSON at all where that would be longer than a text can be, or is nested too deep. */
export function written(value: unknown): string {
	try {
		return JSON.stringify(value).replaceAll(/"@@(.*?)@@"/g, (_all, text: string) => JSON.parse(`"${text}"`) as string)
	} catch (error) {
		if (!(error instanceof RangeError)) throw error
		return 'endless'
	}
}

/** What becomes of the bytes on their way. */
export interface Damage {
	readonly way: 'none' | 'cut' | 'flip' | 'insert' | 'twice' | 'page' | 'gzip'
	readonly at: number
	readonly byte: number
	readonly status: number
}

export const damage: fc.Arbitrary<Damage> = fc.record({
	way: fc.constantFrom('none', 'none', 'none', 'none', 'cut', 'flip', 'insert', 'twice', 'page', 'gzip'),
	at: fc.nat(),
	byte: fc.nat(255),
	status: fc.constantFrom(200, 200, 200, 200, 200, 204, 400, 403, 404, 429, 500, 503),
})

export function damaged(text: string, { way, at, byte }: Damage): Buffer {
	const bytes = Buffer.from(text)
	const place = at % (bytes.length + 1)
	switch (way) {
		case 'cut':
			return bytes.subarray(0, place)
		case 'flip':
			if (place < bytes.length) bytes[place] = byte
			return bytes
		case 'insert':
			return Buffer.concat([bytes.subarray(0, place), Buffer.from([byte]), bytes.subarray(place)])
		case 'twice':
			return Buffer.concat([bytes, bytes])
		case 'page':
			return Buffer.from(`<html><title>${'x'.repeat(byte * 100)}\u001b[2J</title>`)
		default:
			return bytes
	}
}
