import { setMaxListeners } from 'node:events'
import { RpcError } from '../../errors.js'

/** In milliseconds; throws the signal's reason. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>

/** Waits that end when the endpoint is closed: a probe in the background would keep the process alive. */
export function createClosing(
	endpoint: string,
	wait: Wait,
	close: () => Promise<void>,
): { readonly wait: Wait; readonly close: () => Promise<void> } {
	const closing = new AbortController()
	// Every request in retry listens to it; that is no leak.
	setMaxListeners(0, closing.signal)
	return {
		/** Throws RpcError if the endpoint is closed before or during the wait. */
		async wait(ms, signal) {
			const either = new AbortController()
			const end = () => either.abort()
			const both = [signal, closing.signal]
			for (const one of both) one.addEventListener('abort', end, { once: true })
			try {
				if (both.some(({ aborted }) => aborted)) end()
				await wait(ms, either.signal)
			} catch (error) {
				signal.throwIfAborted()
				if (!closing.signal.aborted) throw error
				throw new RpcError(`${endpoint} is closed and not asked again`, { kind: 'network', endpoint })
			} finally {
				for (const one of both) one.removeEventListener('abort', end)
			}
		},
		close() {
			closing.abort()
			return close()
		},
	}
}
