/** Checks the password of a request (HTTP's Basic scheme, any user name). */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** `none`: no password is configured, or none was sent. */
type Verdict = 'right' | 'wrong' | 'too-many' | 'none'

/** A client's next password is checked so much later after a wrong one. */
const DELAY_MS = 500
/** Requests of one client that wait for their check; more are refused. */
const MOST_WAITING = 20

interface Client {
	waiting: number
	checked: Promise<unknown>
	isFlooding: boolean
}

/**
 * Returns the check. Passwords of one address are checked one after another, and after a wrong one the next waits. The
 * comparison takes constant time. `onFlood` is called once when a client
 * begins to be refused.
 */
export function createLogin(
	password: string | null,
	onFlood: (from: string) => void,
): (request: Pick<IncomingMessage, 'headers' | 'socket'>) => Promise<Verdict> {
	const wanted = digest(password ?? '')
	const clients = new Map<string, Client>()
	return async ({ headers: { authorization }, socket }) => {
		if (password === null || authorization === undefined) return 'none'
		const from = socket.remoteAddress ?? ''
		const client = clients.get(from) ?? { waiting: 0, checked: Promise.resolve(), isFlooding: false }
		if (client.waiting >= MOST_WAITING) {
			if (!client.isFlooding) onFlood(from)
			client.isFlooding = true
			return 'too-many'
		}
		clients.set(from, client)
		client.waiting += 1
		const turn = client.checked.then(() => timingSafeEqual(digest(passwordIn(authorization)), wanted))
		client.checked = turn.then((isRight) =>
			isRight ? undefined : new Promise((resolve) => setTimeout(resolve, DELAY_MS).unref()),
		)
		// A client counts until its delay is over, so that a new connection does not begin anew.
		const forget = () => {
			client.waiting -= 1
			if (client.waiting === 0) clients.delete(from)
		}
		client.checked.then(forget)
		return (await turn) ? 'right' : 'wrong'
	}
}

function passwordIn(authorization: string): string {
	const [, encoded = ''] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization) ?? []
	return /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8'))?.[1] ?? ''
}

/** Digests have equal lengths, which the comparison in constant time needs. */
function digest(text: string): Buffer {
	return createHash('sha256').update(text, 'utf8').digest()
}
