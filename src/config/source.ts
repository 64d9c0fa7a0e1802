import { readFile } from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'
import type { z } from 'zod'
import type { Problem } from '../errors.js'
import { inWords } from './words.js'
import { parseYaml, type YamlFile } from './yaml.js'

/** A file that was read; problems in it are told by the path of the value that they are about. */
export interface Source extends YamlFile {
	readonly file: string
	readonly bytes: Uint8Array
	problem(path: readonly PropertyKey[], message: string, at?: 'key' | 'value'): Problem
}

/** More than this is no list that a person keeps. */
const maxBytes = 32 * 2 ** 20

/** What a file holds, as text in UTF-8 without a byte order mark. Null bytes: there is no such file, or none to be read. */
export async function readText(
	path: string,
	cwd: string,
): Promise<
	| { readonly file: string; readonly bytes: Uint8Array; readonly text: string }
	| { readonly file: string; readonly bytes: Uint8Array | null; readonly problems: readonly Problem[] }
> {
	const file = shown(path, cwd)
	let bytes: Uint8Array | null = null
	const fail = (message: string) => ({ file, bytes, problems: [{ file, line: 1, column: 1, message }] })
	try {
		bytes = await readFile(path)
	} catch (error) {
		return fail(`the file cannot be read: ${reason(error)}`)
	}
	if (bytes.byteLength > maxBytes) return fail(`the file is larger than ${maxBytes / 2 ** 20} MiB`)
	try {
		return { file, bytes, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
	} catch {
		return fail('the file is not text in UTF-8')
	}
}

/** Reads and parses one YAML file; never throws for what stands in it. */
export async function readSource(
	path: string,
	cwd: string,
): Promise<Source | { readonly bytes: Uint8Array | null; readonly problems: readonly Problem[] }> {
	const read = await readText(path, cwd)
	if ('problems' in read) return read
	const { file, bytes, text } = read
	const parsed = parseYaml(text, file)
	if ('problems' in parsed) return { bytes, ...parsed }
	const problem: Source['problem'] = (at, message, where) => ({ file, ...parsed.locate(at, where), message })
	return { ...parsed, file, bytes, problem }
}

/** Checks the value at `path` against its schema; all that is wrong comes back as problems of the file. */
export function check<Schema extends z.ZodType>(
	source: Source,
	schema: Schema,
	value: unknown,
	path: readonly PropertyKey[] = [],
): { readonly data: z.output<Schema> } | { readonly problems: readonly Problem[] } {
	const result = schema.safeParse(value, { error: inWords })
	if (result.success) return { data: result.data }
	return { problems: result.error.issues.flatMap((issue) => toProblems(source, issue, path)) }
}

function toProblems(source: Source, issue: z.core.$ZodIssue, base: readonly PropertyKey[]): Problem[] {
	const path = [...base, ...issue.path]
	if (issue.code === 'unrecognized_keys') {
		const messages = issue.message.split('\n')
		return issue.keys.map((key, index) => source.problem([...path, key], messages[index] ?? issue.message, 'key'))
	}
	return [source.problem(path, `${subject(path)} ${issue.message}`)]
}

/** Nobody reads a hundred thousand: further problems of a file are told when these are mended. */
export const mostProblems = 100

/** The first problems of a file, and a word that there are more. */
export function atMost(problems: readonly Problem[]): readonly Problem[] {
	const told = problems.slice(0, mostProblems)
	const last = told.at(-1)
	if (last === undefined || told.length < mostProblems) return told
	return [...told, { ...last, message: 'further problems of this file are told when these are mended' }]
}

/** In the order in which a person reads the file, each once: an alias shows one problem in several values. */
export function inOrder(problems: readonly Problem[]): readonly Problem[] {
	const distinct = new Map(problems.map((problem) => [`${problem.line}:${problem.column}:${problem.message}`, problem]))
	return [...distinct.values()].sort((one, other) => one.line - other.line || one.column - other.column)
}

/** What a message about a path begins with. A key that is no word is not shown: a value may have slipped into its place. */
function subject(path: readonly PropertyKey[]): string {
	const key = path.findLast((step) => typeof step === 'string' && /^[\w-]+$/.test(step))
	if (key === undefined) return 'this'
	return path.at(-1) === key ? `\`${String(key)}\`` : `an entry of \`${String(key)}\``
}

/** A path as messages show it: relative to the working folder when it lies below. */
export function shown(path: string, cwd: string): string {
	const short = relative(cwd, path)
	return short === '' || short.startsWith('..') || isAbsolute(short) ? path : short
}

/** Why the system refused, in words. */
export function reason(error: unknown): string {
	const code = error instanceof Error && 'code' in error ? String(error.code) : ''
	const known: Readonly<Record<string, string>> = {
		ENOENT: 'it does not exist',
		EACCES: 'permission denied',
		EPERM: 'permission denied',
		EISDIR: 'it is a folder',
		ENOTDIR: 'it is not a folder',
	}
	return known[code] ?? (code === '' ? String(error) : code)
}
