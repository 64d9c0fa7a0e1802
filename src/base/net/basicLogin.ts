import { decoded } from '../secrets/urlSecrets.js'

/** The `Authorization` header for the user and password of a URL; null: it has neither. */
export function basicLogin({ username, password }: URL): string | null {
	const login = `${decoded(username)}:${decoded(password)}`
	return login === ':' ? null : `Basic ${Buffer.from(login, 'utf8').toString('base64')}`
}
