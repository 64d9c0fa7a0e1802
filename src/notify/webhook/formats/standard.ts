/** Standard Webhooks: the envelope unchanged, signed at each attempt. */
import { webhookSignature } from '../signature.js'
import { type Format, jsonBody } from './format.js'

export const standard: Format = {
	key: {
		name: 'secret',
		description:
			'Format standard: signing secret, `whsec_` and 24 to 64 bytes in base64; two with a space between ' +
			'while one replaces the other. Default: none, not signed.',
		// With single spaces.
		read: (text) => text.trim().split(/\s+/).map(readSigningSecret).join(' '),
	},
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

/** `whsec_` and 24 to 64 bytes in base64 (Standard Webhooks, "Signature scheme"). */
function readSigningSecret(text: string): string {
	const key = text.startsWith('whsec_') ? text.slice('whsec_'.length) : undefined
	const bytes = key === undefined ? 0 : Buffer.from(key, 'base64').length
	if (key === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(key) || bytes < 24 || bytes > 64) {
		throw new RangeError(
			'must be `whsec_` and 24 to 64 bytes in base64; make one with: echo "whsec_$(openssl rand -base64 32)"',
		)
	}
	return text
}
