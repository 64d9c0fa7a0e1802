/** Connection failures in words, without secrets. */

import { systemWords } from '../../base/systemError.js'
import { printableForeign } from '../../base/text/printable.js'
import type { Outcome } from '../../model/delivery.js'

/** The outcome when the receiver gave no answer. */
export function notReached(host: string, error: unknown): Outcome {
	return { result: 'retry', code: 'failed', reason: failureInWords(host, error) }
}

/** `host` is a name without path or user. Only the error's codes are used, because its message may contain a URL. */
function failureInWords(host: string, error: unknown): string {
	const code = innermostCode(error)
	if (code === null) return `${host} could not be reached`
	if (code === 'EFORBIDDEN') return `${host} is a link-local or metadata address, which is never contacted`
	const meaning = systemWords(code)
	if (meaning !== null) return `${host}: ${meaning}`
	if (isTlsFault(code)) return `${host}: no secure connection (${code})`
	return `${host} could not be reached (${code})`
}

/** Whether a code of the system or of Node means a certificate or TLS failure. */
export function isTlsFault(code: string | null): boolean {
	return code !== null && /CERT|TLS|SSL|LEAF_SIGNATURE/.test(code)
}

/** The code nearest to the root cause: of the error, its causes, or the first error of an aggregate. */
export function innermostCode(error: unknown): string | null {
	for (let at = error; at instanceof Error; at = at.cause) {
		const own = (at as { originalCode?: unknown }).originalCode ?? (at as NodeJS.ErrnoException).code
		if (typeof own === 'string') return own
		if (at instanceof AggregateError && at.errors.length > 0) return innermostCode(at.errors[0])
	}
	return null
}

/**
 * The receiver's own words, shortened and printable, without links and mentions. Secrets are removed before the text is
 * cut, because a cut secret would not be recognised.
 */
export function quote(text: string, hideSecrets: (text: string) => string): string {
	// The search takes time with the square of the length where a text repeats the beginning of a secret.
	return printableForeign(hideSecrets(text.slice(0, 8_192)), 160)
}
