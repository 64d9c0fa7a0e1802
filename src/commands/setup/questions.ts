/** The six questions of `setup`, and how each answer is tried. */

import { randomBytes } from 'node:crypto'
import { parse, stringify } from 'yaml'
import { fitWords } from '../../base/text/outgoing.js'
import { parseAddress, toChecksum } from '../../config/address.js'
import { interpolate } from '../../config/settings/interpolate.js'
import { receiverSchema } from '../../config/settings/receiverSchema.js'
import type { ReceiverSettings } from '../../config/settings/settings.js'
import {
	readHttpUrl,
	readLine,
	readMailAddress,
	readMailbox,
	readRoutingKey,
	readSmtpUrl,
} from '../../config/values.js'
import { chainNamed } from '../../core/chains.js'
import { UsageError } from '../../errors.js'
import { createEmailReceiver } from '../../notify/email/email.js'
import { exitCodes } from '../command.js'
import { examineEndpoint } from '../doctor/endpointReport.js'
import { lineOf } from '../doctor/reportLines.js'
import { chainIdOf } from '../shared/chainId.js'
import { whileWaiting } from '../shared/progress.js'
import { sendSample } from '../testSend.js'
import { AnswerError, answerOf, type Interview } from './ask.js'
import { receiverEntry, rpcVariable, type SetupReceiver, type SetupWatch } from './texts.js'

/** What options say. */
export interface SetupValues {
	readonly rpc?: string
	readonly smtp?: string
	readonly webhook?: string
	readonly to?: readonly string[]
	readonly from?: string
	readonly format?: string
	readonly chat?: string
	readonly address?: string
	readonly label?: string
	readonly chainId: number
}

/** By their names. */
type Secrets = ReadonlyMap<string, string>

export interface Answers {
	readonly chainId: number
	readonly receiver: SetupReceiver
	readonly watch: SetupWatch
	readonly secrets: Secrets
}

export async function askAll(interview: Interview, values: SetupValues): Promise<Answers> {
	// What options say is checked before anything is tried.
	const given = interview.asks && values.address === undefined ? null : await askWatch(interview, values)
	const endpoint = await askEndpoint(interview, values)
	const { receiver, secrets } = await askReceiver(interview, values)
	const watch = given ?? (await askWatch(interview, values))
	const { chainId, url } = endpoint
	return { chainId, receiver, watch, secrets: new Map([[rpcVariable(chainId), url], ...secrets]) }
}

async function askEndpoint(interview: Interview, values: SetupValues) {
	const { io } = interview
	let { chainId } = values
	const url = await answerOf(interview, {
		option: 'rpc',
		given: values.rpc ?? io.env.ETHEREUM_RPC_URL ?? io.env.RPC_URL,
		message: 'Endpoint: the URL of a node, with its key (not shown)',
		isSecret: true,
		read: (text) => hidden(interview, text, readHttpUrl(text)),
		async attempt(url) {
			chainId = Number(await chainIdOf(url, io.signal))
			const asked = { keepsBooks: true, readsContracts: false, isPrivate: false, source: 'auto' } as const
			const network = { chainId, confirmations: 0, settle: 'finalized', ...asked } as const
			const report = await whileWaiting('asking the endpoint', () => examineEndpoint(url, network, io.signal))
			const words = fitWords(lineOf(report))
			if (!report.usable) throw new AnswerError(words, report.error === null ? exitCodes.failed : exitCodes.tryAgain)
			io.err(`  ${words}`)
		},
	})
	const { name, symbol } = chainNamed(chainId)
	io.err(`  ${name}, chain ${chainId}, ${symbol}`)
	return { chainId, url }
}

/** What is asked for, by kind of receiver. */
const hookQuestions = {
	webhook: 'URL of the webhook (not shown)',
	slack: 'URL of the incoming webhook: https://hooks.slack.com/services/… (not shown)',
	discord: 'URL of the webhook: https://discord.com/api/webhooks/… (not shown)',
	telegram: 'URL of the bot: https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat> (not shown)',
	ntfy: 'URL of the topic, such as https://ntfy.sh/TOPIC (not shown)',
	pagerduty: 'Integration key of the service, Events API v2 (not shown)',
} as const

type HookKind = keyof typeof hookQuestions
type Kind = 'mail' | HookKind
const kinds = ['mail', ...Object.keys(hookQuestions)] as const

interface ChosenReceiver {
	readonly receiver: SetupReceiver
	readonly secrets: Secrets
}

async function askReceiver(interview: Interview, values: SetupValues): Promise<ChosenReceiver> {
	const { env } = interview.io
	const [isMail, isHook] = [values.smtp ?? values.to, values.webhook].map((value) => value !== undefined)
	if (isMail && isHook) throw new UsageError('either mail (--smtp, --to) or --webhook')
	const hook = values.format === 'standard' ? 'webhook' : (values.format ?? 'webhook')
	const byOption = isMail ? 'mail' : isHook ? hook : undefined
	const byEnv = (env.SMTP_URL !== undefined) === (env.OPS_HOOK_URL !== undefined) ? undefined : env.SMTP_URL
	const byVariable = byEnv !== undefined ? 'mail' : env.SMTP_URL === undefined && env.OPS_HOOK_URL ? hook : undefined
	const kind = await answerOf(interview, {
		option: 'smtp and --to, or --webhook',
		given: byOption ?? byVariable,
		message: 'Alerts by',
		choices: kinds,
		read(text) {
			if (kinds.includes(text)) return text as Kind
			throw new UsageError(`--format takes standard, ${kinds.slice(2).join(', ')}, not \`${text}\``)
		},
	})
	return kind === 'mail' ? await askMail(interview, values) : await askHook(interview, kind, values)
}

