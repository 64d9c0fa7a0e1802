/** The room reads YAML files, and names the line of every problem. */

import { isAbsolute, relative } from 'node:path'
import type { z } from 'zod'
import { codeOf, systemWords } from '../../base/systemError.js'
import { formatProblem, type Problem } from '../../errors.js'
import { inWords, messageOf, mostProblems } from '../words.js'
import { type Reading, readChunks } from './openFile.js'
import { parseYaml, type YamlFile } from './yaml.js'

/** A parsed file. `problem` reports a problem at the place of the value with this path. */
export interface Source extends YamlFile {
	readonly file: string
	readonly bytes: Uint8Array
	problem(path: readonly PropertyKey[], message: string, at?: 'key' | 'value'): Problem
}

/** About 35,000 watches, parsed in some seconds; the worst text of this size takes no longer than twice that. */
const mostBytes = 4 * 2 ** 20
const forMore = 'many addresses belong in a CSV file, which `addresses_from` of the watchlist names'

/**
 * Reads and parses one YAML file; returns problems instead of throwing them. `bytes` is null when the file does not
 * exist or cannot be read. Throws only the signal's reason.
 */
export async function readSource(
	path: string,
	cwd: string,
	{ signal, chunks = readChunks }: Reading = {},
): Promise<Source | { readonly bytes: Uint8Array | null; readonly problems: readonly Problem[] }> {
	const file = shown(path, cwd)
	const fail = (bytes: Uint8Array | null, message: string) => {
		return { bytes, problems: [{ file, line: 1, column: 1, message }] }
	}
	const read: Uint8Array[] = []
	try {
		for await (const chunk of chunks(path, mostBytes, signal)) read.push(chunk)
	} catch (error) {
		signal?.throwIfAborted()
		const hint = error instanceof RangeError && error.message.includes('larger') ? `; ${forMore}` : ''
		return fail(null, `the file cannot be read: ${reason(error)}${hint}`)
	}
	const bytes = Buffer.concat(read)
	let text: string
	try {
		text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
	} catch {
		return fail(bytes, 'the file is not text in UTF-8: save it in that encoding')
	}
	const parsed = parseYaml(text, file)
	if ('problems' in parsed) return { bytes, ...parsed }
	const problem: Source['problem'] = (at, message, where) => ({ file, ...parsed.locate(at, where), message })
	return { ...parsed, file, bytes, problem }
}

/** Checks the value at `path` against its schema; returns the parsed data or the problems, at most 100. */
export function check<Schema extends z.ZodType>(
	source: Source,
	schema: Schema,
	value: unknown,
	path: readonly PropertyKey[] = [],
): { readonly data: z.output<Schema> } | { readonly problems: readonly Problem[] } {
	const result = schema.safeParse(value, { error: inWords })
	if (result.success) return { data: result.data }
	return { problems: result.error.issues.slice(0, mostProblems).flatMap((issue) => toProblems(source, issue, path)) }
}

function toProblems(source: Source, issue: z.core.$ZodIssue, base: readonly PropertyKey[]): Problem[] {
	const path = [...base, ...issue.path]
	if (issue.code === 'unrecognized_keys') {
		const messages = issue.message.split('\n')
		return issue.keys
			.slice(0, mostProblems)
			.map((key, index) => source.problem([...path, key], messages[index] ?? issue.message, 'key'))
	}
	return [source.problem(path, messageOf(subject(path), issue))]
}

/** The first 100 problems of a file; when there are that many, one more says that there are further ones. */
export function atMost(problems: readonly Problem[]): readonly Problem[] {
	const first = problems.slice(0, mostProblems)
	const last = first.at(-1)
	if (last === undefined || first.length < mostProblems) return first
	return [...first, { ...last, message: 'further problems of this file are listed when these are corrected' }]
}

/**
 * Sorts problems by line and column and drops duplicates: a value with several aliases has the same problem several
 * times.
 */
export function inOrder(problems: readonly Problem[]): readonly Problem[] {
	const distinct = new Map(problems.map((problem) => [formatProblem(problem), problem]))
	return [...distinct.values()].sort((one, other) => one.line - other.line || one.column - other.column)
}

/**
 * The beginning of a message about a path. A key is shown only if it is a word, since a value may have been written in
 * its place.
 */
function subject(path: readonly PropertyKey[]): string {
	const key = path.findLast((step) => typeof step === 'string' && /^[\w-]+$/.test(step))
	if (key === undefined) return 'this'
	return path.at(-1) === key ? `\`${String(key)}\`` : `an entry of \`${String(key)}\``
}

/**
 * A path for messages: relative to the working folder when it lies below it, else absolute. Absolute also when the
 * working folder is `/`.
 */
export function shown(path: string, cwd: string): string {
	if (cwd === '/') return path
	const short = relative(cwd, path)
	return short === '' || short.startsWith('..') || isAbsolute(short) ? path : short
}

/** The reason of a failed read in plain words. */
export function reason(error: unknown): string {
	if (error instanceof RangeError && !('code' in error)) return error.message
	const code = codeOf(error)
	return code === null ? String(error) : (systemWords(code) ?? code)
}
