/** An operator's commands for gaps, independent of polls. */

import { isOpen } from '../core/gaps.js'
import type { Gap, GapMark } from '../model/state.js'
import type { NetworkRecord } from './document.js'

interface Draft {
	readonly networks: Map<string, NetworkRecord>
	changed: boolean
}

/** `found`: number of those that are open gaps. */
function marked(
	gaps: ReadonlyMap<bigint, Gap>,
	numbers: readonly bigint[],
	{ act, atMs }: GapMark,
): { readonly gaps: ReadonlyMap<bigint, Gap>; readonly found: number } {
	const open = [...new Set(numbers)].flatMap((number) => {
		const gap = gaps.get(number)
		return gap === undefined || !isOpen(gap) ? [] : [gap]
	})
	const after = open.map((gap): readonly [bigint, Gap] => [
		gap.block.number,
		act === 'retry' ? { ...gap, wantedAtMs: atMs } : { ...gap, acceptedAtMs: gap.acceptedAtMs ?? atMs },
	])
	return { gaps: new Map([...gaps, ...after]), found: open.length }
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

/** Returns the number of gaps found; a draft as in `changes.ts`. */
export function applyGapMark(draft: Draft, network: string, numbers: readonly bigint[], mark: GapMark): number {
	const record = draft.networks.get(network)
	if (record === undefined) return 0
	const { gaps, found } = marked(record.gaps, numbers, mark)
	if (found === 0) return 0
	draft.networks.set(network, { ...record, gaps })
	draft.changed = true
	return found
}
