/** The room knows how each service wants to be spoken to. A format is pure; `webhook.ts` carries its request out. */

import type { Message } from '../../../model/alert.js'
import type { Delivery } from '../../../model/delivery.js'
import type { Judgement } from '../../delivery/policy.js'

export interface Target {
	/** As configured; never altered by what stands on a chain. */
	readonly url: URL
	/** The signing secret, or what the service calls its key; null where there is none. */
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

export interface Format {
	/** `nowMs` is the time of this attempt. */
	request(delivery: Delivery, target: Target, nowMs: number): FormatRequest
	/** For services whose status alone does not tell; null: the table of `policy.ts` decides. */
	judge?(reply: Reply): Judgement | null
	/** Whether one request can carry all of this digest; absent: none can, and each alert is sent by itself. */
	takesDigest?(digest: Message): boolean
	/** The answer's body decides, so an answer that breaks off is none. */
	readonly needsBody?: true
}

/** `settings.format` */
export type FormatName = 'standard' | 'slack' | 'discord' | 'telegram' | 'ntfy' | 'pagerduty' | 'alertmanager'

export function jsonBody(value: unknown): Buffer {
	return Buffer.from(JSON.stringify(value), 'utf8')
}

/** Of a reply; null where it is no JSON object. */
export function jsonObject(body: string): Readonly<Record<string, unknown>> | null {
	try {
		const value: unknown = JSON.parse(body)
		return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
	} catch {
		return null
	}
}
