import type { Frame } from '../../model/chain.js'

/**
 * One numbering of frames for all nodes, because alert ids are made of it: that of the trace_* methods of OpenEthereum,
 * Erigon, Nethermind and Reth, which leave out calls to precompiled contracts that carry no value. geth's callTracer and
 * Anvil list those calls, and all their later siblings would have other numbers (dialects: sections 6 and 11).
 */

/** Precompiled contracts of Ethereum up to Osaka: 0x1 to 0x11, and 0x100. */
const PRECOMPILED = /^0x0{38}(?:0[1-9a-f]|1[01])$|^0x0{37}100$/

/** Drops the calls that the numbering leaves out. `frames` is one whole tree, parents before children. */
export function renumber(frames: readonly Frame[]): readonly Frame[] {
	if (!frames.some(isLeftOut)) return frames
	/** By the path of a parent: the numbers of its children that are left out. */
	const leftOut = new Map<string, number[]>()
	const kept: Frame[] = []
	for (const frame of frames) {
		const path = frame.traceAddress
		if (isLeftOut(frame)) {
			const parent = path.slice(0, -1).join('_')
			leftOut.set(parent, [...(leftOut.get(parent) ?? []), path.at(-1) ?? 0])
			continue
		}
		kept.push(frame)
	}
	return kept.map((frame) => ({ ...frame, traceAddress: renumbered(frame.traceAddress, leftOut) }))
}

function renumbered(path: readonly number[], leftOut: ReadonlyMap<string, readonly number[]>): readonly number[] {
	return path.map((step, depth) => {
		const gone = leftOut.get(path.slice(0, depth).join('_'))
		return gone === undefined ? step : step - gone.filter((number) => number < step).length
	})
}

function isLeftOut({ type, callType, valueWei, traceAddress, to }: Frame): boolean {
	if (type !== 'call' || traceAddress.length === 0 || to === null) return false
	return (callType !== 'call' || valueWei === 0n) && PRECOMPILED.test(to)
}
