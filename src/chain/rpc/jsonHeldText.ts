/** The bytes of one text that stands in several chunks. */
export interface HeldText {
	/** From now on bytes are held, at most so many. */
	begin(mostBytes: number): void
	isOpen(): boolean
	/** How many of the bytes were taken: none while nothing is held. */
	add(chunk: Buffer, from: number, to: number): number
	/** All of them, once. */
	take(): Buffer
}

export function createHeldText(): HeldText {
	let parts: Buffer[] | null = null
	let left = 0
	return {
		begin(mostBytes) {
			parts = []
			left = mostBytes
		},
		isOpen: () => parts !== null,
		add(chunk, from, to) {
			if (parts === null) return 0
			const count = Math.max(0, Math.min(to - from, left))
			left -= count
			// A copy: the chunk is used again for what comes next.
			if (count > 0) parts.push(Buffer.from(chunk.subarray(from, from + count)))
			return count
		},
		take() {
			const bytes = Buffer.concat(parts ?? [])
			parts = null
			return bytes
		},
	}
}
