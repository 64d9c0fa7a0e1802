/** Whether a request knows the password, by HTTP's Basic scheme and whatever user it names. */

import { createHash, timingSafeEqual } from 'node:crypto'

/** Without a password nobody is known. How long it takes does not depend on how much of the password is right. */
export function createLogin(password: string | null): (authorization: string | undefined) => boolean {
	if (password === null) return () => false
	const wanted = digest(password)
	return (authorization = '') => {
		const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization) ?? []
		const given = Buffer.from(encoded ?? '', 'base64').toString('utf8')
		const at = given.indexOf(':')
		const isRight = timingSafeEqual(digest(given.slice(at + 1)), wanted)
		return isRight && at >= 0
	}
}

/** Of one length, whatever is compared. */
function digest(text: string): Buffer {
	return createHash('sha256').update(text, 'utf8').digest()
}
