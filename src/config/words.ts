import { z } from 'zod'
import { quoted } from '../base/quoted.js'

/** What zod hands to an error map: an issue before it has words, with the value that it is about. */
type Issue = Parameters<z.core.$ZodErrorMap>[0]

/**
 * A part of a file with a fixed set of keys. Unknown keys are problems; their messages stand one a line, in the order
 * of the issue's `keys`.
 */
export function section<const Shape extends z.core.$ZodLooseShape>(shape: Shape) {
	const known = Object.keys(shape)
	return z.strictObject(shape, {
		error: (issue) =>
			issue.code === 'unrecognized_keys'
				? (issue.keys as string[])
						.slice(0, mostProblems)
						.map((key) => `unknown key ${shownKey(key)}${suggestion(key, known)}`)
						.join('\n')
				: undefined,
	})
}

/** Nobody reads a hundred thousand: further problems of a file are told when these are mended. */
export const mostProblems = 100

/** Longer than any value that means something. */
const mostCharacters = 4_096

/** A key as messages show it: what is no word may be a value that slipped into its place, and is not shown. */
export function shownKey(key: string): string {
	return /^[\w.-]{1,64}$/.test(key) ? quoted(key) : '(not shown, for it is no word)'
}

/**
 * A text that `read` turns into a value. `read` throws a RangeError whose message goes on after the key's name:
 * "must be a whole number".
 */
export function text<T>(read: (text: string) => T) {
	return z.string().transform((value, context): T => {
		try {
			if (value.length > mostCharacters) throw new RangeError(`has more than ${mostCharacters} characters`)
			return read(value)
		} catch (error) {
			if (!(error instanceof RangeError)) throw error
			context.issues.push({ code: 'custom', message: error.message, input: value })
			return z.NEVER
		}
	})
}

/** A list with at least one entry, none of them twice. */
export function list<const Item extends z.core.SomeType>(item: Item) {
	return z
		.array(item)
		.min(1)
		.superRefine((entries, context) => {
			const seen = new Set<unknown>()
			for (const [index, entry] of entries.entries()) {
				if (seen.has(entry)) context.addIssue({ code: 'custom', path: [index], message: 'stands twice' })
				seen.add(entry)
			}
		})
}

/** One entry, or a list of them; a list then. */
export function oneOrMore<const Item extends z.core.SomeType>(item: Item) {
	const schema = z.preprocess((value) => (typeof value === 'string' ? [value] : value), list(item))
	return schema.meta({ type: ['string', 'array'] })
}

/** A key that may be left out; null then. */
export function orNull<const Schema extends z.ZodType>(schema: Schema) {
	return schema.optional().transform((value) => value ?? null)
}

/** The error map for every parse: what is wrong, in a user's words, without the key's name before it. */
export function inWords(issue: Issue): string {
	switch (issue.code) {
		case 'invalid_type':
			if (issue.input === undefined) return 'is missing'
			if (issue.input === null) return 'has no value; write one, or drop the line'
			return `must be ${forms[issue.expected as string] ?? 'of another form'}, not ${formWithCause(issue)}`
		case 'invalid_value': {
			const allowed = (issue.values as unknown[]).map(String)
			if (issue.input === undefined) return 'is missing'
			if (typeof issue.input !== 'string') return `must be ${oneOf(allowed)}, not ${formOf(issue.input)}`
			return `must be ${oneOf(allowed)}, not ${quoted(issue.input)}${suggestion(issue.input, allowed)}`
		}
		case 'too_small':
			return 'is empty; name at least one'
		case 'invalid_union':
			return 'is missing or unknown'
		default:
			return 'is wrong'
	}
}

/** `; did you mean …?` when one of the known words is near, or nothing. */
export function suggestion(word: string, known: readonly string[]): string {
	// No word; to compare would take long.
	if (word.length > 64) return ''
	let best: string | undefined
	let least = Math.max(1, Math.floor(word.length / 3)) + 1
	for (const candidate of known) {
		const far = distance(word.toLowerCase(), candidate.toLowerCase())
		if (far < least) [best, least] = [candidate, far]
	}
	return best === undefined ? '' : `; did you mean ${quoted(best)}?`
}

/** `a`, `a or b`, `a, b or c`. */
export function oneOf(words: readonly string[]): string {
	return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

const forms: Readonly<Record<string, string>> = {
	string: 'one text or number',
	array: 'a list, such as [a, b]',
	object: 'keys with values',
	record: 'keys with values',
}

/** The likely cause of another form, with `: ` before it; what was written is not repeated. */
function causeOf({ expected, input }: Issue): string {
	if (expected === 'array') {
		return typeof input === 'object' && !Array.isArray(input) ? ': each entry begins with `- `' : ''
	}
	if (expected !== 'object' || typeof input !== 'string') return ''
	const [, key] = /^([a-z_]{2,30}):\S/.exec(input) ?? []
	if (key !== undefined) return `: a space is missing after \`${key}:\``
	return /^0x[0-9a-f]{40}$/i.test(input) ? ': write `- address: 0x…`' : ''
}

function formWithCause(issue: Issue): string {
	return `${formOf(issue.input)}${causeOf(issue)}`
}

function formOf(value: unknown): string {
	return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'keys with values' : 'one text'
}

/** Levenshtein's distance with neighbours exchanged counted as one. */
function distance(a: string, b: string): number {
	let before: number[] = []
	let last = Array.from({ length: b.length + 1 }, (_, index) => index)
	for (let i = 1; i <= a.length; i++) {
		const row = [i]
		for (let j = 1; j <= b.length; j++) {
			const same = a[i - 1] === b[j - 1]
			let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
			if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
				cost = Math.min(cost, (before[j - 2] ?? 0) + 1)
			row.push(cost)
		}
		;[before, last] = [last, row]
	}
	return last[b.length] ?? 0
}
