/** A question that is put before its turn; the answer waits until everything before it was taken. */
export type Job<T> = (signal: AbortSignal) => Promise<T>

export interface AheadOptions {
	/** How many jobs may be under way now; asked before each is started. */
	readonly width: () => number
	readonly signal: AbortSignal
}

/**
 * Runs jobs ahead of their turn and yields their results in order. Jobs are taken one by one, so each can follow from
 * what is known by then. A failure is thrown in its turn, after all results before it; then, and when the caller stops
 * early, what is still under way is aborted.
 */
export async function* inOrder<T>(jobs: Iterator<Job<T>>, { width, signal }: AheadOptions): AsyncGenerator<T> {
	const stop = new AbortController()
	const abort = () => stop.abort(signal.reason)
	if (signal.aborted) abort()
	signal.addEventListener('abort', abort, { once: true })
	const running: Promise<T>[] = []
	let ended = false
	try {
		for (;;) {
			while (!ended && running.length < Math.max(1, width())) {
				const next = jobs.next()
				ended = next.done === true
				if (next.done === true) break
				const result = next.value(stop.signal)
				// Its failure is thrown in its turn; until then it is nobody's.
				result.catch(() => {})
				running.push(result)
			}
			const first = running.shift()
			if (first === undefined) return
			yield await first
		}
	} finally {
		signal.removeEventListener('abort', abort)
		stop.abort()
	}
}
