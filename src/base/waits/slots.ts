export type Slots = ReturnType<typeof createSlots>

/** A semaphore: at most `limit` holders at once, first come first served. */
export function createSlots(limit: number) {
	let free = limit
	const queue: (() => void)[] = []
	const giveBack = () => {
		const next = queue.shift()
		if (next === undefined) free += 1
		else next()
	}
	return {
		/** Waits for a slot. Resolves to the function that frees it again. */
		async take(): Promise<() => void> {
			if (free > 0) free -= 1
			else await new Promise<void>((resolve) => queue.push(resolve))
			return giveBack
		},
	}
}
