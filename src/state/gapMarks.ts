/** An operator's commands for gaps, independent of polls. */

import { isOpen } from '../core/gaps.js'
import type { Gap, GapMark } from '../model/state.js'
import type { NetworkRecord } from './document.js'

interface Draft {
	readonly networks: Map<string, NetworkRecord>
	changed: boolean
}

/** Keeps marks that the operator set during a poll: the poll writes each gap as it was when the poll started. */
export function keepingMarks(
	before: ReadonlyMap<bigint, Gap>,
	changes?: ReadonlyMap<bigint, Gap | null>,
): ReadonlyMap<bigint, Gap | null> | undefined {
	if (changes === undefined || before.size === 0) return changes
	return new Map(
		[...changes].map(([number, gap]) => {
			const known = before.get(number)
			if (gap === null || known?.block.hash !== gap.block.hash) return [number, gap]
			const { acceptedAtMs = gap.acceptedAtMs, wantedAtMs = gap.wantedAtMs } = known
			const marks = {
				...(acceptedAtMs !== undefined && { acceptedAtMs }),
				...(wantedAtMs !== undefined && { wantedAtMs }),
			}
			return [number, { ...gap, ...marks }]
		}),
	)
}

/** Returns the number of open gaps found. */
export function applyGapMark(
	draft: Draft,
	{ network, numbers, mark }: { readonly network: string; readonly numbers: readonly bigint[]; readonly mark: GapMark },
): number {
	const record = draft.networks.get(network)
	const { act, atMs } = mark
	const gaps = new Map(record?.gaps)
	const open = [...new Set(numbers)].flatMap((number) => gaps.get(number) ?? []).filter(isOpen)
	if (record === undefined || open.length === 0) return 0
	for (const gap of open)
		gaps.set(
			gap.block.number,
			act === 'retry' ? { ...gap, wantedAtMs: atMs } : { ...gap, acceptedAtMs: gap.acceptedAtMs ?? atMs },
		)
	draft.networks.set(network, { ...record, gaps })
	draft.changed = true
	return open.length
}
