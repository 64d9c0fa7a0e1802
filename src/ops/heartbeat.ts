/**
 * Tells a dead man's switch elsewhere that watching goes on; its silence is the alarm that this process cannot give.
 */

import { createConnections } from '../base/connections.js'
import type { Log } from '../model/ports.js'

export interface Heartbeat {
	/** Fetches the URL; never throws. Says when it begins to fail, and when it works again. */
	beat(): Promise<void>
	/** Also ends a fetch under way. */
	close(): Promise<void>
}

const timeoutMs = 10_000
const connectTimeoutMs = 5_000
/** It is beaten more seldom than most services keep a connection. */
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
			log.warn({ host }, `the heartbeat is not heard: ${words}; its service will raise an alarm if that goes on`)
		else log.info({ host }, 'the heartbeat is heard again')
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
