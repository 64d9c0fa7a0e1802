/**
 * The room `commands/setup` holds the parts of `setup`: questions, places, the service. This file: the contents of the
 * files that it writes.
 */

import { sha256 } from '../../base/sha256.js'
import { chainNamed } from '../../core/chains.js'

export interface SetupMail {
	readonly kind: 'mail'
	readonly from: string
	readonly to: readonly string[]
}

export interface SetupHook {
	readonly kind: 'webhook'
	readonly format: string
	/** Of telegram: the number of the chat, or @channel. */
	readonly chat: string | null
}

export type SetupReceiver = SetupMail | SetupHook

export interface SetupConfig {
	readonly chainId: number
	readonly receiver: SetupReceiver
	/** As written in the file: `state`, or an absolute path. */
	readonly state: string
	/** Address of the pages; null: none. */
	readonly http: string | null
	/** Watchlist files, instead of the folder beside tracewatch.yaml. */
	readonly watchlistFiles?: readonly string[]
}

/** The name of the receiver, whatever its kind, so that the watchlists need no change when the kind changes. */
export const RECEIVER = 'ops'

/** The variable of the endpoint. The shipped units load both names. */
export function rpcVariable(chainId: number): string {
	return chainId === 1 ? 'ETHEREUM_RPC_URL' : 'RPC_URL'
}

const MARK = '# Written by `tracewatch setup`, sum '

/** The contents of `tracewatch.yaml`. The first line has a checksum that shows later whether a person edited it. */
export function configText(config: SetupConfig): string {
	const lines = [
		'# What each key means: docs/configuration.md.',
		'# A ${NAME} is a secret, kept apart. Edit this as you like: `tracewatch check` says what is wrong, and setup asks',
		'# before it replaces it.',
		'networks:',
		...asEntry(networkLines(config.chainId, rpcVariable(config.chainId))),
		'receivers:',
		...asEntry(receiverLines(RECEIVER, config.receiver)),
		config.watchlistFiles === undefined
			? 'watchlists: watchlists           # a folder: its *.yaml, *.yml'
			: `watchlists: ${JSON.stringify(config.watchlistFiles)}`,
		`state: ${config.state}`,
		config.http === null
			? '# http: 127.0.0.1:9464         # a page that shows all of it, and /metrics'
			: `http: ${config.http}`,
		'',
	]
	const text = lines.join('\n')
	return `${MARK}${sha256(text).slice(0, 12)}\n${text}`
}

function asEntry(lines: readonly string[]): readonly string[] {
	return lines.map((line, at) => `${at === 0 ? '  - ' : '    '}${line}`)
}

/** An entry of `networks`, without indentation; `variable` is the secret that holds the endpoint's URL. */
export function networkLines(chainId: number, variable: string): readonly string[] {
	const { name, symbol, explorer } = chainNamed(chainId)
	const isLocal = chainId === 31_337
	const schedule = isLocal ? '* * * * * *' : chainId === 1 ? '*/12 * * * * *' : '*/5 * * * * *'
	return [
		`name: ${name}`,
		`chain_id: ${chainId}`,
		'rpc:                         # in order of preference; more of them, more certain',
		`  - \${${variable}}`,
		`schedule: "${schedule}"   # seconds first`,
		...(symbol === 'ETH' ? [] : [`symbol: ${symbol}`]),
		...(explorer === null ? [] : [`explorer: ${explorer}`]),
		...(isLocal ? ['stall_after: never           # blocks come only with payments'] : []),
	]
}

/**
 * An entry of `receivers`, without indentation; `secretOf` maps the usual name of a secret, such as `SMTP_URL`, to the
 * name in this configuration.
 */
export function receiverLines(
	name: string,
	receiver: SetupReceiver,
	secretOf = (usual: string) => usual,
): readonly string[] {
	const named = [`name: ${name}`, `type: ${receiver.kind === 'mail' ? 'email' : 'webhook'}`]
	if (receiver.kind === 'mail') {
		return [
			...named,
			`smtp: \${${secretOf('SMTP_URL')}}`,
			`from: ${settingsScalar(receiver.from)}`,
			`to: [${receiver.to.map(settingsScalar).join(', ')}]`,
			digestLine,
		]
	}
	const { format, chat } = receiver
	const secret = `\${${secretOf('OPS_HOOK_SECRET')}}`
	return [
		...named,
		`url: \${${secretOf('OPS_HOOK_URL')}}`,
		format === 'standard' ? `secret: ${secret}   # signs each request` : `format: ${format}`,
		...(chat === null ? [] : [`chat_id: ${JSON.stringify(chat)}`]),
		...(format === 'pagerduty' ? [`routing_key: ${secret}`] : []),
		// PagerDuty gets each alert by itself, so its receiver has no digest.
		...(format === 'pagerduty' ? [] : [digestLine]),
	]
}

const digestLine = 'digest: {every: 10m, max: 20}   # in a storm; alarms and what leaves a watch go out at once'

/** Whether the text was made by `configText` and not edited since. */
export function isAsWritten(text: string): boolean {
	const end = text.indexOf('\n')
	return text.startsWith(MARK) && text.slice(MARK.length, end) === sha256(text.slice(end + 1)).slice(0, 12)
}

export interface SetupWatch {
	/** In EIP-55 spelling. */
	readonly address: string
	/** Empty: no label. */
	readonly label: string
}

export function watchlistText(network: string, receivers: readonly string[], watch: SetupWatch): string {
	const lines = [
		'# Edits take effect by themselves while tracewatch runs; `tracewatch check` says what is wrong with them.',
		`network: ${scalar(network)}`,
		`receivers: [${receivers.map(scalar).join(', ')}]`,
		'watches:',
	]
	return `${lines.join('\n')}\n${watchText(watch)}`
}

/**
 * The watchlist with one more watch. Null when its form differs from what `setup` writes, or it has other receivers.
 */
export function withWatch(
	text: string,
	network: string,
	receivers: readonly string[],
	watch: SetupWatch,
): string | null {
	const [, head = ''] = watchlistText(network, receivers, watch).split('\n', 2)
	const [before = '', list, ...more] = text.split(/^watches:[ \t]*\n/m)
	const lines = before.split('\n').filter((line) => !/^\s*(#|$)/.test(line))
	const wanted = [head, `receivers: [${receivers.map(scalar).join(', ')}]`]
	const isPlain = list !== undefined && more.length === 0 && /^( {2}- .*\n| {4}.*\n|\s*#.*\n|\s*\n)+$/.test(list)
	if (!isPlain || lines.join('\n') !== wanted.join('\n')) return null
	return `${text.trimEnd()}\n${watchText(watch)}`
}

/** The watch as the last entry of a watchlist. */
function watchText({ address, label }: SetupWatch): string {
	return `  - address: ${address}\n${label === '' ? '' : `    label: ${scalar(label)}\n`}`
}

/** A YAML scalar, unquoted where that is safe. */
function scalar(text: string): string {
	const isPlain = /^[A-Za-z][\w.@+-]*$/.test(text) && !/^(null|true|false)$/i.test(text)
	return isPlain ? text : JSON.stringify(text)
}

/** Escapes `${`, which would be read as a variable. */
function settingsScalar(text: string): string {
	return scalar(text).replaceAll('${', '$${')
}
