/**
 * The room makes checked trees of frames from the answers of nodes: Parity rows (`parityRows.ts`, `rowTree.ts`) and the
 * calls of a tracer (`callTracer.ts`).
 */

import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import type { Frame } from '../../model/chain.js'
import { isLeftOut } from './numbering.js'

/** A frame whose place is kept beside it: a path in each frame would take memory by breadth times depth. */
export type PlacelessFrame = Omit<Frame, 'traceAddress'>

/** A list, or values that are made anew each time. */
export interface Sequence<T> {
	readonly length: number
	/** Undefined beyond its end. */
	at(index: number): T | undefined
}

/** The frames of one transaction. */
export interface Tree {
	/** Depth first: parents before their children, children in their order; the first is the root. At least one. */
	readonly frames: Sequence<PlacelessFrame>
	/** For each frame, the index in `frames` of the frame above it; -1 for the root. */
	readonly parents: ArrayLike<number>
}

/**
 * The longest trace address that a node can give. The EVM goes 1,024 calls deep ("call depth limit": Yellow Paper
 * 9.4.2, geth's `params.CallCreateDepth`); nodes also list the call that was refused below that, and a self-destruct is
 * a frame below the one that ran it.
 */
export const MOST_DEPTH = 1_026

/**
 * The frames that `keeps` accepts and all frames above them, each with its trace address: numbered as the node does,
 * less the calls that nodes do not agree on (see `numbering.ts`). Linear in the size of the tree, except for the paths
 * of kept frames.
 */
export async function framesOf(
	{ frames, parents }: Tree,
	keeps: (frame: PlacelessFrame, isRoot: boolean) => boolean = () => true,
): Promise<readonly Frame[]> {
	const kept = new Uint8Array(frames.length)
	for (let at = 0; at < frames.length; at++) {
		if (isSliceOver()) await nextSlice()
		if (!keeps(frames.at(at) as PlacelessFrame, at === 0)) continue
		for (let up = at; up >= 0 && kept[up] === 0; up = parents[up] ?? -1) kept[up] = 1
	}
	const listed: Frame[] = []
	const paths = new Map<number, readonly number[]>()
	/** How many children of each frame are numbered so far. */
	const numbered = new Uint32Array(frames.length)
	for (let at = 0; at < frames.length; at++) {
		if (isSliceOver()) await nextSlice()
		const frame = frames.at(at) as PlacelessFrame
		const parent = parents[at] ?? -1
		// A precompiled contract makes no calls: a frame with children is none, whatever its address.
		const hasChildren = parents[at + 1] === at
		if (parent >= 0 && !hasChildren && isLeftOut(frame)) continue
		const step = parent < 0 ? 0 : (numbered[parent] ?? 0)
		if (parent >= 0) numbered[parent] = step + 1
		if (kept[at] === 0) continue
		const traceAddress = parent < 0 ? [] : [...(paths.get(parent) ?? []), step]
		// Only frames with children need their path again.
		if (hasChildren) paths.set(at, traceAddress)
		listed.push({ ...frame, traceAddress })
	}
	return listed
}
