import { z } from 'zod'

/** Lower case names of headers that the sender sets itself, or that belong to one connection (RFC 9110, 7.6.1). */
const reserved: ReadonlySet<string> = new Set([
	'host',
	'content-length',
	'content-type',
	'content-encoding',
	'expect',
	'connection',
	'keep-alive',
	'proxy-authenticate',
	'proxy-authorization',
	'proxy-connection',
	'te',
	'trailer',
	'transfer-encoding',
	'upgrade',
	'webhook-id',
	'webhook-timestamp',
	'webhook-signature',
])

/** A map of header name to value. Messages never repeat a value, since it may be a token. */
export const readHeaders = z
	.record(z.string(), z.string().meta({ type: ['string', 'number', 'boolean'] }))
	.default({})
	.transform((headers, context) => {
		const seen = new Set<string>()
		for (const [name, value] of Object.entries(headers)) {
			const lower = name.toLowerCase()
			const message =
				faultOf(name, value) ?? (seen.has(lower) ? 'is written twice; upper and lower case are the same name' : null)
			seen.add(lower)
			if (message !== null) context.issues.push({ code: 'custom', path: [name], message, input: value })
		}
		return headers
	})

function faultOf(name: string, value: string): string | null {
	// RFC 9110, 5.6.2: a name is a token.
	if (!/^[!#$%&'*+.^`|~\w-]{1,100}$/.test(name)) return 'is not a valid header name'
	if (reserved.has(name.toLowerCase())) return 'is written by tracewatch itself and cannot be set'
	if (value.trim() === '') return 'is empty'
	if (!/^[\t\x20-\x7e]+$/.test(value)) return 'must be printable ASCII on one line'
	return null
}
