/**
 * Notifications from other instances that deliveries were added. They can be lost (a pooler, a lost connection), so
 * callers must also poll.
 */

import pg from 'pg'
import { backoffMs } from '../../../base/waits/backoff.js'
import type { Log } from '../../../model/ports.js'
import { connectionTo } from './database.js'

export const CHANNEL = 'tracewatch_posted'

export interface Listener {
	/** Starts listening; the first call connects. */
	listen(): void
	close(): Promise<void>
}

const FIRST_WAIT_MS = 500
const MOST_WAIT_MS = 30_000

/** `owner` marks the notifications of this instance, which are ignored. */
export function createListener(url: string, owner: string, wakeUp: () => void, log: Log | undefined): Listener {
	let client: pg.Client | null = null
	let timer: NodeJS.Timeout | null = null
	let failures = 0
	let closed = false
	let heard = false

	function connect(): void {
		const next = new pg.Client(connectionTo(url).config)
		client = next
		next.on('notification', ({ payload }) => {
			if (payload !== owner) wakeUp()
		})
		// Also emitted after an error.
		next.on('error', () => undefined)
		next.once('end', () => again(next))
		next
			.connect()
			.then(() => next.query(`listen ${CHANNEL}`))
			.then(() => {
				failures = 0
				// Notifications may have been lost while there was no connection.
				if (heard) wakeUp()
				heard = true
			})
			.catch((error: unknown) => {
				log?.debug({ err: error }, 'word of new deliveries from other instances cannot be heard; trying again')
				next.end().catch(() => undefined)
				again(next)
			})
	}

	function again(from: pg.Client): void {
		if (closed || client !== from) return
		client = null
		failures += 1
		timer = setTimeout(connect, backoffMs(failures, FIRST_WAIT_MS, MOST_WAIT_MS)).unref()
	}

	return {
		listen() {
			if (client === null && timer === null && !closed) connect()
		},
		async close() {
			closed = true
			if (timer !== null) clearTimeout(timer)
			const last = client
			client = null
			await last?.end().catch(() => undefined)
		},
	}
}
