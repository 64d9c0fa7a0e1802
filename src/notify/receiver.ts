/** The room sends words out, in four rooms of its own. Here: from the settings of a receiver to the receiver. */

import type { Clock } from '../model/glossary.js'
import type { Receiver } from '../model/ports.js'
import type { EmailSettings } from './email/email.js'
import { createWebhookReceiver, type WebhookSettings } from './webhook/webhook.js'

export type ReceiverSettings = EmailSettings | WebhookSettings

export interface ReceiverOptions {
	/** Of this program, for `User-Agent`. */
	readonly version: string
	readonly clock: Clock
}

/** The settings have been checked by the configuration; a URL that is none throws. Nothing is contacted yet. */
export async function createReceiver(settings: ReceiverSettings, options: ReceiverOptions): Promise<Receiver> {
	if (settings.type === 'webhook') return createWebhookReceiver(settings, options)
	// What mails need is loaded only where mails are sent.
	const { createEmailReceiver } = await import('./email/email.js')
	return createEmailReceiver(settings)
}
