/** Standard Webhooks: the envelope unchanged, signed at each attempt. */
import { webhookSignature } from '../signature.js'
import { type Format, jsonBody } from './format.js'

export const standard: Format = {
	takesDigest: () => true,
	request({ id, message }, { url, secret }, nowMs) {
		const body = jsonBody({ type: message.type, timestamp: message.timestamp, data: message.data })
		// Receivers tolerate 5 minutes, so the time is that of this attempt, not of the alert.
		const timestampS = Math.floor(nowMs / 1_000)
		const headers = { 'webhook-id': id, 'webhook-timestamp': String(timestampS) }
		if (secret === null) return { url, body, headers }
		return { url, body, headers: { ...headers, 'webhook-signature': webhookSignature(secret, id, timestampS, body) } }
	},
}
