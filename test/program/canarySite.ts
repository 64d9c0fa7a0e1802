/** A configuration whose every secret bears a mark. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createCanaries, repeated } from '../support/canaries.js'
import { typed } from '../support/commandLine.js'
import { type Ended, openSite, type Site } from '../support/program.js'
import { treasury, watchlist } from './site.js'

export const canaries = createCanaries()
const { odd, ascii, plain, signing } = canaries
const url = encodeURIComponent

/** Scheme, host and port of the others; by default no one listens there. */
export interface Places {
	readonly rpc?: string
	readonly hook?: string
	readonly smtp?: string
	/** Where the state is kept, if not in a folder. */
	readonly database?: string
}

const rpcUrl = (origin: string) =>
	origin.replace('://', `://${url(odd('rpc user'))}:${url(odd('rpc password'))}@`) +
	`/v3/${url(odd('rpc path'))}/evm?key=${url(odd('rpc query'))}&${plain('rpc bare query')}`
const hookUrl = (origin: string) =>
	origin.replace('://', `://${url(odd('hook user'))}:${url(odd('hook password'))}@`) +
	`/services/${url(odd('hook path'))}/${plain('hook plain path')}` +
	`?token=${url(odd('hook query'))}#${plain('hook fragment')}`
const smtpUrl = (origin: string) => origin.replace('://', `://${url(odd('smtp user'))}:${url(odd('smtp password'))}@`)

const databaseUrl = (place: string) =>
	`${place.replace('://', `://tracewatch:${url(odd('database password'))}@`)}?application_name=x`

export interface CanarySite extends Site {
	/** A command in this process, whose log is not kept: that of the same parts is in what `once` and `run` print. */
	type(args: readonly string[], extra?: NodeJS.ProcessEnv): Promise<Ended>
}

/** Secrets come in all the ways there are: variables, files, credentials, and openly in the file. */
export function openCanarySite(places: Places = {}, more = ''): CanarySite {
	const { rpc = 'http://127.0.0.1:9', hook = 'http://127.0.0.1:9', smtp = 'smtp://127.0.0.1:9', database } = places
	const site = openSite({
		'tracewatch.yaml': `networks:
  - name: local
    chain_id: 31337
    rpc: ["\${RPC_URL}"]
    schedule: "* * * * * *"
    stall_after: 2s
    ws: "${rpcUrl('ws://127.0.0.1:9')}"
receivers:
  - name: hook
    type: webhook
    url: \${HOOK_URL}
    secret: \${HOOK_SECRET}
    headers: {X-Token: "\${HOOK_TOKEN}", X-Inline: ${plain('header inline')}}
  - name: chat
    type: webhook
    format: telegram
    url: "${hook}/bot123456:${plain('bot token')}/sendMessage?chat_id=-100200300"
  - name: pager
    type: webhook
    format: pagerduty
    url: ${hook}/v2/enqueue
    routing_key: ${plain('routing key').padEnd(32, '0')}
  - name: mail
    type: email
    smtp: "${smtpUrl(smtp)}"
    from: tracewatch@example.org
    to: [ops@example.org]
heartbeat_url: "https://${plain('heartbeat user')}@127.0.0.1:9/${plain('heartbeat path')}?${plain('heartbeat query')}"
${database === undefined ? '' : `state: "${databaseUrl(database)}"\n`}${more}`,
		'watchlists/a.yaml': watchlist([`{address: ${treasury}, direction: out}`], 'hook, chat, pager, mail'),
	})
	onTestFinished(() => site.close())
	const secrets = join(site.folder, 'secrets')
	mkdirSync(secrets)
	writeFileSync(join(secrets, 'hook_url'), `${hookUrl(hook)}\n`)
	writeFileSync(join(secrets, 'HOOK_SECRET'), signing('signing secret'))
	const env = {
		RPC_URL: rpcUrl(rpc),
		HOOK_URL_FILE: join(secrets, 'hook_url'),
		CREDENTIALS_DIRECTORY: secrets,
		HOOK_TOKEN: ascii('hook token'),
		LOG_LEVEL: 'debug',
	}
	return {
		...site,
		run: (args, extra) => site.run(args, { ...env, ...extra }),
		type: (args, extra) => typed(args, { cwd: site.folder, env: { ...env, ...extra, LOG_LEVEL: 'error' } }),
		start: (args, extra) => site.start(args, { ...env, ...extra }),
	}
}

/** What the program wrote into its folder. */
export function written(site: Site): string {
	const state = join(site.folder, 'state')
	try {
		const names = readdirSync(state).filter((name) => !name.endsWith('.sock'))
		return names.map((name) => `${name}: ${readFileSync(join(state, name), 'utf8')}`).join('\n')
	} catch {
		return ''
	}
}

/** On one line; which form comes first differs from turn to turn. */
export function loginRepeated(turn: number): string {
	const [user, password] = [odd('smtp user'), odd('smtp password')]
	const wrapped = [`\u0000${user}\u0000${password}`, `${user}:${password}`]
	const forms = [
		...wrapped.map((text) => Buffer.from(text).toString('base64')),
		...repeated(user),
		...repeated(password),
	]
	const first = (turn * 5) % forms.length
	return [...forms.slice(first), ...forms.slice(0, first)].join(' ').slice(0, 1_500)
}
