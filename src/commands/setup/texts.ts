/** The room `commands/setup` asks, tries, writes and starts. This file: what answers become in the files it writes. */

import { stringify } from 'yaml'
import { interpolate } from '../../config/settings/interpolate.js'
import { receiverSchema } from '../../config/settings/receiverSchema.js'
import type { ReceiverSettings } from '../../config/settings/settings.js'
import { chainNamed } from '../../core/chains.js'

/**
 * What options, the environment and a person said. `by`: `mail`, or a format of webhooks. `to`: addresses with commas.
 * `signing`: the secret that signs messages to a webhook. `label`: empty for none.
 */
export type Said = Partial<Record<Answer | 'from' | 'chat' | 'signing', string>> & {
	chainId: number
	/** As an option says; the endpoint must agree. */
	readonly expectedChainId?: number
	/** The environment variables that answered. */
	variables?: Partial<Record<Answer, string>>
}

export type Answer = 'rpc' | 'by' | 'smtp' | 'to' | 'webhook' | 'routingKey' | 'address' | 'label'

/** The name of the receiver, whatever its kind, so that the watchlists need no change when the kind changes. */
const RECEIVER = 'ops'

/** Against storms; alarms and what leaves a watch go out at once. PagerDuty gets each alert by itself. */
const digest = { every: '10m' }

/** The receiver as in tracewatch.yaml. */
function receiverOf({ by, smtp = '', to = '', from }: Said) {
	if (by === 'mail') {
		const addresses = to.split(',')
		const all = [from ?? senderOf(smtp, addresses[0] ?? ''), ...addresses]
		const [sender, ...recipients] = all.map((text) => text.replaceAll('${', () => '$${'))
		return { name: RECEIVER, type: 'email', smtp: '${SMTP_URL}', from: sender, to: recipients, digest }
	}
	const hook = { name: RECEIVER, type: 'webhook', url: '${OPS_HOOK_URL}' }
	if (by === 'standard') return { ...hook, secret: '${OPS_HOOK_SECRET}', digest }
	return { ...hook, format: by, ...(by === 'pagerduty' ? { routing_key: '${OPS_HOOK_SECRET}' } : { digest }) }
}

/** Most mail servers accept only their own users as senders. */
function senderOf(smtp: string, to: string): string {
	const user = decodeURIComponent(new URL(smtp).username)
	return user.includes('@') ? user : `tracewatch${to.slice(to.indexOf('@'))}`
}

/** The receiver's settings as the daemon will read them from the file. Throws RangeError. */
export function settingsOf(said: Said): ReceiverSettings {
	const read = receiverSchema.safeParse(interpolate(receiverOf(said), secretsOf(said), '').value)
	if (read.success) return read.data
	const [{ message = 'cannot be used', path = [] } = {}] = read.error.issues
	throw new RangeError(path[0] === 'secret' ? `is beside OPS_HOOK_SECRET, which ${message}` : message)
}

/** By name, which is also the name of its file. */
export function secretsOf(said: Said): Readonly<Record<string, string>> {
	const { chainId, by, rpc = '', smtp = '', webhook = 'https://events.pagerduty.com/v2/enqueue' } = said
	const secret = by === 'standard' ? said.signing : by === 'pagerduty' ? said.routingKey : undefined
	const hook = { OPS_HOOK_URL: webhook, ...(secret !== undefined && { OPS_HOOK_SECRET: secret }) }
	return { [rpcVariable(chainId)]: rpc, ...(by === 'mail' ? { SMTP_URL: smtp } : hook) }
}

function rpcVariable(chainId: number): string {
	return chainId === 1 ? 'ETHEREUM_RPC_URL' : 'RPC_URL'
}

/** The contents of `tracewatch.yaml`. `http`: where the pages are; null: none. */
export function configText(said: Said, { state, http }: { state: string; http: string | null }): string {
	const { chainId } = said
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
	const text = stringify({ networks: [network], receivers: [receiverOf(said)], ...places })
	return (
		'# What each key means: docs/configuration.md. A ${NAME} is a secret, in secrets/NAME. Edit this as you like:\n' +
		`# \`tracewatch check\` says what is wrong.\n${text}` +
		(http === null ? '# http: 127.0.0.1:9464   # pages, /healthz and /metrics\n' : '')
	)
}

export function watchlistText({ chainId, address, label }: Said): string {
	const watch = { address, ...(label !== '' && { label }) }
	return (
		'# Edits take effect by themselves while tracewatch runs; `tracewatch check` says what is wrong with them.\n' +
		stringify({ network: chainNamed(chainId).name, receivers: [RECEIVER], watches: [watch] })
	)
}
