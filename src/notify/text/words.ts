/** What went wrong on the way, said so that a person understands it and no secret is in it. */
import { printable } from '../../base/printable.js'

const meanings: Readonly<Record<string, string>> = {
	ECONNREFUSED: 'refused the connection',
	ECONNRESET: 'cut the connection',
	EPIPE: 'cut the connection',
	ECONNABORTED: 'cut the connection',
	ECONNECTION: 'closed the connection',
	UND_ERR_SOCKET: 'closed the connection',
	ENOTFOUND: 'has no address (DNS)',
	EAI_AGAIN: 'could not be looked up (DNS)',
	EDNS: 'could not be looked up (DNS)',
	ETIMEDOUT: 'did not answer in time',
	EHOSTUNREACH: 'cannot be reached',
	ENETUNREACH: 'cannot be reached',
	UND_ERR_CONNECT_TIMEOUT: 'did not answer in time',
	UND_ERR_HEADERS_TIMEOUT: 'did not answer in time',
	UND_ERR_BODY_TIMEOUT: 'did not answer in time',
	CERT_HAS_EXPIRED: 'shows an expired certificate',
	DEPTH_ZERO_SELF_SIGNED_CERT: 'shows a certificate that nobody known has signed',
	SELF_SIGNED_CERT_IN_CHAIN: 'shows a certificate that nobody known has signed',
	UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'shows a certificate that nobody known has signed',
	UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'shows a certificate that nobody known has signed',
	ERR_TLS_CERT_ALTNAME_INVALID: 'shows a certificate of another name',
	HPE_INVALID_CONSTANT: 'does not speak HTTP',
	UND_ERR_HEADERS_OVERFLOW: 'sent headers without end',
	EFORBIDDEN: 'is a link-local address, which is never contacted',
}

/** `host` is a name without path or user. Only codes are read from the error: its message may hold a URL. */
export function failureInWords(host: string, error: unknown): string {
	const code = codeOf(error)
	if (code === null) return `${host} could not be reached`
	const meaning = meanings[code]
	if (meaning !== undefined) return `${host} ${meaning}`
	if (/CERT|TLS|SSL/.test(code)) return `${host}: no secure connection (${code})`
	return `${host} could not be reached (${code})`
}

/** The code nearest to the cause, of an error, its causes, or the first of an aggregate. */
export function codeOf(error: unknown): string | null {
	for (let at = error; at instanceof Error; at = at.cause) {
		const own = (at as { originalCode?: unknown }).originalCode ?? (at as NodeJS.ErrnoException).code
		if (typeof own === 'string') return own
		if (at instanceof AggregateError && at.errors.length > 0) return codeOf(at.errors[0])
	}
	return null
}

/** Host and port of a URL: the only part of it that is ever printed. */
export function hostOf(url: URL): string {
	return url.host === '' ? url.hostname : url.host
}

/** The other side's own words, made short and printable. Hidden before they are cut: half a secret is found by nobody. */
export function quote(text: string, hideSecrets: (text: string) => string): string {
	return printable(hideSecrets(text), 160)
}
