/**
 * Changes of a store as plain data. The same functions apply a change in memory and replay it when the journal is read.
 */

import type { Delivery, Resolution } from '../model/delivery.js'
import type { Commit, Enrolment, GapMark } from '../model/state.js'
import { applyCommit, applyDrop, applyPost, applyResolutions, applyRetry, type Draft } from './changes.js'
import { withCovered } from './coverageChanges.js'
import { type CoverageDoc, type GivenDefinition, mustHave } from './document.js'
import { applyGapMark } from './gapMarks.js'

/** A draft with the coverage; a folder keeps both together. */
export interface WholeDraft extends Draft {
	coverage: CoverageDoc
}

/** An enrolment as it is stored. */
export interface Enrolled {
	readonly network: string
	readonly covered: Enrolment['covered']
	readonly backfills: readonly GivenDefinition[] | null
}

/** `nowMs`: time of the request. Each function returns the result of its change. */
const acts = {
	commit: (draft: WholeDraft, step: Commit, nowMs: number) => applyCommit(draft, step, draft.coverage, nowMs),
	enrol(draft: WholeDraft, { network, covered, backfills }: Enrolled) {
		mustHave(network, draft.networks.get(network))
		if (covered.size === 0 && backfills === null) return
		draft.coverage = withCovered(draft.coverage, network, covered, backfills)
		draft.changed = true
	},
	post: (draft: WholeDraft, deliveries: readonly Delivery[]) => applyPost(draft, deliveries),
	resolve(
		draft: WholeDraft,
		{ resolutions, post }: { readonly resolutions: readonly Resolution[]; readonly post: readonly Delivery[] },
		nowMs: number,
	) {
		applyResolutions(draft, resolutions, nowMs)
		return applyPost(draft, post)
	},
	retry: (draft: WholeDraft, { ids, atMs }: { readonly ids: readonly string[]; readonly atMs: number }) =>
		applyRetry(draft, ids, atMs),
	drop: (draft: WholeDraft, ids: readonly string[], nowMs: number) => applyDrop(draft, ids, nowMs),
	markGaps: (
		draft: WholeDraft,
		{
			network,
			numbers,
			mark,
		}: { readonly network: string; readonly numbers: readonly bigint[]; readonly mark: GapMark },
	) => applyGapMark(draft, network, numbers, mark),
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
export function perform<K extends ActName>(draft: WholeDraft, act: K, argument: Argument<K>, atMs: number): Result<K> {
	if (!Object.hasOwn(acts, act)) throw new Error('a change of no known kind')
	const apply = acts[act] as (draft: WholeDraft, argument: Argument<K>, atMs: number) => Result<K>
	return apply(draft, argument, atMs)
}
