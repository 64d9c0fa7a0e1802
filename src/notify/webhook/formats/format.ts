/**
 * The room has the formats of the webhook services. A format is pure: its file has its settings, its requests, and what
 * its answers mean; `byName.ts` lists it. `config` reads its settings from here, and `webhook.ts` sends its requests.
 */

import type { Message } from '../../../model/alert.js'
import type { Delivery } from '../../../model/delivery.js'
import type { Judgement } from '../../delivery/policy.js'

export interface Target {
	/** As configured; never changed by on-chain data. */
	readonly url: URL
	/** The signing secret, or the service's key; null: none. */
	readonly secret: string | null
}

export interface FormatRequest {
	readonly url: URL
	readonly body: Buffer
	readonly headers: Readonly<Record<string, string>>
}

export interface Reply {
	readonly status: number
	/** At most 64 KiB. */
	readonly body: string
}

/** A key in the settings that only one format has; its value becomes the secret of the target. */
export interface OwnKey {
	readonly name: string
	/** One sentence for the documentation. */
	readonly description: string
	/** Throws a RangeError that follows after the key's name. */
	readonly read: (text: string) => string
	readonly isRequired?: true
}

export interface Format {
	readonly key?: OwnKey
	/** What is wrong with a URL of the settings, to follow after the key's name; null: nothing. */
	urlFault?(url: URL): string | null
	/** `nowMs` is the time of this attempt. */
	request(delivery: Delivery, target: Target, nowMs: number): FormatRequest
	/** For services whose status code alone is not conclusive; null: the table in `policy.ts` decides. */
	judge?(reply: Reply): Judgement | null
	/** Whether one request can carry this whole digest; absent: never, each alert is sent alone. */
	takesDigest?(digest: Message): boolean
	/** The verdict needs the body, so a response that breaks off counts as no response. */
	readonly needsBody?: true
}

export function jsonBody(value: unknown): Buffer {
	return Buffer.from(JSON.stringify(value), 'utf8')
}

/** The body of a reply; null where it is not a JSON object. */
export function jsonObject(body: string): Readonly<Record<string, unknown>> | null {
	try {
		const value: unknown = JSON.parse(body)
		return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
	} catch {
		return null
	}
}
