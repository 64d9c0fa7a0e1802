/**
 * The room `commands/setup` holds the parts of `setup`: questions, places, the service. This file: the contents of the
 * files that it writes.
 */

import { chainNamed } from '../../core/chains.js'

interface SetupMail {
	readonly kind: 'mail'
	readonly from: string
	readonly to: readonly string[]
}

interface SetupHook {
	readonly kind: 'webhook'
	readonly format: string
}

export type SetupReceiver = SetupMail | SetupHook

interface SetupConfig {
	readonly chainId: number
	readonly receiver: SetupReceiver
	/** As written in the file: `state`, or an absolute path. */
	readonly state: string
	/** Address of the pages; null: none. */
	readonly http: string | null
}

/** The name of the receiver, whatever its kind, so that the watchlists need no change when the kind changes. */
const RECEIVER = 'ops'

/** The variable of the endpoint. */
export function rpcVariable(chainId: number): string {
	return chainId === 1 ? 'ETHEREUM_RPC_URL' : 'RPC_URL'
}

/** The contents of `tracewatch.yaml`. */
export function configText({ chainId, receiver, state, http }: SetupConfig): string {
	const lines = [
		'# What each key means: docs/configuration.md. A ${NAME} is a secret, kept apart. Edit this as you like:',
		'# `tracewatch check` says what is wrong.',
		'networks:',
		...asEntry(networkLines(chainId)),
		'receivers:',
		...asEntry(receiverLines(receiver)),
		'watchlists: watchlists           # a folder: its *.yaml, *.yml',
		`state: ${state}`,
		http === null ? '# http: 127.0.0.1:9464         # a page that shows all of it, and /metrics' : `http: ${http}`,
		'',
	]
	return lines.join('\n')
}

function asEntry(lines: readonly string[]): readonly string[] {
	return lines.map((line, at) => `${at === 0 ? '  - ' : '    '}${line}`)
}

function networkLines(chainId: number): readonly string[] {
	const { name, symbol, explorer } = chainNamed(chainId)
	const isLocal = chainId === 31_337
	const schedule = isLocal ? '* * * * * *' : chainId === 1 ? '*/12 * * * * *' : '*/5 * * * * *'
	return [
		`name: ${name}`,
		`chain_id: ${chainId}`,
		'rpc:                         # in order of preference; more of them, more certain',
		`  - \${${rpcVariable(chainId)}}`,
		`schedule: "${schedule}"   # seconds first`,
		...(symbol === 'ETH' ? [] : [`symbol: ${symbol}`]),
		...(explorer === null ? [] : [`explorer: ${explorer}`]),
		// Health calls a chain stalled whose head stands, although polls work.
		...(isLocal ? ['stall_after: never           # blocks come only with payments'] : []),
	]
}

/** An entry of `receivers`, without indentation. */
export function receiverLines(receiver: SetupReceiver): readonly string[] {
	const named = [`name: ${RECEIVER}`, `type: ${receiver.kind === 'mail' ? 'email' : 'webhook'}`]
	if (receiver.kind === 'mail') {
		const to = receiver.to.map(settingsScalar).join(', ')
		return [...named, 'smtp: ${SMTP_URL}', `from: ${settingsScalar(receiver.from)}`, `to: [${to}]`, digestLine]
	}
	const { format } = receiver
	return [
		...named,
		'url: ${OPS_HOOK_URL}',
		format === 'standard' ? 'secret: ${OPS_HOOK_SECRET}   # signs each request' : `format: ${format}`,
		// PagerDuty gets each alert by itself, so its receiver has no digest.
		format === 'pagerduty' ? 'routing_key: ${OPS_HOOK_SECRET}' : digestLine,
	]
}

const digestLine = 'digest: {every: 10m, max: 20}   # in a storm; alarms and what leaves a watch go out at once'

export interface SetupWatch {
	/** In EIP-55 spelling. */
	readonly address: string
	/** Empty: no label. */
	readonly label: string
}

export function watchlistText(network: string, { address, label }: SetupWatch): string {
	const lines = [
		'# Edits take effect by themselves while tracewatch runs; `tracewatch check` says what is wrong with them.',
		`network: ${scalar(network)}`,
		`receivers: [${RECEIVER}]`,
		'watches:',
		`  - address: ${address}`,
		...(label === '' ? [] : [`    label: ${scalar(label)}`]),
		'',
	]
	return lines.join('\n')
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
