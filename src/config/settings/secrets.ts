import { isOpenly, urlSecrets } from '../../base/secrets/urlSecrets.js'
import type { Filled } from './interpolate.js'
import type { SettingsWritten } from './settingsSchema.js'
import { isDatabase } from './statePlace.js'

/**
 * Every text that must not appear in a log, an error, an alert, a metric or the state: all values of `${NAME}`, each
 * URL (the scrubber finds the secret parts of it), signing secrets, and values of headers. Hosts are not secret, nor
 * are texts that also stand in a public setting.
 */
export function secretsOf(settings: SettingsWritten, filled: readonly Filled[]): readonly string[] {
	const found = new Set<string>()
	const hosts = new Set<string>()
	const addUrl = (text: string) => {
		const url = new URL(text)
		hosts.add(url.host).add(url.hostname)
		found.add(text)
		const whole = url.pathname + url.search
		if (urlSecrets(url).some((part) => whole.includes(part))) found.add(whole)
	}
	for (const { rpc, ws } of settings.networks) [...rpc, ...ws].forEach(addUrl)
	if (settings.heartbeat_url !== null) addUrl(settings.heartbeat_url)
	if (settings.http_password !== null) found.add(settings.http_password)
	if (isDatabase(settings.state)) found.add(settings.state)
	for (const receiver of settings.receivers) {
		addUrl(receiver.type === 'email' ? receiver.smtp : receiver.url)
		if (receiver.type !== 'webhook') continue
		for (const secret of receiver.secret?.split(' ') ?? []) found.add(secret)
		// Of `Bearer TOKEN` also the token alone.
		for (const [name, value] of Object.entries(receiver.headers))
			if (!isOpenly(name, value)) found.add(value).add(value.replace(/^\S+\s+/, ''))
	}
	for (const value of filled.flatMap(({ values }) => values)) {
		found.add(value)
		// Who writes `${NAME}` takes all of it for a secret: short keys in a path too.
		if (URL.canParse(value)) for (const part of urlSecrets(new URL(value), 6)) found.add(part)
	}
	const open = saidOpenly(settings)
	return [...found].filter((text) => text !== '' && text !== '/' && !hosts.has(text) && !open.has(text))
}

/**
 * Hides the values of `${NAME}` in a message. `template` is set when the message is about such a value: then everything
 * that the message quotes is replaced by it, since the quotes may hold parts of the value.
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

/** Keys whose values are never shown. The values of all other keys are public. */
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

/** Values of public keys: names, mail addresses, symbols and others. */
function saidOpenly(settings: SettingsWritten): ReadonlySet<string> {
	const open = new Set<string>()
	const collect = (value: unknown, key: string) => {
		if (secretKeys.includes(key)) return
		if (typeof value === 'string') open.add(value)
		else if (typeof value === 'number') open.add(String(value))
		else if (value !== null && typeof value === 'object') {
			const isList = Array.isArray(value) || value instanceof Map
			const entries = Object.entries(value instanceof Map ? [...value.values()] : value)
			for (const [name, item] of entries) collect(item, isList ? key : name)
		}
	}
	collect(isDatabase(settings.state) ? { ...settings, state: null } : settings, '')
	return open
}
