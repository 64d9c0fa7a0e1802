/**
 * Recorded answers of real nodes, read in place where the folder stands beside the repository; they are not part of it.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { notProved } from '../support/notProved.js'

export const folder = fileURLToPath(new URL('../../../shared/fixtures/open/', import.meta.url))

export const isThere = existsSync(join(folder, 'INDEX.json'))
if (!isThere) notProved(`recorded answers of real nodes are read alike: ${folder} is absent`)

export type Json = { readonly [key: string]: unknown }

export interface Recorded {
	readonly id: string
	readonly file: string
	readonly method: string
}

export function records(): readonly Recorded[] {
	return isThere ? (readJson('INDEX.json') as { records: Recorded[] }).records : []
}

export function readJson(file: string): unknown {
	return JSON.parse(readFileSync(join(folder, file), 'utf8'))
}

export function oracles(): readonly string[] {
	return isThere ? readdirSync(join(folder, 'oracle')).map((name) => `oracle/${name}`) : []
}

export function isObject(value: unknown): value is Json {
	return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Every list of parity rows in an answer, wherever it stands. */
export function rowLists(value: unknown): readonly (readonly Json[])[] {
	if (Array.isArray(value)) {
		if (value.length > 0 && value.every((row) => isObject(row) && isObject(row.action) && 'type' in row)) return [value]
		return value.flatMap(rowLists)
	}
	if (!isObject(value)) return []
	return isObject(value.action) && typeof value.type === 'string' ? [[value]] : Object.values(value).flatMap(rowLists)
}

/** Every root frame of geth's callTracer in an answer. */
export function callRoots(value: unknown): readonly Json[] {
	if (Array.isArray(value)) return value.flatMap(callRoots)
	if (!isObject(value)) return []
	const isCall = typeof value.type === 'string' && /^[A-Z0-9]+$/.test(value.type) && typeof value.from === 'string'
	return isCall ? [value] : Object.values(value).flatMap(callRoots)
}

/** A frame of callTracer and all below it, in the order of the trace. */
export function nested(root: Json, path: readonly number[] = []): readonly { raw: Json; path: readonly number[] }[] {
	const calls = Array.isArray(root.calls) ? (root.calls as Json[]) : []
	return [{ raw: root, path }, ...calls.flatMap((child, index) => nested(child, [...path, index]))]
}
