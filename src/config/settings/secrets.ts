import { urlSecrets } from '../../base/urlSecrets.js'
import type { Filled } from './interpolate.js'
import { isDatabase } from './statePlace.js'

/** The settings that hold secrets, as the schema gives them. */
interface Secretive {
	readonly networks: readonly { readonly rpc: readonly string[]; readonly ws: readonly string[] }[]
	readonly heartbeat_url: string | null
	readonly http_password: string | null
	readonly state: string
	readonly receivers: readonly (
		| { readonly type: 'email'; readonly smtp: string }
		| {
				readonly type: 'webhook'
				readonly url: string
				readonly secret: string | null
				readonly headers: Readonly<Record<string, string>>
		  }
	)[]
}

/**
 * Every text that must not appear in a log, an error, an alert, a metric or the state: all that came in through
 * `${NAME}`, what is secret in each URL and the URL whole, signing secrets, values of headers, and of the database its
 * password. Hosts are no secrets, nor is what the settings say openly. Longest first.
 */
export function secretsOf(settings: Secretive, filled: readonly Filled[]): readonly string[] {
	const found = new Set<string>()
	const hosts = new Set<string>()
	const addUrl = (text: string) => {
		const url = new URL(text)
		hosts.add(url.host).add(url.hostname)
		found.add(text).add(url.pathname + url.search)
		for (const secret of urlSecrets(url)) found.add(secret)
	}
	for (const { rpc, ws } of settings.networks) [...rpc, ...ws].forEach(addUrl)
	if (settings.heartbeat_url !== null) addUrl(settings.heartbeat_url)
	if (settings.http_password !== null) found.add(settings.http_password)
	if (isDatabase(settings.state)) {
		found.add(settings.state)
		// Its user and its name are often plain words.
		const url = new URL(settings.state)
		url.username = ''
		for (const secret of urlSecrets(url)) found.add(secret)
	}
	for (const receiver of settings.receivers) {
		addUrl(receiver.type === 'email' ? receiver.smtp : receiver.url)
		if (receiver.type !== 'webhook') continue
		for (const secret of receiver.secret?.split(' ') ?? []) found.add(secret).add(secret.replace(/^whsec_/, ''))
		// `Bearer TOKEN`: the token alone as well.
		for (const value of Object.values(receiver.headers)) found.add(value).add(value.replace(/^\S+\s+/, ''))
	}
	for (const { values } of filled) for (const value of values) found.add(value)
	const open = saidOpenly(settings)
	return [...found]
		.filter((text) => text !== '' && text !== '/' && !hosts.has(text) && !open.has(text))
		.sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
}

/**
 * Takes values that came from outside out of a message. `template` is set when the message is about such a value: then
 * all that it quotes may be a part of it, and the name of the variable says more anyway.
 */
export function hideSecrets(message: string, template: string | undefined, filled: readonly Filled[]): string {
	const subject = /^(?:an entry of )?`[\w-]+` /.exec(message)?.[0] ?? ''
	const open =
		template === undefined ? message : subject + message.slice(subject.length).replace(/`.*`/s, `\`${template}\``)
	const values = filled.flatMap((one) => one.values.map((value) => ({ value, template: one.template })))
	return values
		.filter(({ value }) => value.length >= 6)
		.sort((a, b) => b.value.length - a.value.length)
		.reduce((text, one) => text.replaceAll(one.value, one.template), open)
}

/** Keys whose values are shown nowhere; all others stand openly in the settings. */
const secretKeys: readonly string[] = [
	'rpc',
	'ws',
	'smtp',
	'url',
	'secret',
	'headers',
	'heartbeat_url',
	'http_password',
]

/** What the settings say openly: names, mail addresses, symbols and the like. */
function saidOpenly(settings: Secretive): ReadonlySet<string> {
	const open = new Set<string>()
	const collect = (value: unknown, key: string) => {
		if (secretKeys.includes(key)) return
		if (typeof value === 'string') open.add(value)
		else if (typeof value === 'number') open.add(String(value))
		else if (value !== null && typeof value === 'object') {
			for (const [name, item] of Object.entries(value)) collect(item, Array.isArray(value) ? key : name)
		}
	}
	collect(isDatabase(settings.state) ? { ...settings, state: null } : settings, '')
	return open
}
