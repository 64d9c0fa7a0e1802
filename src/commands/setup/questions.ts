/** The six questions of `setup`, and how each answer is tried. */

import { randomBytes } from 'node:crypto'
import { fitWords } from '../../base/text/outgoing.js'
import { parseAddress, toChecksum } from '../../config/address.js'
import { interpolate } from '../../config/settings/interpolate.js'
import { receiverSchema } from '../../config/settings/receiverSchema.js'
import type { ReceiverSettings } from '../../config/settings/settings.js'
import { readHttpUrl, readLine, readMailAddress, readSmtpUrl } from '../../config/values.js'
import { chainNamed } from '../../core/chains.js'
import { createEmailReceiver } from '../../notify/email/email.js'
import { readRoutingKey } from '../../notify/webhook/formats/pagerduty.js'
import { exitCodes } from '../command.js'
import { type EndpointReport, examineEndpoint } from '../doctor/endpoint.js'
import { chainIdOf } from '../shared/chainId.js'
import { sendSample } from '../testSend.js'
import { AnswerError, answerOf, type Interview, unanswered } from './ask.js'
import { emailEntry, hookEntry, type ReceiverEntry, rpcVariable, type SetupWatch } from './texts.js'

/** Kinds of webhooks by format, and what is asked for. */
export const hooks = {
	standard: ['webhook', 'URL of the webhook'],
	slack: ['Slack', 'URL of the incoming webhook: https://hooks.slack.com/services/…'],
	discord: ['Discord', 'URL of the webhook: https://discord.com/api/webhooks/…'],
	telegram: ['Telegram', 'URL of the bot: https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>'],
	ntfy: ['ntfy', 'URL of the topic, such as https://ntfy.sh/TOPIC'],
	pagerduty: ['PagerDuty', 'Integration key of the service, Events API v2'],
} as const

type Format = keyof typeof hooks

/** What options say. */
export interface SetupValues {
	readonly rpc?: string
	readonly smtp?: string
	readonly webhook?: string
	readonly to?: readonly string[]
	readonly from?: string
	readonly format?: Format
	readonly chat?: string
	readonly address?: string
	readonly label?: string
	readonly chainId: number
}

/** A receiver as in tracewatch.yaml, and the secrets that it names. */
interface ChosenReceiver {
	readonly receiver: ReceiverEntry
	readonly secrets: Readonly<Record<string, string>>
}

export interface Answers extends ChosenReceiver {
	readonly chainId: number
	readonly watch: SetupWatch
}

export async function askAll(interview: Interview, values: SetupValues): Promise<Answers> {
	// Said before anything is tried.
	if (!interview.asks && values.address === undefined) throw unanswered('address')
	const { chainId, url } = await askEndpoint(interview, values)
	const { receiver, secrets } = await askReceiver(interview, values)
	const watch = await askWatch(interview, values)
	return { chainId, receiver, watch, secrets: { [rpcVariable(chainId)]: url, ...secrets } }
}

async function askEndpoint(interview: Interview, values: SetupValues) {
	const { io } = interview
	let { chainId } = values
	const url = await answerOf(interview, {
		option: 'rpc',
		given: values.rpc ?? io.env.ETHEREUM_RPC_URL ?? io.env.RPC_URL,
		message: 'Endpoint: the URL of a node, with its key',
		isSecret: true,
		read: readHttpUrl,
		async attempt(url) {
			chainId = Number(await chainIdOf(url, io.signal))
			const asked = { keepsBooks: true, readsContracts: false, isPrivate: false, source: 'auto' } as const
			const network = { chainId, confirmations: 0, settle: 'finalized', ...asked } as const
			const report = await examineEndpoint(url, network, io.signal)
			const words = fitWords(lineOf(report))
			if (!report.usable) throw new AnswerError(words, report.error === null ? exitCodes.failed : exitCodes.tryAgain)
			io.err(`  ${words}`)
		},
	})
	const { name, symbol } = chainNamed(chainId)
	io.err(`  ${name}, chain ${chainId}, ${symbol}`)
	return { chainId, url }
}

/** What matters of an endpoint, in one line; untrusted text in it is not cleaned yet. */
function lineOf(report: EndpointReport): string {
	const { endpoint, error, usable, client, head, source, balances, reasons, advice } = report
	if (error !== null) return error
	const why = [...reasons, ...advice][0]
	if (!usable) return `${endpoint} gives no traces that can be trusted${why === undefined ? '' : `: ${why}`}`
	const books = balances === 'no' ? '; no balances, so nothing is proved' : ''
	const more = advice.length === 0 ? '' : '; `tracewatch doctor` says what to improve'
	return `${endpoint} works: ${client ?? 'unknown client'}, block ${head}; traces by ${source}${books}${more}`
}

