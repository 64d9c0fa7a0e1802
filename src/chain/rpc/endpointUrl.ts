/** An endpoint's URL, taken apart once: what may be shown, what is sent, and what must never be seen. */

import { hiderOf } from '../../base/secrets/hide.js'
import { decoded, urlSecrets } from '../../base/secrets/urlSecrets.js'
import { PlainError } from '../../errors.js'

export interface EndpointUrl {
	/** Host and port: the endpoint's name in logs, errors and metrics. */
	readonly name: string
	readonly origin: string
	/** Path and query, where keys are. */
	readonly path: string
	/** The header's value, from the user and password of the URL. */
	readonly authorization: string | null
	/** Replaces the secrets in a text from a node: some nodes quote the URL that was requested. */
	scrub(text: string): string
}

/** Throws PlainError, without the URL in it, when it is not http or https. */
export function readEndpointUrl(text: string): EndpointUrl {
	// `new URL` puts its input into the error.
	const url = URL.canParse(text) ? new URL(text) : null
	if (url === null) throw new PlainError('An rpc URL is not a URL.')
	if (url.protocol !== 'http:' && url.protocol !== 'https:') {
		throw new PlainError(`The rpc URL at ${url.host} must begin with http:// or https://.`)
	}
	const login = `${decoded(url.username)}:${decoded(url.password)}`
	const basic = login === ':' ? null : Buffer.from(login, 'utf8').toString('base64')
	return {
		name: url.host,
		origin: url.origin,
		path: url.pathname + url.search,
		authorization: basic === null ? null : `Basic ${basic}`,
		scrub: hiderOf(basic === null ? urlSecrets(url) : [...urlSecrets(url), basic, login]),
	}
}
