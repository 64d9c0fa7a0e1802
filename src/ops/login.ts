/** Checks the password of a request (HTTP's Basic scheme, any user name). */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { createGuesses, type Verdict } from './guesses.js'

export interface Login {
	/** `none`: no password is configured, or none was sent. The comparison takes constant time. */
	ask(request: Pick<IncomingMessage, 'headers' | 'socket'>): Promise<Verdict | 'none'>
	/**
	 * A cookie for clients that sent the right password. It grants no access: with it, passwords are checked without the
	 * wait that guesses of others cause.
	 */
	readonly cookie: string
}

const cookieName = 'tracewatch_was_right'

export function createLogin(password: string | null, onFlood: (from: string) => void): Login {
	const wanted = digest(password ?? '')
	const pass = randomBytes(24).toString('base64url')
	const wantedPass = digest(pass)
	const guesses = createGuesses(onFlood)

	function isRight(authorization: string): boolean {
		const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization) ?? []
		const given = Buffer.from(encoded ?? '', 'base64').toString('utf8')
		const at = given.indexOf(':')
		const isSame = timingSafeEqual(digest(given.slice(at + 1)), wanted)
		return isSame && at >= 0
	}

	return {
		cookie: `${cookieName}=${pass}; Path=/; HttpOnly; SameSite=Strict`,
		async ask({ headers: { authorization, cookie }, socket }) {
			if (password === null || authorization === undefined) return 'none'
			const [, given] = new RegExp(`(?:^|; ?)${cookieName}=([A-Za-z0-9_-]+)`).exec(cookie ?? '') ?? []
			if (given !== undefined && timingSafeEqual(digest(given), wantedPass)) {
				return isRight(authorization) ? 'right' : 'wrong'
			}
			return guesses.check({
				from: socket.remoteAddress ?? '',
				isRight: () => isRight(authorization),
				isGone: () => socket.destroyed,
			})
		},
	}
}

/** Digests have equal lengths, which the comparison in constant time needs. */
function digest(text: string): Buffer {
	return createHash('sha256').update(text, 'utf8').digest()
}
