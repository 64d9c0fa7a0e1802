import { randomBytes } from 'node:crypto'
import { parseAddress, toChecksum } from '../../config/address.js'
import { formatNames } from '../../config/settings/webhookFormat.js'
import { readHttpUrl, readLine, readMailAddress, readMailbox, readSmtpUrl } from '../../config/values.js'
import { UsageError } from '../../errors.js'
import { chainIdOf } from '../chainId.js'
import { choose, type Secrets, type Sources } from './choose.js'
import { rpcVariable, type SetupHook, type SetupMail, type SetupWatch } from './texts.js'

export interface Endpoint {
	readonly chainId: number
	readonly secrets: Secrets
}

export interface ChosenReceiver {
	readonly receiver: SetupMail | SetupHook
	readonly secrets: Secrets
}

/** Asks for the endpoint, and the endpoint for its chain, unless nothing is to be tried. */
export async function chooseEndpoint(sources: Sources): Promise<Endpoint> {
	const { values, io, stored } = sources
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
	})
}

function readChainId(value: unknown): number {
	if (value === undefined) return 1
	if (typeof value === 'string' && /^[1-9]\d{0,14}$/.test(value)) return Number(value)
	throw new UsageError(`--chain-id takes a number in decimal digits, not \`${String(value)}\``)
}

/** Asks who is told, and how. */
export async function chooseReceiver(sources: Sources): Promise<ChosenReceiver> {
	const kind = await chooseKind(sources)
	return kind === 'mail' ? await chooseMail(sources) : await chooseHook(sources)
}

async function chooseKind(sources: Sources): Promise<'mail' | 'webhook'> {
	const { values, io, receiver } = sources
	const { env } = io
	const [isMail, isHook] = [values.smtp ?? values.to, values.webhook].map((value) => value !== undefined)
	if (isMail && isHook)
		throw new UsageError('either mail (--smtp, --to) or --webhook; the other comes with --add receiver')
	if (isMail || isHook) return isMail ? 'mail' : 'webhook'
	const before = receiver === null ? null : receiver.type === 'email' ? 'mail' : 'webhook'
	if (before === null && (env.SMTP_URL !== undefined) !== (env.OPS_HOOK_URL !== undefined)) {
		return env.SMTP_URL !== undefined ? 'mail' : 'webhook'
	}
	return await choose(sources, {
		option: 'smtp and --to, or --webhook',
		before,
		usual: before ?? 'mail',
		question: 'Alerts by mail or webhook?',
		read(text) {
			if (/^(m|e-?mail|mail)s?$/i.test(text)) return 'mail'
			if (/^(w|web|hook|webhook)s?$/i.test(text)) return 'webhook'
			throw new RangeError('takes mail or webhook')
		},
	})
}

async function chooseMail(sources: Sources): Promise<ChosenReceiver> {
	const { values, io, stored } = sources
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
	})
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
	})
	return { receiver: { kind: 'mail', from, to }, secrets: new Map([['SMTP_URL', smtp]]) }
}

/** Most mail servers take nobody but their own users for a sender. */
function senderOf(smtp: string, to: string): string {
	const user = decodeURIComponent(new URL(smtp).username)
	return user.includes('@') ? user : `tracewatch${to.slice(to.indexOf('@'))}`
}

async function chooseHook(sources: Sources): Promise<ChosenReceiver> {
	const { values, io, stored } = sources
	const url = await choose(sources, {
		option: 'webhook',
		fromEnv: io.env.OPS_HOOK_URL,
		before: stored('OPS_HOOK_URL'),
		question: 'URL of the webhook (not shown)',
		isSecret: true,
		read(text) {
			io.scrubber.add([text])
			return readHttpUrl(text)
		},
	})
	const before = sources.receiver?.type === 'webhook' && stored('OPS_HOOK_URL') === url ? sources.receiver : null
	const format = readFormat(values.format ?? before?.format ?? formatOf(url))
	const secrets = new Map([['OPS_HOOK_URL', url]])
	if (format === 'standard') {
		const secret = io.env.OPS_HOOK_SECRET ?? stored('OPS_HOOK_SECRET') ?? freshSecret()
		io.scrubber.add([secret])
		secrets.set('OPS_HOOK_SECRET', secret)
	}
	return { receiver: { kind: 'webhook', format }, secrets }
}

/** As Standard Webhooks has it. */
function freshSecret(): string {
	return `whsec_${randomBytes(32).toString('base64')}`
}

/** Of services that are known by their host and need nothing else. */
function formatOf(url: string): string {
	const { hostname, pathname } = new URL(url)
	if (hostname === 'hooks.slack.com') return 'slack'
	return /(^|\.)discord(app)?\.com$/.test(hostname) && pathname.startsWith('/api/webhooks/') ? 'discord' : 'standard'
}

function readFormat(value: unknown): string {
	const known = ['standard', 'slack', 'discord']
	if (known.includes(String(value))) return String(value)
	const isOther = formatNames.some((name) => name === value)
	const hint = isOther ? ', which needs more: see docs/delivery.md' : ''
	throw new UsageError(`--format takes ${known.join(', ')}, not \`${String(value)}\`${hint}`)
}

/** Asks whom to watch; null: nobody more, where `mayBeNone`. */
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

/** Asks on which network an address is, where there are several. */
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
