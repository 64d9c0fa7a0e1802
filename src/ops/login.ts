/** Whether a request knows the password, by HTTP's Basic scheme and whatever user it names. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { createGuesses, type Verdict } from './guesses.js'

export interface Login {
	/** `none`: no password is asked for, or none was given. How long it takes says nothing of how much is right. */
	ask(request: Pick<IncomingMessage, 'headers' | 'socket'>): Promise<Verdict | 'none'>
	/** A cookie for who was right. It opens nothing: with it the password is checked at once, whoever guesses besides. */
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

/** Of one length, whatever is compared. */
function digest(text: string): Buffer {
	return createHash('sha256').update(text, 'utf8').digest()
}
