/** A semaphore: at most `limit` holders at once, first come first served. */
export interface Slots {
	/** Waits for a slot. Resolves to the function that frees it again. */
	take(): Promise<() => void>
}

export function createSlots(limit: number): Slots {
	let free = limit
	const queue: (() => void)[] = []
	const giveBack = () => {
		const next = queue.shift()
		if (next === undefined) free += 1
		else next()
	}
	return {
		async take() {
			if (free > 0) free -= 1
			else await new Promise<void>((resolve) => queue.push(resolve))
			return giveBack
		},
	}
}
