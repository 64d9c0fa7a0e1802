/** Resolves after `ms`, or as soon as `signal` aborts. Never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
	if (signal.aborted) return Promise.resolve()
	return new Promise((resolve) => {
		const end = () => {
			clearTimeout(timer)
			signal.removeEventListener('abort', end)
			resolve()
		}
		// Timers hold 31 bits of milliseconds.
		const timer = setTimeout(end, Math.min(ms, 2 ** 31 - 1))
		signal.addEventListener('abort', end, { once: true })
	})
}
