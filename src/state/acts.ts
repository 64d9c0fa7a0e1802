/**
 * Changes of a store as plain data. The same functions apply a change in memory and replay it when the journal is read.
 */

import type { Delivery, Resolution } from '../model/delivery.js'
import type { Commit, GapMark } from '../model/state.js'
import type { Troubles } from '../model/trouble.js'
import { applyCommit, applyDrop, applyPost, applyResolutions, applyRetry, type Draft } from './changes.js'
import { applyEnrolment, type Enrolled } from './coverageChanges.js'
import { applyGapMark } from './gapMarks.js'

/** `nowMs`: time of the request. Each function returns the result of its change. */
const acts = {
	commit: (draft: Draft, step: Commit, nowMs: number) => applyCommit(draft, step, nowMs),
	enrol: (draft: Draft, enrolled: Enrolled) => applyEnrolment(draft, enrolled),
	post: (draft: Draft, deliveries: readonly Delivery[]) => applyPost(draft, deliveries),
	resolve(
		draft: Draft,
		{ resolutions, post }: { readonly resolutions: readonly Resolution[]; readonly post: readonly Delivery[] },
		nowMs: number,
	) {
		applyResolutions(draft, resolutions, nowMs)
		return applyPost(draft, post)
	},
	retry: (draft: Draft, { ids, atMs }: { readonly ids: readonly string[]; readonly atMs: number }) =>
		applyRetry(draft, ids, atMs),
	drop: (draft: Draft, ids: readonly string[], nowMs: number) => applyDrop(draft, ids, nowMs),
	markGaps: (
		draft: Draft,
		{
			network,
			numbers,
			mark,
		}: { readonly network: string; readonly numbers: readonly bigint[]; readonly mark: GapMark },
	) => applyGapMark(draft, network, numbers, mark),
	troubles(draft: Draft, troubles: Troubles) {
		draft.troubles = troubles
		draft.changed = true
	},
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
