/** Standard Webhooks: the envelope as it is, signed at the moment of sending. */
import { webhookSignature } from '../signature.js'
import { type Format, jsonBody } from './format.js'

export const standard: Format = {
	takesDigest: () => true,
	request({ id, message }, { url, secret }, nowMs) {
		const body = jsonBody({ type: message.type, timestamp: message.timestamp, data: message.data })
		// A receiver tolerates five minutes: the time is that of this attempt, never that of the alert.
		const timestampS = Math.floor(nowMs / 1_000)
		const headers = { 'webhook-id': id, 'webhook-timestamp': String(timestampS) }
		if (secret === null) return { url, body, headers }
		return { url, body, headers: { ...headers, 'webhook-signature': webhookSignature(secret, id, timestampS, body) } }
	},
}
