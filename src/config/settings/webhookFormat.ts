import type { z } from 'zod'

export const formatNames = ['standard', 'slack', 'discord', 'telegram', 'ntfy', 'pagerduty', 'alertmanager'] as const
/** The format of a webhook's body. */
type WebhookFormat = (typeof formatNames)[number]

/** Keys that only one format allows. */
const keys = { secret: 'standard', routing_key: 'pagerduty' } as const
type Key = keyof typeof keys

interface Written extends Readonly<Record<Key, string | null>> {
	readonly url: string
	readonly format: WebhookFormat
	readonly headers: Readonly<Record<string, string>>
}

/** Checks what a format needs: the chat and the topic in the URL, the routing key, which becomes the secret. */
export function addressed<Webhook extends Written>(webhook: Webhook, context: z.core.$RefinementCtx<Webhook>) {
	const { routing_key: routingKey, ...rest } = webhook
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
			if (!/\/bot[^/]+/.test(url.pathname) || !isChat(url.searchParams.get('chat_id')))
				fault(
					'url',
					'must be https://api.telegram.org/bot<token>/sendMessage?chat_id=<id>, ' +
						'with the number of a chat such as -1001234567890, or @channel',
				)
			break
		case 'ntfy':
			if (!/\/[\w-]{1,64}\/?$/.test(url.pathname))
				fault(
					'url',
					'must end with the topic, https://ntfy.sh/<topic>: at most 64 letters, digits, dashes, underscores',
				)
			break
		case 'pagerduty':
			if (routingKey === null) fault('routing_key', 'is missing, which format pagerduty needs')
			break
	}
	return { ...rest, secret: routingKey ?? rest.secret }
}

function isChat(text: string | null): boolean {
	return text !== null && /^(-?[1-9]\d{0,19}|@\w{4,64})$/.test(text)
}
