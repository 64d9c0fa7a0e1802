/** The room holds the parts of `setup`: questions, places, the service. This file: the texts of what it writes. */

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
}

export interface SetupConfig {
	readonly chainId: number
	readonly receiver: SetupMail | SetupHook
	/** As written: `state`, or an absolute path. */
	readonly state: string
	/** Where the pages are; null: nowhere. */
	readonly http: string | null
	/** A list of files, instead of the folder beside it. */
	readonly watchlistFiles?: readonly string[]
}

/** One for whatever kind it is: the watchlists need no change when the kind changes. */
export const RECEIVER = 'ops'

/** The secret that stands for the endpoint; the units shipped know both names. */
export function rpcVariable(chainId: number): string {
	return chainId === 1 ? 'ETHEREUM_RPC_URL' : 'RPC_URL'
}

const MARK = '# Written by `tracewatch setup`, sum '

/** What `tracewatch.yaml` says; its first line tells later whether somebody edited it. */
export function configText(config: SetupConfig): string {
	const lines = [
		'# What each key means: docs/configuration.md, and `tracewatch init` writes a longer one with reasons.',
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

/** An entry of `networks`, without indentation; the endpoint is the secret of that name. */
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
		...(isLocal ? ['stall_after: never           # blocks come when somebody pays'] : []),
	]
}

/** An entry of `receivers`, without indentation; `secretOf` names the secrets: `SMTP_URL` as it is called here. */
export function receiverLines(
	name: string,
	receiver: SetupMail | SetupHook,
	secretOf = (usual: string) => usual,
): readonly string[] {
	const named = [`name: ${name}`, `type: ${receiver.kind === 'mail' ? 'email' : 'webhook'}`]
	if (receiver.kind === 'mail') {
		return [
			...named,
			`smtp: \${${secretOf('SMTP_URL')}}`,
			`from: ${settingsScalar(receiver.from)}`,
			`to: [${receiver.to.map(settingsScalar).join(', ')}]`,
		]
	}
	const isSigned = receiver.format === 'standard'
	return [
		...named,
		`url: \${${secretOf('OPS_HOOK_URL')}}`,
		isSigned ? `secret: \${${secretOf('OPS_HOOK_SECRET')}}   # signs each request` : `format: ${receiver.format}`,
	]
}

/** Whether the text is one that `configText` made, as it made it. */
export function isAsWritten(text: string): boolean {
	const end = text.indexOf('\n')
	return text.startsWith(MARK) && text.slice(MARK.length, end) === sha256(text.slice(end + 1)).slice(0, 12)
}

export interface SetupWatch {
	/** EIP-55. */
	readonly address: string
	/** '': none. */
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

/** The watchlist with one watch more; null where it is not plain enough to write into, or has other receivers. */
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

/** To stand at the end of a watchlist. */
function watchText({ address, label }: SetupWatch): string {
	return `  - address: ${address}\n${label === '' ? '' : `    label: ${scalar(label)}\n`}`
}

/** Plain where that is safe. */
function scalar(text: string): string {
	const isPlain = /^[A-Za-z][\w.@+-]*$/.test(text) && !/^(null|true|false)$/i.test(text)
	return isPlain ? text : JSON.stringify(text)
}

/** In tracewatch.yaml a `${` would ask for a secret. */
function settingsScalar(text: string): string {
	return scalar(text).replaceAll('${', '$${')
}
