/** How many blocks one request may span at an endpoint: learnt from its refusals, grown slowly by its answers. */
export interface Pace {
	readonly blocks: number
	/** What the node itself named as its limit, in blocks. */
	readonly limit: number | null
	/** Full spans answered since the last change; below zero after a refusal, to grow later. */
	readonly streak: number
}

export interface Bounds {
	/** Blocks in the first request. */
	readonly first: number
	/** Blocks where growth ends. */
	readonly most: number
}

/** Rows that one part may bring: some megabytes of JSON, of which each costs eight of memory while it is parsed. */
const ROWS = 4_000
const STREAK_TO_GROW = 4
const STREAK_AFTER_REFUSAL = -12

export function startPace({ first }: Bounds): Pace {
	return { blocks: first, limit: null, streak: 0 }
}

/** After an answer of `rows` rows to a request for `asked` blocks. */
export function afterAnswer(pace: Pace, asked: number, rows: number, bounds: Bounds): Pace {
	if (rows > ROWS) return { ...pace, blocks: Math.max(1, Math.floor((asked * ROWS) / rows)), streak: 0 }
	if (asked < pace.blocks || rows > ROWS / 2) return pace
	const streak = pace.streak + 1
	if (streak < STREAK_TO_GROW) return { ...pace, streak }
	const blocks = Math.min(Math.ceil(pace.blocks * 1.5), pace.limit ?? bounds.most, bounds.most)
	return { ...pace, blocks: Math.max(blocks, 1), streak: 0 }
}

/** After a refusal of `asked` blocks as too many, with the number that the node named, if it did. Always asks for less. */
export function afterRefusal(pace: Pace, asked: number, limit: number | undefined): Pace {
	const half = Math.max(1, Math.floor(asked / 2))
	const named = limit !== undefined && limit >= 1 && limit < asked ? Math.floor(limit) : null
	return { blocks: named ?? half, limit: named ?? pace.limit, streak: STREAK_AFTER_REFUSAL }
}
