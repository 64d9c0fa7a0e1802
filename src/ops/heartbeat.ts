/**
 * Fetches a URL of an external dead man's switch while the program works. When the fetches stop, the switch raises the
 * alarm that this process cannot raise itself.
 */

import { createConnections } from '../base/net/connections.js'
import type { Log } from '../model/ports.js'

export interface Heartbeat {
	/** Fetches the URL; never throws. Logs when fetches begin to fail, and when they succeed again. */
	beat(): Promise<void>
	/** Also aborts a fetch under way. */
	close(): Promise<void>
}

const timeoutMs = 10_000
const connectTimeoutMs = 5_000
/** Shorter than the pause between two fetches: most services would have closed the connection by then. */
const idleMs = 4_000
const bodyLimitBytes = 65_536

export function createHeartbeat(url: string, log: Log): Heartbeat {
	const { host, origin, pathname, search } = new URL(url)
	const connections = createConnections(origin, { connections: 1, connectTimeoutMs, idleMs })
	let failing = false
	let closed = false

	function report(fails: boolean, words: string): void {
		if (fails === failing) return
		failing = fails
		if (fails)
			log.warn(
				{ host },
				`the heartbeat URL does not answer: ${words}; its service will raise an alarm if this continues`,
			)
		else log.info({ host }, 'the heartbeat URL answers again')
	}

	return {
		async beat() {
			const limit = AbortSignal.timeout(timeoutMs)
			try {
				const answer = await connections.send({ method: 'GET', path: pathname + search }, limit)
				let bytes = 0
				for await (const chunk of answer) {
					bytes += (chunk as Buffer).length
					if (bytes > bodyLimitBytes) break
				}
				const { statusCode = 0 } = answer
				report(statusCode < 200 || statusCode > 299, `${host} answers ${statusCode}`)
			} catch (error) {
				if (closed) return
				const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer'
				report(true, `${host}: ${limit.aborted ? 'no answer in time' : code}`)
			}
		},
		async close() {
			closed = true
			connections.close()
		},
	}
}
