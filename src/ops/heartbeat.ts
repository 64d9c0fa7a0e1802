/**
 * Fetches a URL of an external dead man's switch while the program works. When the fetches stop, the switch raises the
 * alarm that this process cannot raise itself.
 */

import { createConnections } from '../base/net/connections.js'
import { codeOf } from '../base/systemError.js'
import type { Log } from '../model/ports.js'

export interface Heartbeat {
	/** Fetches the URL; never throws. Logs when fetches begin to fail, and when they succeed again. */
	beat(): Promise<void>
	/** Also aborts a fetch under way. */
	close(): Promise<void>
}

const timeoutMs = 10_000
/** `idleMs` is shorter than the pause between two fetches: most services would have closed the connection by then. */
const limits = { connections: 1, connectTimeoutMs: 5_000, idleMs: 4_000 }
const bodyLimitBytes = 65_536

export function createHeartbeat(url: string, log: Log): Heartbeat {
	const { host, origin, pathname, search } = new URL(url)
	const connections = createConnections(origin, limits)
	let failing = false
	let closed = false

	/** What is wrong; null: nothing. */
	async function fetched(): Promise<string | null> {
		const limit = AbortSignal.timeout(timeoutMs)
		try {
			const answer = await connections.send({ method: 'GET', path: pathname + search }, limit)
			let bytes = 0
			for await (const chunk of answer) {
				bytes += (chunk as Buffer).length
				if (bytes > bodyLimitBytes) break
			}
			const { statusCode = 0 } = answer
			return statusCode >= 200 && statusCode <= 299 ? null : `${host} answers ${statusCode}`
		} catch (error) {
			return `${host}: ${limit.aborted ? 'no answer in time' : (codeOf(error) ?? 'no answer')}`
		}
	}

	return {
		async beat() {
			const wrong = await fetched()
			if (closed || (wrong !== null) === failing) return
			failing = wrong !== null
			const warning = `the heartbeat URL does not answer: ${wrong}; its service will raise an alarm if this continues`
			if (failing) log.warn({ host }, warning)
			else log.info({ host }, 'the heartbeat URL answers again')
		},
		async close() {
			closed = true
			connections.close()
		},
	}
}
