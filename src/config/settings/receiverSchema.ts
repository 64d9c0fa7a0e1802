import { z } from 'zod'
import { type FormatName, formats } from '../../notify/webhook/formats/byName.js'
import { readDuration } from '../duration.js'
import { at } from '../names.js'
import { readHttpUrl, readMailAddress, readMailbox, readName, readSmtpUrl, readWholeNumber } from '../values.js'
import { inWords, list, orNull, section, text } from '../words.js'
import { readHeaders } from './httpHeaders.js'

/** Schema of `receivers` in tracewatch.yaml. */

const digest = section({
	every: text(readDuration).optional().meta({
		description: 'Length of the time that is counted. Default: 10m.',
	}),
	max: text((value) => readWholeNumber(value, 10_000, 1))
		.default(20)
		.meta({
			type: ['integer', 'string'],
			description: 'Alerts within that time that are sent one by one, 1 to 10000. Default: 20.',
		}),
})
	.transform(({ every, max }) => ({ everyMs: every ?? 600_000, max }))
	.meta({
		id: 'digest',
		description:
			'How many alerts are sent one by one before the rest come as one message. ' +
			'Alarms, look-alikes and what leaves a watch are never held.',
	})

const shared = {
	fallback: orNull(text(readName)).meta({
		description: 'Name of the receiver that is notified when this one fails; two may name each other. Default: none.',
	}),
	digest: orNull(digest).meta({
		description:
			'Against storms: past `max` alerts within `every`, the rest come as one message that lists them all. ' +
			'Default: each alert is a message of its own.',
	}),
}

const receiverName = text(readName).meta({
	description: 'Name in watchlists, deliveries and metrics, such as ops-mail.',
})

const email = section({
	name: receiverName,
	type: z.literal('email').meta({ description: 'A receiver by mail.' }),
	smtp: text(readSmtpUrl).meta({
		description:
			'`smtps://user:password@host:465` (TLS) or `smtp://host:587` (STARTTLS); user and password ' +
			'URL-encoded: @ is %40, / is %2F. A secret.',
	}),
	from: text(readMailbox).meta({
		description: 'Sender: a mail address, or `Name <address>`.',
	}),
	to: list(text(readMailAddress)).meta({ description: 'Mail addresses; each gets mails and attempts of its own.' }),
	...shared,
}).meta({ id: 'email', description: 'Alerts by mail.' })

const formatNames = Object.keys(formats) as FormatName[]

/** The keys of single formats; `addressed` reads them, which makes them the secret. */
const ownKeys: object = Object.fromEntries(
	Object.values(formats).flatMap(({ key }) =>
		key === undefined ? [] : [[key.name, orNull(text(key.read)).meta({ description: key.description })]],
	),
)

const webhook = section({
	name: receiverName,
	type: z.literal('webhook').meta({ description: 'A receiver by HTTP POST.' }),
	url: text(readHttpUrl).meta({
		description:
			'Where alerts are posted, http or https; formats telegram and ntfy have the chat or the topic in it. ' +
			'What looks like a key is a secret, a plain word such as `/treasury` is not.',
	}),
	format: z.enum(formatNames).default('standard').meta({
		description: 'What is posted: Standard Webhooks, or what a service expects. Default: standard.',
	}),
	...ownKeys,
	headers: readHeaders.meta({
		description:
			'Headers that go along with each request, such as `{Authorization: Bearer KEY}`; not those that the ' +
			'sender writes itself. Their values are secrets. Default: none.',
	}),
	...shared,
})
	.transform(addressed)
	.meta({ id: 'webhook', description: 'Alerts by HTTP POST.' })

interface Addressed {
	readonly url: string
	readonly format: FormatName
	readonly headers: Readonly<Record<string, string>>
}

/** Checks what a format needs, and takes its own key for the secret. */
function addressed<Webhook extends Addressed>(webhook: Webhook, context: z.core.$RefinementCtx<Webhook>) {
	const url = new URL(webhook.url)
	const fault = (key: string, message: string | null) => {
		if (message !== null) context.issues.push({ code: 'custom', path: [key], message, input: webhook })
	}
	const rest: Record<string, unknown> = Object.fromEntries(Object.entries(webhook))
	let secret: string | null = null
	for (const [name, { key }] of Object.entries(formats)) {
		if (key === undefined) continue
		const value = rest[key.name]
		delete rest[key.name]
		if (typeof value !== 'string') continue
		if (name === webhook.format) secret = value
		else fault(key.name, `belongs to format ${name}, and this is ${webhook.format}`)
	}
	if (url.username !== '' && Object.keys(webhook.headers).some((name) => /^authorization$/i.test(name)))
		fault('headers', 'has an Authorization, and the URL a user: one of them must go')
	const { key, urlFault } = formats[webhook.format]
	fault('url', urlFault?.(url) ?? null)
	if (key?.isRequired && secret === null) fault(key.name, `is missing, which format ${webhook.format} needs`)
	return { ...(rest as unknown as Webhook), secret }
}

const typeSchema = z.enum(['email', 'webhook'])

export const receiverSchema = z.discriminatedUnion('type', [email, webhook], {
	error: ({ input }) => typeSchema.safeParse(at(input, 'type'), { error: inWords }).error?.issues[0]?.message,
})

export type ReceiverSettings = z.output<typeof receiverSchema>
