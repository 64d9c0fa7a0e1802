/** The room `commands/setup` asks, tries, writes and starts. This file: the contents of the files that it writes. */

import { stringify } from 'yaml'
import { chainNamed } from '../../core/chains.js'

/** An entry of `receivers`. */
export type ReceiverEntry = Readonly<Record<string, unknown>>

interface SetupConfig {
	readonly chainId: number
	readonly receiver: ReceiverEntry
	/** As written in the file: `state`, or an absolute path. */
	readonly state: string
	/** Address of the pages; null: none. */
	readonly http: string | null
}

/** The name of the receiver, whatever its kind, so that the watchlists need no change when the kind changes. */
const RECEIVER = 'ops'

/** Against storms; alarms and what leaves a watch go out at once. PagerDuty gets each alert by itself. */
const digest = { every: '10m' }

/** The name of the endpoint's secret. */
export function rpcVariable(chainId: number): string {
	return chainId === 1 ? 'ETHEREUM_RPC_URL' : 'RPC_URL'
}

/** The contents of `tracewatch.yaml`. */
export function configText({ chainId, receiver, state, http }: SetupConfig): string {
	const { name, symbol, explorer } = chainNamed(chainId)
	const isLocal = chainId === 31_337
	const network = {
		name,
		chain_id: chainId,
		rpc: [`\${${rpcVariable(chainId)}}`],
		schedule: isLocal ? '* * * * * *' : chainId === 1 ? '*/12 * * * * *' : '*/5 * * * * *',
		...(symbol !== 'ETH' && { symbol }),
		...(explorer !== null && { explorer }),
		// A local chain has no block without a payment: its silence is no stall.
		...(isLocal && { stall_after: 'never' }),
	}
	const places = { watchlists: 'watchlists', state, ...(http !== null && { http }) }
	const text = stringify({ networks: [network], receivers: [receiver], ...places })
	return (
		'# What each key means: docs/configuration.md. A ${NAME} is a secret, in secrets/NAME. Edit this as you like:\n' +
		`# \`tracewatch check\` says what is wrong.\n${text}` +
		(http === null ? '# http: 127.0.0.1:9464   # pages, /healthz and /metrics\n' : '')
	)
}

export function emailEntry(from: string, to: readonly string[]): ReceiverEntry {
	const [sender, ...recipients] = [from, ...to].map((text) => text.replaceAll('${', '$${'))
	return { name: RECEIVER, type: 'email', smtp: '${SMTP_URL}', from: sender, to: recipients, digest }
}

export function hookEntry(format: string): ReceiverEntry {
	const hook = { name: RECEIVER, type: 'webhook', url: '${OPS_HOOK_URL}' }
	if (format === 'standard') return { ...hook, secret: '${OPS_HOOK_SECRET}', digest }
	if (format === 'pagerduty') return { ...hook, format, routing_key: '${OPS_HOOK_SECRET}' }
	return { ...hook, format, digest }
}

export interface SetupWatch {
	/** In EIP-55 spelling. */
	readonly address: string
	/** Empty: no label. */
	readonly label: string
}

export function watchlistText(network: string, { address, label }: SetupWatch): string {
	const watch = { address, ...(label !== '' && { label }) }
	return (
		'# Edits take effect by themselves while tracewatch runs; `tracewatch check` says what is wrong with them.\n' +
		stringify({ network, receivers: [RECEIVER], watches: [watch] })
	)
}
