/**
 * Fetches a URL of an external dead man's switch while the program works. When the fetches stop, the switch raises the
 * alarm that this process cannot raise itself.
 */

import { basicLogin } from '../base/net/basicLogin.js'
import { createConnections } from '../base/net/connections.js'
import { codeOf } from '../base/systemError.js'
import type { Log } from '../model/ports.js'

export type Heartbeat = ReturnType<typeof createHeartbeat>

const timeoutMs = 10_000
const limits = { connections: 1, connectTimeoutMs: 5_000 }

export function createHeartbeat(url: string, log: Log) {
	const target = new URL(url)
	const { host, origin, pathname, search } = target
	const login = basicLogin(target)
	const headers = login === null ? {} : { authorization: login }
	const connections = createConnections(origin, limits)
	let failing = false
	let closed = false

	/** What is wrong; null: nothing. */
	async function fetched(): Promise<string | null> {
		const limit = AbortSignal.timeout(timeoutMs)
		try {
			const answer = await connections.send({ method: 'GET', path: pathname + search, headers }, limit)
			// Only the status counts, and the service would have closed the connection by the next fetch.
			answer.destroy()
			const { statusCode = 0 } = answer
			return statusCode >= 200 && statusCode <= 299 ? null : `${host} answers ${statusCode}`
		} catch (error) {
			return `${host}: ${limit.aborted ? 'no answer in time' : (codeOf(error) ?? 'no answer')}`
		}
	}

	return {
		/** Fetches the URL; never throws. Logs when fetches begin to fail, and when they succeed again. */
		async beat() {
			const wrong = await fetched()
			if (closed || (wrong !== null) === failing) return
			failing = wrong !== null
			const warning = `the heartbeat URL does not answer: ${wrong}; its service will raise an alarm if this continues`
			if (failing) log.warn({ host }, warning)
			else log.info({ host }, 'the heartbeat URL answers again')
		},
		/** Also aborts a fetch under way. */
		async close() {
			closed = true
			connections.close()
		},
	}
}
