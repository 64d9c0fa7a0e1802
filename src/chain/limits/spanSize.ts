/** How many blocks one request may span at an endpoint: learnt from its refusals, grown slowly by its answers. */
export interface SpanSize {
	readonly blocks: number
	/** The limit in blocks that the node named. It is tried again after a while: it may hold for crowded blocks only. */
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

/** Some megabytes of JSON, of which each costs eight of memory while it is parsed. */
const mostRows = 4_000
const STREAK_TO_GROW = 4
const STREAK_BEYOND_LIMIT = 100
const STREAK_AFTER_REFUSAL = -12

export function startSpanSize({ first }: Bounds): SpanSize {
	return { blocks: first, limit: null, streak: 0 }
}

/** After an answer of `rows` rows to a request for `asked` blocks. */
export function afterAnswer(size: SpanSize, asked: number, rows: number, bounds: Bounds): SpanSize {
	if (rows > mostRows) return { ...size, blocks: Math.max(1, Math.floor((asked * mostRows) / rows)), streak: 0 }
	if (asked < size.blocks || rows > mostRows / 2) return size
	const streak = size.streak + 1
	if (streak < STREAK_TO_GROW) return { ...size, streak }
	if (size.blocks === size.limit && streak < STREAK_BEYOND_LIMIT) return { ...size, streak }
	const limit = size.blocks === size.limit ? null : size.limit
	const blocks = Math.min(Math.ceil(size.blocks * 1.5), limit ?? bounds.most, bounds.most)
	return { blocks: Math.max(blocks, 1), limit, streak: 0 }
}

/** The size after the node refused `asked` blocks as too many; `limit` is the number that it named. Always smaller. */
export function afterRefusal(size: SpanSize, asked: number, limit: number | undefined): SpanSize {
	const half = Math.max(1, Math.floor(asked / 2))
	const named = limit !== undefined && limit >= 1 && limit < asked ? Math.floor(limit) : null
	return { blocks: named ?? half, limit: named ?? size.limit, streak: STREAK_AFTER_REFUSAL }
}