async function askMail(interview: Interview, values: SetupValues): Promise<ChosenReceiver> {
	const { io } = interview
	const smtp = await answerOf(interview, {
		option: 'smtp',
		given: values.smtp ?? io.env.SMTP_URL,
		message: 'Mail server: smtps://user:password@host:465 (not shown)',
		isSecret: true,
		read: (text) => hidden(interview, text, readSmtpUrl(text)),
		attempt: (url) => tryLogin(url, interview),
	})
	const secrets = new Map([['SMTP_URL', smtp]])
	const mailTo = (to: readonly string[]): SetupReceiver => ({
		...{ kind: 'mail', to },
		from: values.from === undefined ? senderOf(smtp, to[0] ?? '') : readMailbox(values.from),
	})
	const receiver = await answerOf(interview, {
		option: 'to',
		given: values.to?.join(','),
		message: 'Mails go to',
		read: (text) => mailTo(text.split(',').map((one) => readMailAddress(one.trim()))),
		attempt: (receiver) => tryReceiver({ receiver, secrets }, interview),
	})
	return { receiver, secrets }
}

/** Most mail servers accept only their own users as senders. */
function senderOf(smtp: string, to: string): string {
	const user = decodeURIComponent(new URL(smtp).username)
	return user.includes('@') ? user : `tracewatch${to.slice(to.indexOf('@'))}`
}

async function askHook(interview: Interview, kind: HookKind, values: SetupValues): Promise<ChosenReceiver> {
	const { env } = interview.io
	const given = values.webhook ?? env.OPS_HOOK_URL
	return await answerOf(interview, {
		option: 'webhook',
		given,
		message: hookQuestions[kind],
		isSecret: true,
		read(text): ChosenReceiver {
			// For PagerDuty, the key is what a person has; the URL is the same for all.
			const key = kind === 'pagerduty' && given === undefined ? readRoutingKey(text) : env.OPS_HOOK_SECRET
			const isKey = kind === 'pagerduty' && given === undefined
			const url = isKey ? 'https://events.pagerduty.com/v2/enqueue' : hookUrl(text, kind, values.chat)
			const format = kind === 'webhook' ? (values.format ?? formatOf(url)) : kind
			if (format === 'pagerduty' && key === undefined)
				throw new UsageError('PagerDuty needs its integration key: set OPS_HOOK_SECRET in the environment')
			// As Standard Webhooks specifies it.
			const secret = key ?? `whsec_${randomBytes(32).toString('base64')}`
			const needsSecret = format === 'standard' || format === 'pagerduty'
			const secrets = new Map([['OPS_HOOK_URL', url], ...(needsSecret ? [['OPS_HOOK_SECRET', secret] as const] : [])])
			return hidden(interview, text, { receiver: { kind: 'webhook', format }, secrets }, [url, secret])
		},
		attempt: (chosen) => tryReceiver(chosen, interview),
	})
}

/** Of a bot, its token and --chat are enough. */
function hookUrl(text: string, kind: HookKind, chat: string | undefined): string {
	const isToken = kind === 'telegram' && /^\d+:[\w-]+$/.test(text)
	const url = new URL(readHttpUrl(isToken ? `https://api.telegram.org/bot${text}/sendMessage` : text))
	if (chat !== undefined) url.searchParams.set('chat_id', chat)
	if (kind === 'telegram' && !/^(-?[1-9]\d{0,19}|@\w{4,64})$/.test(url.searchParams.get('chat_id') ?? ''))
		throw new RangeError('must end with ?chat_id= and the number of a chat, such as -1001234567890, or @channel')
	return url.href
}

/** The format of services that are recognised by host and need no other key; else `standard`. */
function formatOf(url: string): string {
	const { hostname, pathname } = new URL(url)
	if (hostname === 'hooks.slack.com') return 'slack'
	return /(^|\.)discord(app)?\.com$/.test(hostname) && pathname.startsWith('/api/webhooks/') ? 'discord' : 'standard'
}

async function askWatch(interview: Interview, values: SetupValues): Promise<SetupWatch> {
	const address = await answerOf(interview, {
		option: 'address',
		given: values.address,
		message: 'First address to watch',
		read: (text) => toChecksum(parseAddress(text)),
	})
	const label = await answerOf(interview, {
		option: 'label',
		given: values.label ?? (values.address === undefined ? undefined : ''),
		usual: '',
		message: 'Its label in alerts (Enter: none)',
		read: (text) => (text === '' ? '' : readLine(text)),
	})
	return { address, label }
}

/** The value; its text is hidden in all output from now on. */
function hidden<T>({ io }: Interview, text: string, value: T, more: readonly string[] = []): T {
	io.scrubber.add([text, ...more, ...(typeof value === 'string' ? [value] : [])])
	return value
}

async function tryLogin(smtp: string, { io }: Interview): Promise<void> {
	const receiver = { kind: 'mail', from: 'tracewatch@localhost.invalid', to: ['ops@localhost.invalid'] } as const
	const settings = settingsOf({ receiver, secrets: new Map([['SMTP_URL', smtp]]) })
	if (settings.type !== 'email') return
	const mail = createEmailReceiver(settings)
	try {
		const outcome = await whileWaiting('logging in', () => mail.login(io.signal))
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

/** The settings as the daemon will read them from the file. */
function settingsOf({ receiver, secrets }: ChosenReceiver): ReceiverSettings {
	const written: unknown = parse(stringify(receiverEntry(receiver)), { schema: 'failsafe' })
	const read = receiverSchema.safeParse(interpolate(written, Object.fromEntries(secrets), '').value)
	if (read.success) return read.data
	throw new AnswerError(`it ${read.error.issues[0]?.message ?? 'cannot be used'}`, exitCodes.usage)
}
