/** What went wrong on the way, said so that a person understands it and no secret is in it. */
import { printable } from '../../base/printable.js'
import { systemWords } from '../../base/systemError.js'
import type { Outcome } from '../../model/delivery.js'

/** The other side gave no answer. */
export function notReached(host: string, error: unknown): Outcome {
	const code = isTlsFault(innermostCode(error)) ? 'no-tls' : 'no-answer'
	return { result: 'retry', code, reason: failureInWords(host, error) }
}

/** `host` is a name without path or user. Only codes are read from the error: its message may hold a URL. */
function failureInWords(host: string, error: unknown): string {
	const code = innermostCode(error)
	if (code === null) return `${host} could not be reached`
	if (code === 'EFORBIDDEN') return `${host} is a link-local address, which is never contacted`
	const meaning = systemWords(code)
	if (meaning !== null) return `${host}: ${meaning}`
	if (isTlsFault(code)) return `${host}: no secure connection (${code})`
	return `${host} could not be reached (${code})`
}

/** By the code of the system or of Node: certificates, and connections that do not become secure ones. */
export function isTlsFault(code: string | null): boolean {
	return code !== null && /CERT|TLS|SSL/.test(code)
}

/** The code nearest to the cause, of an error, its causes, or the first of an aggregate. */
export function innermostCode(error: unknown): string | null {
	for (let at = error; at instanceof Error; at = at.cause) {
		const own = (at as { originalCode?: unknown }).originalCode ?? (at as NodeJS.ErrnoException).code
		if (typeof own === 'string') return own
		if (at instanceof AggregateError && at.errors.length > 0) return innermostCode(at.errors[0])
	}
	return null
}

/** Host and port of a URL: the only part of it that is ever printed. */
export function hostOf(url: URL): string {
	return url.host === '' ? url.hostname : url.host
}

/**
 * The other side's own words, made short and printable. Hidden before they are cut: half a secret is found by nobody.
 */
export function quote(text: string, hideSecrets: (text: string) => string): string {
	return printable(hideSecrets(text), 160)
}