async function askReceiver(interview: Interview, values: SetupValues): Promise<ChosenReceiver> {
	const { env } = interview.io
	/** Undefined where both are there, or none. */
	const chosen = (mail: unknown, hook: unknown) =>
		(mail === undefined) === (hook === undefined)
			? undefined
			: mail === undefined
				? (values.format ?? 'standard')
				: 'mail'
	const kind = await answerOf(interview, {
		option: 'smtp and --to, or --webhook',
		given: chosen(values.smtp ?? values.to, values.webhook ?? values.format) ?? chosen(env.SMTP_URL, env.OPS_HOOK_URL),
		message: 'Alerts by',
		choices: { mail: 'mail', ...Object.fromEntries(Object.entries(hooks).map(([format, [label]]) => [format, label])) },
		read: (text) => text as Format | 'mail',
	})
	return kind === 'mail' ? await askMail(interview, values) : await askHook(interview, kind, values)
}

async function askMail(interview: Interview, values: SetupValues): Promise<ChosenReceiver> {
	const { io } = interview
	const smtp = await answerOf(interview, {
		option: 'smtp',
		given: values.smtp ?? io.env.SMTP_URL,
		message: 'Mail server: smtps://user:password@host:465',
		isSecret: true,
		read: readSmtpUrl,
		attempt: (url) => tryLogin(url, interview),
	})
	return await answerOf(interview, {
		option: 'to',
		given: values.to?.join(','),
		message: 'Mails go to',
		read(text) {
			const to = text.split(',').map((one) => readMailAddress(one.trim()))
			return { receiver: emailEntry(values.from ?? senderOf(smtp, to[0] ?? ''), to), secrets: { SMTP_URL: smtp } }
		},
		attempt: (chosen) => tryReceiver(chosen, interview),
	})
}

/** Most mail servers accept only their own users as senders. */
function senderOf(smtp: string, to: string): string {
	const user = decodeURIComponent(new URL(smtp).username)
	return user.includes('@') ? user : `tracewatch${to.slice(to.indexOf('@'))}`
}

async function askHook(interview: Interview, format: Format, values: SetupValues): Promise<ChosenReceiver> {
	const { env, scrubber } = interview.io
	const isKey = format === 'pagerduty'
	const address = values.webhook ?? env.OPS_HOOK_URL
	return await answerOf(interview, {
		option: isKey ? 'format pagerduty with OPS_HOOK_SECRET in the environment' : 'webhook',
		given: isKey ? env.OPS_HOOK_SECRET : address,
		message: hooks[format][1],
		isSecret: true,
		read(text) {
			const url = new URL(readHttpUrl(isKey ? (address ?? 'https://events.pagerduty.com/v2/enqueue') : text))
			if (values.chat !== undefined) url.searchParams.set('chat_id', values.chat)
			// As Standard Webhooks specifies it.
			const signing = () => env.OPS_HOOK_SECRET ?? `whsec_${randomBytes(32).toString('base64')}`
			const key = isKey ? readRoutingKey(text) : format === 'standard' ? signing() : null
			const secrets = { OPS_HOOK_URL: url.href, ...(key !== null && { OPS_HOOK_SECRET: key }) }
			scrubber.add(Object.values(secrets))
			const chosen = { receiver: hookEntry(format), secrets }
			settingsOf(chosen)
			return chosen
		},
		attempt: (chosen) => tryReceiver(chosen, interview),
	})
}

async function askWatch(interview: Interview, values: SetupValues): Promise<SetupWatch> {
	const address = await answerOf(interview, {
		option: 'address',
		given: values.address,
		message: 'First address to watch',
		read: readWatched,
	})
	const label = await answerOf(interview, {
		option: 'label',
		given: values.label ?? (values.address === undefined ? undefined : ''),
		usual: '',
		message: 'Its label in alerts (Enter: none)',
		read: readLabel,
	})
	return { address, label }
}

export function readWatched(text: string): string {
	return toChecksum(parseAddress(text))
}

/** Empty: no label. */
export function readLabel(text: string): string {
	return text === '' ? '' : readLine(text)
}

async function tryLogin(smtp: string, { io }: Interview): Promise<void> {
	const receiver = emailEntry('tracewatch@localhost.invalid', ['ops@localhost.invalid'])
	const settings = settingsOf({ receiver, secrets: { SMTP_URL: smtp } })
	if (settings.type !== 'email') return
	const mail = createEmailReceiver(settings)
	try {
		const outcome = await mail.login(io.signal)
		if (outcome.result === 'delivered') return
		const code = outcome.result === 'retry' ? exitCodes.tryAgain : exitCodes.failed
		throw new AnswerError(`the mail server does not take it: ${outcome.reason}`, code)
	} finally {
		await mail.close()
	}
}

async function tryReceiver(chosen: ChosenReceiver, { io }: Interview): Promise<void> {
	const { code, lines } = await sendSample(settingsOf(chosen), io)
	if (code !== exitCodes.done) throw new AnswerError(lines.join('\n  '), code)
	for (const line of lines) io.err(`  a test message was ${line}`)
}

/** The settings as the daemon will read them from the file. Throws RangeError. */
function settingsOf({ receiver, secrets }: ChosenReceiver): ReceiverSettings {
	const read = receiverSchema.safeParse(interpolate(receiver, secrets, '').value)
	if (read.success) return read.data
	throw new RangeError(read.error.issues[0]?.message ?? 'cannot be used')
}
