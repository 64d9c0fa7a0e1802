/**
 * Runs `work` with a signal that aborts after `limitMs` or with `signal`, whichever is first; `timedOut` tells which.
 * Not `AbortSignal.any`: that leaks on Node 20 when one of its sources lives as long as the program.
 */
export async function withTimeLimit<T>(
	limitMs: number,
	signal: AbortSignal,
	work: (limited: AbortSignal, timedOut: () => boolean) => Promise<T>,
): Promise<T> {
	const controller = new AbortController()
	let late = false
	const stop = () => controller.abort()
	const timer = setTimeout(() => {
		late = true
		stop()
	}, limitMs)
	if (signal.aborted) stop()
	signal.addEventListener('abort', stop, { once: true })
	try {
		return await work(controller.signal, () => late)
	} finally {
		clearTimeout(timer)
		signal.removeEventListener('abort', stop)
	}
}
