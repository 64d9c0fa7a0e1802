/** Standard Webhooks 1.0, the sender's side: HMAC-SHA256 over `id.timestamp.body`. */
import { createHmac } from 'node:crypto'

/**
 * `secret` is `whsec_` and base64, or several with spaces between while one replaces the other: a signature each, in
 * their order. `body` is what goes over the wire, byte for byte. `timestampS`: seconds since 1970, of this attempt.
 */
export function webhookSignature(secret: string, id: string, timestampS: number, body: Buffer): string {
	return secret
		.trim()
		.split(/\s+/)
		.map((one) => {
			const key = Buffer.from(one.replace(/^whsec_/, ''), 'base64')
			return `v1,${createHmac('sha256', key).update(`${id}.${timestampS}.`).update(body).digest('base64')}`
		})
		.join(' ')
}
