import { z } from 'zod'
import { quoted } from '../base/text/quoted.js'
import { removedKey } from './removedKeys.js'

/** The argument of a zod error map: an issue without its message, with the value that it is about. */
type Issue = Parameters<z.core.$ZodErrorMap>[0]

/**
 * Schema of an object with a fixed set of keys. Each unknown key is a problem; the messages are joined by newlines, in
 * the order of the issue's `keys`.
 */
export function section<const Shape extends z.core.$ZodLooseShape>(shape: Shape) {
	const known = Object.keys(shape)
	return z.strictObject(shape, {
		error: (issue) =>
			issue.code === 'unrecognized_keys'
				? (issue.keys as string[])
						.slice(0, mostProblems)
						.map((key) => removedKey(key) ?? unknownKey(key, known))
						.join('\n')
				: undefined,
	})
}

function unknownKey(key: string, known: readonly string[]): string {
	if (key === '<<') return 'a merge key (`<<`) is not understood here: write its keys out'
	return `unknown key ${shownKey(key)}${suggestion(key, known)}`
}

/** At most this many problems of a file are reported; one more then says that there are others. */
export const mostProblems = 100

/** Longer values are refused. */
const mostCharacters = 4_096

/** A key for a message. It is shown only if it is a word, since a value may have been written in its place. */
export function shownKey(key: string): string {
	return /^[\w.-]{1,64}$/.test(key) ? quoted(key) : '(not shown, since it is not a word)'
}

/** What stands between the key's name and the message; null: the message is a sentence without that name. */
type Between = ' ' | ': ' | null

/**
 * Schema of a text that `read` turns into a value. `read` throws a RangeError whose message follows after the key's
 * name: "must be a whole number".
 */
export function text<T>(read: (text: string) => T, between: Between = ' ') {
	return z.string().transform((value, context) => readInto(context, value, read, { between }) as T)
}

/** Reads each entry of a list that was checked before, so that the fault of one hides no other. */
export function readEach<T>(entries: readonly string[], context: z.core.$RefinementCtx, read: (text: string) => T) {
	return entries.map((entry, index) => readInto(context, entry, read, { path: [index] }) as T)
}

interface Spot {
	readonly path?: PropertyKey[]
	readonly between?: Between
}

function readInto<T>(context: z.core.$RefinementCtx, value: string, read: (text: string) => T, spot: Spot): T {
	const { path = [], between = ' ' } = spot
	try {
		// Amounts have a limit of their own.
		if (between !== ': ' && value.length > mostCharacters)
			throw new RangeError(`has more than ${mostCharacters} characters`)
		return read(value)
	} catch (error) {
		if (!(error instanceof RangeError)) throw error
		context.issues.push({ code: 'custom', path, message: error.message, input: value, params: { between } })
		return z.NEVER
	}
}

/** The message of a problem: what it is about, then what is wrong. */
export function messageOf(subject: string, { message, ...issue }: z.core.$ZodIssue): string {
	const between: unknown = issue.code === 'custom' ? issue.params?.['between'] : undefined
	return between === null ? message : `${subject}${typeof between === 'string' ? between : ' '}${message}`
}

/** A list of at least one entry, without duplicates. */
export function list<const Item extends z.core.SomeType>(item: Item) {
	return z
		.array(item)
		.min(1)
		.superRefine((entries, context) => {
			const seen = new Set<unknown>()
			for (const [index, entry] of entries.entries()) {
				if (seen.has(entry)) context.addIssue({ code: 'custom', path: [index], message: 'is listed twice' })
				seen.add(entry)
			}
		})
}

/** One text or a list of them; always parsed to a list. */
export function oneOrMore<const Item extends z.core.SomeType>(item: Item) {
	const schema = z.preprocess((value) => (typeof value === 'string' ? [value] : value), list(item))
	return schema.meta({ type: ['string', 'array'] })
}

/** An optional key; null when it is absent. */
export function orNull<const Schema extends z.ZodType>(schema: Schema) {
	return schema.optional().transform((value) => value ?? null)
}

/** The error map of every parse: the problem in plain words, which follow after the key's name. */
export function inWords(issue: Issue): string {
	switch (issue.code) {
		case 'invalid_type':
			if (issue.input === undefined) return 'is missing'
			if (issue.input === null) return 'has no value; write one, or drop the line'
			return `must be ${forms[issue.expected as string] ?? 'of another form'}, not ${formOf(issue.input)}`
		case 'invalid_value': {
			const allowed = (issue.values as unknown[]).map(String)
			if (issue.input === undefined) return `is missing: ${oneOf(allowed)}`
			if (typeof issue.input !== 'string') return `must be ${oneOf(allowed)}, not ${formOf(issue.input)}`
			return `must be ${oneOf(allowed)}, not ${quoted(issue.input)}${suggestion(issue.input, allowed)}`
		}
		case 'too_small':
			return 'is empty; name at least one'
		default:
			return 'is wrong'
	}
}

/** `; did you mean …?` when a known word is similar, else an empty text. */
export function suggestion(word: string, known: readonly string[]): string {
	// Longer texts are no words, and comparing them would be slow.
	if (word.length > 64) return ''
	let best: string | undefined
	let least = Math.ceil(word.length / 3) + 1
	for (const candidate of known) {
		const far = distance(word.toLowerCase(), candidate.toLowerCase())
		if (far < least) [best, least] = [candidate, far]
	}
	return best === undefined ? '' : `; did you mean ${quoted(best)}?`
}

/** `a`, `a or b`, `a, b or c`. */
function oneOf(words: readonly string[]): string {
	return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

const forms: Readonly<Record<string, string>> = {
	string: 'one text or number',
	array: 'a list, such as [a, b]',
	object: 'keys with values',
	record: 'keys with values',
}

function formOf(value: unknown): string {
	return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'keys with values' : 'one text'
}

/** The least number of characters to insert, remove or replace. */
function distance(a: string, b: string): number {
	let before = Array.from({ length: b.length + 1 }, (_, index) => index)
	for (let i = 1; i <= a.length; i++) {
		const row = [i]
		for (let j = 1; j <= b.length; j++) {
			const replaced = (before[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
			row.push(Math.min((row[j - 1] ?? 0) + 1, (before[j] ?? 0) + 1, replaced))
		}
		before = row
	}
	return before[b.length] ?? 0
}

export function unknownName(what: 'network' | 'receiver', name: string, known: readonly string[]): string {
	const all = `, which have ${known.slice(0, 10).join(', ')}${known.length > 10 ? ' …' : ''}`
	const hint = suggestion(name, known) || (known.length === 0 ? '' : all)
	return `no ${what} ${quoted(name)} is in the settings${hint}`
}
