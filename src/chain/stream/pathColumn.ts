import { createNumberColumn } from './numberColumn.js'

/** Trace addresses. Each mostly begins like the one before: only the rest is stored. Fast when read in order. */
export interface PathColumn {
	/** Returns how many steps were stored. */
	push(path: readonly number[]): number
	/** Returns a new list. */
	at(index: number): readonly number[]
	depthAt(index: number): number
}

/** One path in 32 is stored whole, so that reading can start there. */
const wholeEach = 32

export function createPathColumn(): PathColumn {
	const depths = createNumberColumn()
	/** Where the steps of each path end. */
	const ends = createNumberColumn()
	const steps = createNumberColumn()
	let pushed: readonly number[] = []
	let path: number[] = []
	let place = -1

	function readAt(index: number): void {
		const end = ends.at(index)
		const depth = depths.at(index)
		let from = index === 0 ? 0 : ends.at(index - 1)
		path.length = depth - (end - from)
		while (from < end) path.push(steps.at(from++))
		place = index
	}

	return {
		push(one) {
			const index = depths.length
			let kept = 0
			if (index % wholeEach !== 0) {
				const most = Math.min(one.length, pushed.length)
				while (kept < most && one[kept] === pushed[kept]) kept++
			}
			for (let at = kept; at < one.length; at++) steps.push(one[at] as number)
			depths.push(one.length)
			ends.push(steps.length)
			pushed = one
			return one.length - kept
		},
		at(index) {
			if (index !== place) {
				const first = index - (index % wholeEach)
				if (place < first || place > index) {
					path = []
					readAt(first)
				}
				while (place < index) readAt(place + 1)
			}
			return path.slice()
		},
		depthAt: depths.at,
	}
}
