/**
 * Changes of a store as plain data. The same functions apply a change in memory and replay it when the journal is read.
 */

import {
	applyCommit,
	applyDrop,
	applyPost,
	applyResolutions,
	applyRetry,
	applyTroubles,
	type Draft,
} from './changes.js'
import { applyEnrolment } from './coverageChanges.js'
import { applyGapMark } from './gapMarks.js'

/** `nowMs`: time of the request. Each function returns the result of its change. */
const acts = {
	commit: applyCommit,
	enrol: applyEnrolment,
	post: applyPost,
	resolve: applyResolutions,
	retry: applyRetry,
	drop: applyDrop,
	markGaps: applyGapMark,
	troubles: applyTroubles,
}

type Acts = typeof acts
export type ActName = keyof Acts
export type Argument<K extends ActName> = Parameters<Acts[K]>[1]
export type Result<K extends ActName> = ReturnType<Acts[K]>

/** One change, without anything that can be derived from the state before it. */
export type Change = {
	readonly [K in ActName]: { readonly act: K; readonly argument: Argument<K>; readonly atMs: number }
}[ActName]

/** If it throws, nothing has changed. */
export function perform<K extends ActName>(draft: Draft, act: K, argument: Argument<K>, atMs: number): Result<K> {
	if (!Object.hasOwn(acts, act)) throw new Error('a change of no known kind')
	const apply = acts[act] as (draft: Draft, argument: Argument<K>, atMs: number) => Result<K>
	return apply(draft, argument, atMs)
}
