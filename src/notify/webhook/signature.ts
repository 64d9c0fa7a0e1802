/** Standard Webhooks 1.0, sender: HMAC-SHA256 over `id.timestamp.body`. */
import { createHmac } from 'node:crypto'

/**
 * `secret`: `whsec_` and base64; during a rotation several, separated by spaces, each of which makes a signature, in
 * order. `body`: the exact bytes sent. `timestampS`: time of this attempt, seconds since 1970.
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
