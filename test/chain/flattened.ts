/**
 * A tree of callTracer as frames that are numbered as they stand in it: what was read, before any numbering of ours.
 */
import { readCalls } from '../../src/chain/traces/callTracer.js'
import type { PlacelessFrame } from '../../src/chain/traces/tree.js'
import type { Reading } from '../../src/chain/wire/wire.js'
import type { Frame } from '../../src/model/chain.js'

export async function flattened(raw: unknown, reading: Reading): Promise<readonly Frame[]> {
	const { frames, parents } = await readCalls(raw, reading)
	const paths: number[][] = []
	const children = new Map<number, number>()
	return Array.from({ length: frames.length }, (_, at) => frames.at(at) as PlacelessFrame).map((frame, at) => {
		const parent = parents[at] ?? -1
		const step = children.get(parent) ?? 0
		children.set(parent, step + 1)
		const traceAddress = parent < 0 ? [] : [...(paths[parent] ?? []), step]
		paths.push(traceAddress)
		return { ...frame, traceAddress }
	})
}
