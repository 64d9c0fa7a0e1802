/** Checks the password of a request (HTTP's Basic scheme, any user name). */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** A client's next password is checked so much later after a wrong one. */
const DELAY_MS = 500

/**
 * Returns the check: false where no password is configured, or none was sent. Passwords of one address are checked one
 * after another, and after a wrong one the next waits. The comparison takes constant time.
 */
export function createLogin(
	password: string | null,
): (request: Pick<IncomingMessage, 'headers' | 'socket'>) => Promise<boolean> {
	const wanted = digest(password ?? '')
	/** By address: the end of its last check and delay. A new connection does not begin anew. */
	const busy = new Map<string, Promise<unknown>>()
	return async ({ headers: { authorization }, socket }) => {
		if (password === null || authorization === undefined) return false
		const { remoteAddress = '' } = socket
		const before = busy.get(remoteAddress) ?? Promise.resolve()
		const turn = before.then(() => timingSafeEqual(digest(passwordIn(authorization)), wanted))
		// Who has gone gets no answer to learn from; open connections are few (`connectionLimit.ts`), closed ones are not.
		const over = turn.then((isRight) =>
			isRight || socket.destroyed ? undefined : new Promise((resolve) => setTimeout(resolve, DELAY_MS).unref()),
		)
		busy.set(remoteAddress, over)
		over.then(() => busy.get(remoteAddress) === over && busy.delete(remoteAddress))
		return await turn
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
