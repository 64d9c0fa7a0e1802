import { randomBytes } from 'node:crypto'
import { parseAddress, toChecksum } from '../../config/address.js'
import {
	readHttpUrl,
	readLine,
	readMailAddress,
	readMailbox,
	readRoutingKey,
	readSmtpUrl,
} from '../../config/values.js'
import { UsageError } from '../../errors.js'
import { chainIdOf } from '../shared/chainId.js'
import { choose, type Secrets, type Sources } from './choose.js'
import { rpcVariable, type SetupReceiver, type SetupWatch } from './texts.js'

interface Endpoint {
	readonly chainId: number
	readonly secrets: Secrets
}

interface ChosenReceiver {
	readonly receiver: SetupReceiver
	readonly secrets: Secrets
}

/** Asks for the endpoint's URL, then tries it, unless nothing is to be tested. */
export async function chooseEndpoint(sources: Sources): Promise<Endpoint> {
	const { values, io, trials } = sources
	const { env } = io
	return await choose(sources, {
		option: 'rpc',
		fromEnv: env.ETHEREUM_RPC_URL ?? env.RPC_URL,
		question: 'Endpoint: the URL of a node, with its key (not shown)',
		isSecret: true,
		async read(text) {
			const url = readHttpUrl(text)
			io.scrubber.add([text, url])
			const chainId = values.untested === true ? readChainId(values.chainId) : Number(await chainIdOf(url, io.signal))
			return { chainId, secrets: new Map([[rpcVariable(chainId), url]]) }
		},
		async try({ chainId, secrets }) {
			return (await trials?.endpoint(secrets.get(rpcVariable(chainId)) ?? '', chainId)) ?? null
		},
	})
}

function readChainId(value: unknown): number {
	if (value === undefined) return 1
	if (typeof value === 'string' && /^[1-9]\d{0,14}$/.test(value)) return Number(value)
	throw new UsageError(`--chain-id takes a number in decimal digits, not \`${String(value)}\``)
}

/** What is asked for, by kind of webhook. */
const urlQuestions = {
	webhook: 'URL of the webhook (not shown)',
	slack: 'URL of the incoming webhook: https://hooks.slack.com/services/… (not shown)',
	discord: 'URL of the webhook: https://discord.com/api/webhooks/… (not shown)',
	telegram: 'Token of the bot, as BotFather gave it (not shown)',
	ntfy: 'URL of the topic, such as https://ntfy.sh/TOPIC (not shown)',
	pagerduty: 'Integration key of the service, Events API v2 (not shown)',
} as const

type HookKind = keyof typeof urlQuestions
const hookKinds = Object.keys(urlQuestions) as HookKind[]
const receiverKinds = ['mail', ...hookKinds] as const

/** Asks for the kind of the receiver and its address. */
export async function chooseReceiver(sources: Sources): Promise<ChosenReceiver> {
	const kind = await chooseKind(sources)
	return kind === 'mail' ? await chooseMail(sources) : await chooseHook(sources, kind)
}

async function chooseKind(sources: Sources): Promise<'mail' | HookKind> {
	const { values, io, asker } = sources
	const { env } = io
	const [isMail, isHook] = [values.smtp ?? values.to, values.webhook].map((value) => value !== undefined)
	if (isMail && isHook) throw new UsageError('either mail (--smtp, --to) or --webhook')
	if (isMail || isHook) return isMail ? 'mail' : 'webhook'
	if ((env.SMTP_URL !== undefined) !== (env.OPS_HOOK_URL !== undefined)) {
		return env.SMTP_URL !== undefined ? 'mail' : 'webhook'
	}
	return await choose(sources, {
		option: 'smtp and --to, or --webhook',
		usual: asker === null ? undefined : 'mail',
		question: `Alerts by ${receiverKinds.slice(0, -1).join(', ')} or ${receiverKinds.at(-1)}?`,
		read(text) {
			const kind = receiverKinds.find((name) => text !== '' && name.startsWith(text.toLowerCase()))
			if (kind === undefined) throw new RangeError(`takes ${receiverKinds.join(', ')}`)
			return kind
		},
	})
}

async function chooseMail(sources: Sources): Promise<ChosenReceiver> {
	const { values, io, trials } = sources
	const smtp = await choose(sources, {
		option: 'smtp',
		fromEnv: io.env.SMTP_URL,
		question: 'Mail server: smtps://user:password@host:465 (not shown)',
		isSecret: true,
		read(text) {
			io.scrubber.add([text])
			return readSmtpUrl(text)
		},
		try: async (url) => (await trials?.login(url)) ?? null,
	})
	const secrets = new Map([['SMTP_URL', smtp]])
	const given = values.to === undefined ? undefined : [values.to].flat().join(',')
	const to = await choose(sources, {
		option: 'to',
		given,
		question: 'Mails go to',
		read: (text) => text.split(',').map((one) => readMailAddress(one.trim())),
	})
	const from = await choose(sources, {
		option: 'from',
		usual: senderOf(smtp, to[0] ?? ''),
		question: 'Sender of the mails',
		read: readMailbox,
		try: async (from) => (await trials?.receiver({ kind: 'mail', from, to }, secrets)) ?? null,
	})
	return { receiver: { kind: 'mail', from, to }, secrets }
}

