/** Tracks whether a large answer of an endpoint is still arriving or being processed. */
export interface Progress {
	/** More of it has arrived or was processed. */
	note(): void
	/** Processes an answer, which no network can hold up: this is progress until it ends. */
	during<T>(work: () => Promise<T>): Promise<T>
	/** Milliseconds since the last `note`; infinite before the first. */
	sinceMs(): number
}

const noteEveryMs = 1_000

/** `now`: in milliseconds, never backwards. `onProgress`: called at each `note`. */
export function createProgress(now: () => number, onProgress: (() => void) | undefined): Progress {
	let atMs = Number.NEGATIVE_INFINITY
	function note(): void {
		atMs = now()
		onProgress?.()
	}
	return {
		note,
		async during(work) {
			const timer = setInterval(note, noteEveryMs)
			try {
				return await work()
			} finally {
				clearInterval(timer)
				note()
			}
		},
		sinceMs: () => now() - atMs,
	}
}
