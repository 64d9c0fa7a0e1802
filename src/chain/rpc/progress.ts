/** Whether a large answer of an endpoint goes on coming, or is worked on here. */
export interface Progress {
	/** Some more of it has come, or was looked at. */
	note(): void
	/** Since it last did; infinite where none ever came. */
	sinceMs(): number
}

/** `now`: in milliseconds, never backwards. `onProgress`: who else is to know. */
export function createProgress(now: () => number, onProgress: (() => void) | undefined): Progress {
	let atMs = Number.NEGATIVE_INFINITY
	return {
		note() {
			atMs = now()
			onProgress?.()
		},
		sinceMs: () => now() - atMs,
	}
}
