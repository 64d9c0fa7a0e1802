import { randomBytes } from 'node:crypto'
import { parseAddress, toChecksum } from '../../config/address.js'
import {
	readHttpUrl,
	readLine,
	readMailAddress,
	readMailbox,
	readRoutingKey,
	readSmtpUrl,
	readTelegramChat,
} from '../../config/values.js'
import { UsageError } from '../../errors.js'
import { chainIdOf } from '../shared/chainId.js'
import { choose, type Secrets, type Sources } from './choose.js'
import { rpcVariable, type SetupReceiver, type SetupWatch } from './texts.js'

export interface Endpoint {
	readonly chainId: number
	readonly secrets: Secrets
}

export interface ChosenReceiver {
	readonly receiver: SetupReceiver
	readonly secrets: Secrets
}

/** Asks for the endpoint's URL, then tries it, unless nothing is to be tested. */
export async function chooseEndpoint(sources: Sources): Promise<Endpoint> {
	const { values, io, stored, trials } = sources
	const { env } = io
	return await choose(sources, {
		option: 'rpc',
		fromEnv: env.ETHEREUM_RPC_URL ?? env.RPC_URL,
		before: stored('ETHEREUM_RPC_URL') ?? stored('RPC_URL'),
		question: 'Endpoint: the URL of a node, with its key (not shown)',
		isSecret: true,
		async read(text) {
			const url = readHttpUrl(text)
			io.scrubber.add([text, url])
			const chainId =
				values.untested === true ? readChainId(values['chain-id']) : Number(await chainIdOf(url, io.signal))
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

/** What a receiver can be, by the words that a person may type. */
const receiverKinds = {
	mail: /^(m|e-?mail|mail)s?$/i,
	webhook: /^(w|web|hook|webhook)s?$/i,
	slack: /^slack$/i,
	discord: /^discord$/i,
	telegram: /^telegram$/i,
	ntfy: /^ntfy$/i,
	pagerduty: /^pager-?duty$/i,
} as const
type ReceiverKind = keyof typeof receiverKinds

const allReceiverKinds = Object.keys(receiverKinds) as ReceiverKind[]

/** Asks for the kind of the receiver and its address. */
export async function chooseReceiver(sources: Sources): Promise<ChosenReceiver> {
	const kind = await chooseKind(sources)
	return kind === 'mail' ? await chooseMail(sources) : await chooseHook(sources, kind)
}

/** Asks whether there shall be one more receiver. Null: no. */
export async function chooseSecond(sources: Sources): Promise<ChosenReceiver | null> {
	const kind = await choose(sources, {
		option: 'second receiver',
		before: 'none',
		usual: 'none',
		question: `A second receiver, which is notified too when the first one fails (${allReceiverKinds.join(', ')})`,
		read: (text) => (/^(none|no?)$/i.test(text) ? null : readKind(text)),
	})
	if (kind === null) return null
	return kind === 'mail' ? await chooseMail(sources) : await chooseHook(sources, kind)
}

function readKind(text: string): ReceiverKind {
	const kind = allReceiverKinds.find((name) => receiverKinds[name].test(text))
	if (kind === undefined) throw new RangeError(`takes ${allReceiverKinds.join(', ')}`)
	return kind
}

async function chooseKind(sources: Sources): Promise<ReceiverKind> {
	const { values, io, receiver } = sources
	const { env } = io
	const [isMail, isHook] = [values.smtp ?? values.to, values.webhook].map((value) => value !== undefined)
	if (isMail && isHook)
		throw new UsageError('either mail (--smtp, --to) or --webhook; the other comes with --add receiver')
	if (isMail || isHook) return isMail ? 'mail' : 'webhook'
	const before = receiver === null ? null : receiver.type === 'email' ? 'mail' : kindOf(receiver.format)
	if (before === null && (env.SMTP_URL !== undefined) !== (env.OPS_HOOK_URL !== undefined)) {
		return env.SMTP_URL !== undefined ? 'mail' : 'webhook'
	}
	return await choose(sources, {
		option: 'smtp and --to, or --webhook',
		before,
		usual: before ?? 'mail',
		question: `Alerts by ${allReceiverKinds.slice(0, -1).join(', ')} or ${allReceiverKinds.at(-1)}?`,
		read: readKind,
	})
}

function kindOf(format: string): ReceiverKind {
	return allReceiverKinds.find((kind) => kind === format) ?? 'webhook'
}

async function chooseMail(sources: Sources): Promise<ChosenReceiver> {
	const { values, io, stored, trials } = sources
	const before = sources.receiver?.type === 'email' ? sources.receiver : null
	const smtp = await choose(sources, {
		option: 'smtp',
		fromEnv: io.env.SMTP_URL,
		before: stored('SMTP_URL'),
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
		before: before?.to.join(', ') ?? null,
		usual: before?.to.join(', '),
		question: 'Mails go to',
		read: (text) => text.split(',').map((one) => readMailAddress(one.trim())),
	})
	const from = await choose(sources, {
		option: 'from',
		before: before?.from ?? senderOf(smtp, to[0] ?? ''),
		usual: before?.from ?? senderOf(smtp, to[0] ?? ''),
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

const urlQuestions: Readonly<Record<Exclude<ReceiverKind, 'mail'>, string>> = {
	webhook: 'URL of the webhook (not shown)',
	slack: 'URL of the incoming webhook: https://hooks.slack.com/services/… (not shown)',
	discord: 'URL of the webhook: https://discord.com/api/webhooks/… (not shown)',
	telegram: 'Token of the bot, as BotFather gave it (not shown)',
	ntfy: 'URL of the topic, such as https://ntfy.sh/TOPIC (not shown)',
	pagerduty: 'Integration key of the service, Events API v2 (not shown)',
}

async function chooseHook(sources: Sources, kind: Exclude<ReceiverKind, 'mail'>): Promise<ChosenReceiver> {
	const { values, io, stored, trials } = sources
	const isScripted = values.webhook !== undefined || io.env.OPS_HOOK_URL !== undefined
	// For PagerDuty, the key is what a person has; the URL is the same for all.
	const isKeyAsked = kind === 'pagerduty' && !isScripted
	const chat = kind === 'telegram' || values.format === 'telegram' ? await chooseChat(sources) : null
	return await choose(sources, {
		option: 'webhook',
		fromEnv: io.env.OPS_HOOK_URL,
		before: stored(isKeyAsked ? 'OPS_HOOK_SECRET' : 'OPS_HOOK_URL'),
		question: urlQuestions[kind],
		isSecret: true,
		read(text): ChosenReceiver {
			io.scrubber.add([text])
			const key = isKeyAsked ? readRoutingKey(text) : null
			const url = key === null ? urlOf(text, kind) : 'https://events.pagerduty.com/v2/enqueue'
			const before = sources.receiver?.type === 'webhook' && stored('OPS_HOOK_URL') === url ? sources.receiver : null
			const usual = kind === 'webhook' ? (before?.format ?? formatOf(url)) : kind
			const format = readFormat(values.format ?? usual)
			return { receiver: { kind: 'webhook', format, chat }, secrets: secretsOf(url, format, key, sources) }
		},
		try: async ({ receiver, secrets }) => (await trials?.receiver(receiver, secrets)) ?? null,
	})
}

async function chooseChat(sources: Sources): Promise<string> {
	return await choose(sources, {
		option: 'chat',
		before: null,
		question: 'Number of the chat, such as -1001234567890, or @channel',
		read: readTelegramChat,
	})
}

/** Of a bot, the token alone is enough. */
function urlOf(text: string, kind: ReceiverKind): string {
	const isToken = kind === 'telegram' && /^\d+:[\w-]+$/.test(text)
	return readHttpUrl(isToken ? `https://api.telegram.org/bot${text}` : text)
}

function secretsOf(url: string, format: string, key: string | null, { io, stored }: Sources): Secrets {
	const secrets = new Map([['OPS_HOOK_URL', url]])
	if (format !== 'standard' && format !== 'pagerduty') return secrets
	const kept = io.env.OPS_HOOK_SECRET ?? stored('OPS_HOOK_SECRET')
	if (format === 'pagerduty' && key === null && kept === null)
		throw new UsageError('PagerDuty needs its integration key: set OPS_HOOK_SECRET in the environment')
	const secret = key ?? kept ?? freshSecret()
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
	const known = ['standard', ...allReceiverKinds.filter((kind) => kind !== 'mail' && kind !== 'webhook')]
	if (known.includes(String(value))) return String(value)
	throw new UsageError(`--format takes ${known.join(', ')}, not \`${String(value)}\``)
}

/** Asks for an address to watch. Null: the user wants no more, which `mayBeNone` allows. */
export async function chooseWatch(sources: Sources, mayBeNone: boolean): Promise<SetupWatch | null> {
	const { values, asker } = sources
	const address = await choose<string | null>(sources, {
		option: 'address',
		before: mayBeNone ? 'none' : null,
		usual: mayBeNone ? 'none more' : undefined,
		question: mayBeNone ? 'Another address to watch' : 'First address to watch',
		read: (text) => (/^none( more)?$/.test(text) && mayBeNone ? null : toChecksum(parseAddress(text))),
	})
	if (address === null) return null
	const isAsked = values.address === undefined && values.label === undefined && asker !== null
	const label = await choose(sources, {
		option: 'label',
		given: isAsked ? undefined : String(values.label ?? ''),
		before: '',
		usual: 'none',
		question: 'Its label in alerts',
		read: (text) => (text === '' ? '' : readLine(text)),
	})
	return { address, label }
}

/** Asks for the network of an address when there are several. */
export async function chooseNetwork(sources: Sources, names: readonly string[]): Promise<string> {
	const [only = ''] = names
	return await choose(sources, {
		option: 'network',
		before: names.length === 1 ? only : null,
		given: names.length === 1 ? ((sources.values.network as string | undefined) ?? only) : undefined,
		question: `Its network (${names.join(', ')})`,
		read(text) {
			if (names.includes(text)) return text
			throw new RangeError(`must be one of ${names.join(', ')}`)
		},
	})
}
