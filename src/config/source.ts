import { isAbsolute, relative } from 'node:path'
import type { z } from 'zod'
import { codeOf, systemWords } from '../base/systemError.js'
import type { Problem } from '../errors.js'
import { readFileWhole } from './openFile.js'
import { inWords, mostProblems } from './words.js'
import { parseYaml, type YamlFile } from './yaml.js'

/** A file that was read; problems in it are reported by the path of the value that they are about. */
export interface Source extends YamlFile {
	readonly file: string
	readonly bytes: Uint8Array
	problem(path: readonly PropertyKey[], message: string, at?: 'key' | 'value'): Problem
}

/** Parsed, a file of this size takes a gigabyte of memory; many addresses stand in files of their own. */
const mostBytes = 16 * 2 ** 20

/**
 * Reads and parses one YAML file; never throws for what stands in it. Null bytes: there is no such file, or none to be
 * read.
 */
export async function readSource(
	path: string,
	cwd: string,
	signal?: AbortSignal,
): Promise<Source | { readonly bytes: Uint8Array | null; readonly problems: readonly Problem[] }> {
	const file = shown(path, cwd)
	const fail = (bytes: Uint8Array | null, message: string) => {
		return { bytes, problems: [{ file, line: 1, column: 1, message }] }
	}
	let bytes: Uint8Array
	try {
		bytes = await readFileWhole(path, mostBytes, signal)
	} catch (error) {
		signal?.throwIfAborted()
		return fail(null, `the file cannot be read: ${reason(error)}`)
	}
	let text: string
	try {
		text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
	} catch {
		return fail(bytes, 'the file is not text in UTF-8')
	}
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
	return [source.problem(path, `${subject(path)} ${issue.message}`)]
}

/** The first problems of a file, and a word that there are more. */
export function atMost(problems: readonly Problem[]): readonly Problem[] {
	const first = problems.slice(0, mostProblems)
	const last = first.at(-1)
	if (last === undefined || first.length < mostProblems) return first
	return [...first, { ...last, message: 'further problems of this file are told when these are mended' }]
}

/** In the order in which a person reads the file, each once: an alias shows one problem in several values. */
export function inOrder(problems: readonly Problem[]): readonly Problem[] {
	const distinct = new Map(problems.map((problem) => [`${problem.line}:${problem.column}:${problem.message}`, problem]))
	return [...distinct.values()].sort((one, other) => one.line - other.line || one.column - other.column)
}

/**
 * What a message about a path begins with. A key that is no word is not shown: a value may have slipped into its place.
 */
function subject(path: readonly PropertyKey[]): string {
	const key = path.findLast((step) => typeof step === 'string' && /^[\w-]+$/.test(step))
	if (key === undefined) return 'this'
	return path.at(-1) === key ? `\`${String(key)}\`` : `an entry of \`${String(key)}\``
}

/** A path as messages show it: relative to the working folder when it lies below, and not all there is does. */
export function shown(path: string, cwd: string): string {
	if (cwd === '/') return path
	const short = relative(cwd, path)
	return short === '' || short.startsWith('..') || isAbsolute(short) ? path : short
}

/** Why the system refused, in words. */
export function reason(error: unknown): string {
	if (error instanceof RangeError && !('code' in error)) return error.message
	const code = codeOf(error)
	return code === null ? String(error) : (systemWords(code) ?? code)
}