/** Most mail servers accept only their own users as senders. */
function senderOf(smtp: string, to: string): string {
	const user = decodeURIComponent(new URL(smtp).username)
	return user.includes('@') ? user : `tracewatch${to.slice(to.indexOf('@'))}`
}

async function chooseHook(sources: Sources, kind: HookKind): Promise<ChosenReceiver> {
	const { values, io, trials } = sources
	const isScripted = values.webhook !== undefined || io.env.OPS_HOOK_URL !== undefined
	// For PagerDuty, the key is what a person has; the URL is the same for all.
	const isKeyAsked = kind === 'pagerduty' && !isScripted
	const chat = kind === 'telegram' || values.format === 'telegram' ? await chooseChat(sources) : null
	return await choose(sources, {
		option: 'webhook',
		fromEnv: io.env.OPS_HOOK_URL,
		question: urlQuestions[kind],
		isSecret: true,
		read(text): ChosenReceiver {
			io.scrubber.add([text])
			const key = isKeyAsked ? readRoutingKey(text) : null
			const url = key === null ? urlOf(text, kind, chat) : 'https://events.pagerduty.com/v2/enqueue'
			const format = readFormat(values.format ?? (kind === 'webhook' ? formatOf(url) : kind))
			return { receiver: { kind: 'webhook', format }, secrets: secretsOf(url, format, key, sources) }
		},
		try: async ({ receiver, secrets }) => (await trials?.receiver(receiver, secrets)) ?? null,
	})
}

async function chooseChat(sources: Sources): Promise<string> {
	return await choose(sources, {
		option: 'chat',
		question: 'Number of the chat, such as -1001234567890, or @channel',
		read(text) {
			if (/^(-?[1-9]\d{0,19}|@\w{4,64})$/.test(text)) return text
			throw new RangeError('must be the number of a chat, such as -1001234567890, or @channel')
		},
	})
}

/** Of a bot, the token alone is enough; its chat is put into the query. */
function urlOf(text: string, kind: HookKind, chat: string | null): string {
	const isToken = kind === 'telegram' && /^\d+:[\w-]+$/.test(text)
	const url = new URL(readHttpUrl(isToken ? `https://api.telegram.org/bot${text}/sendMessage` : text))
	if (chat !== null) url.searchParams.set('chat_id', chat)
	return url.href
}

function secretsOf(url: string, format: string, key: string | null, { io }: Sources): Secrets {
	const secrets = new Map([['OPS_HOOK_URL', url]])
	if (format !== 'standard' && format !== 'pagerduty') return secrets
	const given = key ?? io.env.OPS_HOOK_SECRET
	if (format === 'pagerduty' && given === undefined)
		throw new UsageError('PagerDuty needs its integration key: set OPS_HOOK_SECRET in the environment')
	const secret = given ?? freshSecret()
	io.scrubber.add([secret])
	return secrets.set('OPS_HOOK_SECRET', secret)
}

/** A signing secret as Standard Webhooks specifies it. */
function freshSecret(): string {
	return `whsec_${randomBytes(32).toString('base64')}`
}

/** The format of services that are recognised by host and need no other key; else `standard`. */
function formatOf(url: string): string {
	const { hostname, pathname } = new URL(url)
	if (hostname === 'hooks.slack.com') return 'slack'
	return /(^|\.)discord(app)?\.com$/.test(hostname) && pathname.startsWith('/api/webhooks/') ? 'discord' : 'standard'
}

function readFormat(value: unknown): string {
	const known = ['standard', ...hookKinds.filter((kind) => kind !== 'webhook')]
	if (known.includes(String(value))) return String(value)
	throw new UsageError(`--format takes ${known.join(', ')}, not \`${String(value)}\``)
}

/** Asks for an address to watch, and its label. */
export async function chooseWatch(sources: Sources): Promise<SetupWatch> {
	const { values, asker } = sources
	const address = await choose(sources, {
		option: 'address',
		question: 'First address to watch',
		read: (text) => toChecksum(parseAddress(text)),
	})
	const isAsked = values.address === undefined && asker !== null
	const label = await choose(sources, {
		option: 'label',
		given: isAsked || values.label !== undefined ? undefined : '',
		usual: '',
		question: 'Its label in alerts',
		read: (text) => (text === '' ? '' : readLine(text)),
	})
	return { address, label }
}
