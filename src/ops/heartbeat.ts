/**
 * Tells a dead man's switch elsewhere that watching goes on; its silence is the alarm that this process cannot give.
 */

import { Agent, request } from 'undici'
import { neverHeldBack } from '../base/neverHeldBack.js'
import type { Log } from '../model/ports.js'

export interface Heartbeat {
	/** Fetches the URL; never throws. Says when it begins to fail, and when it works again. */
	beat(): Promise<void>
	/** Also ends a fetch under way. */
	close(): Promise<void>
}

const timeoutMs = 10_000

export function createHeartbeat(url: string, log: Log): Heartbeat {
	const agent = new Agent({ connections: 1, connect: { timeout: 5_000 } })
	const { host } = new URL(url)
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
			try {
				const limit = AbortSignal.timeout(timeoutMs)
				const { statusCode, body } = await request(url, {
					dispatcher: agent,
					signal: limit,
					highWaterMark: neverHeldBack,
				})
				await body.dump({ limit: 65_536, signal: limit })
				report(statusCode < 200 || statusCode > 299, `${host} answers ${statusCode}`)
			} catch (error) {
				if (closed) return
				const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer in time'
				report(true, `${host}: ${code}`)
			}
		},
		async close() {
			closed = true
			await agent.destroy()
		},
	}
}
