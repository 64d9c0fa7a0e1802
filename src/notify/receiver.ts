/** The room sends messages. This file makes a receiver from its settings. */

import type { Clock } from '../model/glossary.js'
import type { Receiver } from '../model/ports.js'
import type { EmailSettings } from './email/email.js'
import { createWebhookReceiver, type WebhookSettings } from './webhook/webhook.js'

export type ReceiverSettings = EmailSettings | WebhookSettings

export interface ReceiverOptions {
	/** Version of this program, for `User-Agent`. */
	readonly version: string
	readonly clock: Clock
}

/** The settings must be validated; throws for an invalid URL. Connects to nothing yet. */
export async function createReceiver(settings: ReceiverSettings, options: ReceiverOptions): Promise<Receiver> {
	if (settings.type === 'webhook') return createWebhookReceiver(settings, options)
	// The mail modules are loaded only where a mail receiver is configured.
	const { createEmailReceiver } = await import('./email/email.js')
	return createEmailReceiver(settings)
}
