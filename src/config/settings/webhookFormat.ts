import type { z } from 'zod'

export const formatNames = ['standard', 'slack', 'discord', 'telegram', 'ntfy', 'pagerduty', 'alertmanager'] as const
/** The format of a webhook's body. */
export type WebhookFormat = (typeof formatNames)[number]

/** Keys that only one format allows. */
const keys = { secret: 'standard', chat_id: 'telegram', topic: 'ntfy', routing_key: 'pagerduty' } as const
type Key = keyof typeof keys

interface Written extends Readonly<Record<Key, string | null>> {
	readonly url: string
	readonly format: WebhookFormat
	readonly headers: Readonly<Record<string, string>>
}

/**
 * Puts the keys of a service where its format needs them: the chat of telegram into the query of the URL, the topic of
 * ntfy at the end of its path, and the routing key of pagerduty into the secret.
 */
export function addressed<Webhook extends Written>(webhook: Webhook, context: z.core.$RefinementCtx<Webhook>) {
	const { chat_id: chatId, topic, routing_key: routingKey, ...rest } = webhook
	const { format } = rest
	const url = new URL(rest.url)
	const fault = (key: Key | 'url' | 'headers', message: string) => {
		context.issues.push({ code: 'custom', path: [key], message, input: webhook })
	}
	for (const key of Object.keys(keys) as Key[]) {
		if (webhook[key] !== null && keys[key] !== format)
			fault(key, `belongs to format ${keys[key]}, and this is ${format}`)
	}
	if (url.username !== '' && Object.keys(rest.headers).some((name) => /^authorization$/i.test(name))) {
		fault('headers', 'has an Authorization, and the URL a user: one of them must go')
	}
	switch (format) {
		case 'telegram':
			if (!/\/bot[^/]+/.test(url.pathname))
				fault('url', 'must be https://api.telegram.org/bot and the token of the bot')
			if (chatId !== null) url.searchParams.set('chat_id', chatId)
			else if (!url.searchParams.has('chat_id')) fault('chat_id', 'is missing, which format telegram needs')
			break
		case 'ntfy':
			if (topic !== null) url.pathname = `${url.pathname.replace(/\/$/, '')}/${topic}`
			else if (url.pathname === '/') fault('topic', 'is missing, which format ntfy needs')
			break
		case 'pagerduty':
			if (routingKey === null) fault('routing_key', 'is missing, which format pagerduty needs')
			break
	}
	return { ...rest, url: url.href, secret: routingKey ?? rest.secret }
}
