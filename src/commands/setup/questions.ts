/** The questions of `setup`, and how each answer is tried. */

import { fitWords } from '../../base/text/outgoing.js'
import { parseAddress, toChecksum } from '../../config/address.js'
import { readHttpUrl, readLine, readMailAddress, readSmtpUrl } from '../../config/values.js'
import { chainNamed } from '../../core/chains.js'
import { createEmailReceiver } from '../../notify/email/email.js'
import { readRoutingKey } from '../../notify/webhook/formats/pagerduty.js'
import { exitCodes, type Io } from '../command.js'
import { examineEndpoint } from '../doctor/endpoint.js'
import { chainIdOf } from '../shared/chainId.js'
import { sendSample } from '../testSend.js'
import type { Question, Trial } from './ask.js'
import { type Said, settingsOf } from './texts.js'

/** By format of webhooks: its name, and what is asked for. */
const hooks: Readonly<Record<string, readonly [name: string, message: string]>> = {
	standard: ['webhook', 'URL of the webhook'],
	slack: ['Slack', 'URL of the incoming webhook: https://hooks.slack.com/services/…'],
	discord: ['Discord', 'URL of the webhook: https://discord.com/api/webhooks/…'],
	telegram: ['Telegram', 'URL of the bot: https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>'],
	ntfy: ['ntfy', 'URL of the topic, such as https://ntfy.sh/TOPIC'],
	pagerduty: ['PagerDuty', 'Integration key of the service, Events API v2'],
}

export const hookFormats = Object.keys(hooks)

export const questions: readonly Question[] = [
	{
		key: 'rpc',
		variables: ['ETHEREUM_RPC_URL', 'RPC_URL'],
		message: 'Endpoint: the URL of a node, with its key',
		isSecret: true,
		read: readHttpUrl,
		attempt: tryEndpoint,
	},
	{
		key: 'by',
		option: 'smtp and --to, or --webhook',
		message: 'Alerts by',
		choices: { mail: 'mail', ...Object.fromEntries(hookFormats.map((format) => [format, hooks[format]?.[0] ?? ''])) },
		read: String,
	},
	{
		key: 'smtp',
		variables: ['SMTP_URL'],
		message: 'Mail server: smtps://user:password@host:465',
		isSecret: true,
		isFor: ({ by }) => by === 'mail',
		read: readSmtpUrl,
		attempt: tryLogin,
	},
	{
		key: 'to',
		message: 'Mails go to',
		isFor: ({ by }) => by === 'mail',
		read(text, said) {
			const addresses = text.split(',').map((one) => readMailAddress(one.trim()))
			return fitting(said, 'to', addresses.join(','))
		},
		attempt: tryReceiver,
	},
	{
		key: 'webhook',
		variables: ['OPS_HOOK_URL'],
		message: ({ by = '' }) => hooks[by]?.[1] ?? '',
		isSecret: true,
		isFor: ({ by }) => by !== 'mail' && by !== 'pagerduty',
		read(text, said) {
			const url = new URL(readHttpUrl(text))
			if (said.chat !== undefined) url.searchParams.set('chat_id', said.chat)
			return fitting(said, 'webhook', url.href)
		},
		attempt: tryReceiver,
	},
	{
		key: 'routingKey',
		option: 'format pagerduty with OPS_HOOK_SECRET in the environment',
		variables: ['OPS_HOOK_SECRET'],
		message: hooks['pagerduty']?.[1] ?? '',
		isSecret: true,
		isFor: ({ by }) => by === 'pagerduty',
		read: (text, said) => fitting(said, 'routingKey', readRoutingKey(text)),
		attempt: tryReceiver,
	},
	{ key: 'address', message: 'First address to watch', read: readWatched },
	{ key: 'label', usual: '', message: 'Its label in alerts (Enter: none)', read: readLabel },
]

/** The answer, if the receiver that it makes can be used. Throws RangeError. */
function fitting(said: Said, key: Question['key'], answer: string): string {
	settingsOf({ ...said, [key]: answer })
	return answer
}

export function readWatched(text: string): string {
	return toChecksum(parseAddress(text.trim()))
}

/** Empty: no label. */
export function readLabel(text: string): string {
	return text === '' ? '' : readLine(text)
}

/** Also learns the chain, and says what matters of the endpoint in a line. */
async function tryEndpoint(said: Said, { signal }: Io): Promise<Trial> {
	const url = said.rpc ?? ''
	const chainId = Number(await chainIdOf(url, signal))
	const { expectedChainId = chainId } = said
	if (expectedChainId !== chainId)
		return {
			code: exitCodes.failed,
			lines: [`the endpoint is of chain ${chainId}, not ${expectedChainId} (--chain-id)`],
		}
	const asked = { keepsBooks: true, readsContracts: false, isPrivate: false, source: 'auto' } as const
	const network = { chainId, confirmations: 0, settle: 'finalized', ...asked } as const
	const report = await examineEndpoint(url, network, signal)
	const { endpoint, error, usable, proved, client, head, source, balances, reasons, advice } = report
	if (error !== null) return { code: exitCodes.tryAgain, lines: [fitWords(error)] }
	if (!usable) {
		const why = [`${endpoint} gives no traces that can be trusted`, ...[...reasons, ...advice].slice(0, 1)].join(': ')
		return { code: exitCodes.failed, lines: [fitWords(why)] }
	}
	said.chainId = chainId
	const books = balances === 'no' ? '; no balances, so nothing is proved' : ''
	const more = advice.length === 0 ? '' : '; `tracewatch doctor` says what to improve'
	const node = `${client ?? 'unknown client'}, block ${head}; traces by ${source}${books}${more}`
	const works = `${endpoint} ${proved ? 'works' : 'answers'}: ${node}`
	const { name, symbol } = chainNamed(chainId)
	const doubts = proved ? [] : [`its traces could not be tried: ${reasons.join('; ')}`]
	const lines = [works, ...doubts, `${name}, chain ${chainId}, ${symbol}`].map(fitWords)
	return { code: exitCodes.done, lines }
}

async function tryLogin(said: Said, { signal }: Io): Promise<Trial> {
	const settings = settingsOf({ ...said, from: 'tracewatch@localhost.invalid', to: 'ops@localhost.invalid' })
	if (settings.type !== 'email') return { code: exitCodes.done, lines: [] }
	const mail = createEmailReceiver(settings)
	try {
		const outcome = await mail.login(signal)
		if (outcome.result === 'delivered') return { code: exitCodes.done, lines: [] }
		const code = outcome.result === 'retry' ? exitCodes.tryAgain : exitCodes.failed
		return { code, lines: [`the mail server does not take it: ${outcome.reason}`] }
	} finally {
		await mail.close()
	}
}

async function tryReceiver(said: Said, io: Io): Promise<Trial> {
	const { code, lines } = await sendSample(settingsOf(said), io)
	return { code, lines: lines.map((line) => `a test message was ${line}`) }
}
