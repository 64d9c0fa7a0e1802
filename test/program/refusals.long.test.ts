// Every service has its own words for a deleted hook, a wrong setting or a full quota. Whatever it says: no message is
// dead at once, all hear of it, and once the receiver is mended everything arrives.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { type HookAnswer, startHookServer } from '../support/hookServer.js'
import { type MailPhase, startMailServer } from '../support/mailServer.js'
import { smallFigures } from '../support/preload.js'
import { inProcess, other, polled, settings, siteOf, told, treasury, watchlist } from './site.js'

interface HookRow {
	readonly format: string
	/** Below the origin; the part `CANARY` is a secret. */
	readonly path?: string
	readonly more?: string
	readonly status: number
	readonly body: string
	/** What people must read: the receiver's words, or what they mean. */
	readonly says: string
	/** What the service answers when all is well. */
	readonly well?: string
}

const discord = { format: 'discord', path: '/api/webhooks/1/CANARY', well: '{"id":"1"}' }
const slack = { format: 'slack', path: '/services/T/B/CANARY', well: 'ok' }
const telegram = { format: 'telegram', path: '/bot1:CANARY/sendMessage?chat_id=5', well: '{"ok":true}' }
const telegramSays = (error_code: number, description: string) => ({
	...telegram,
	status: error_code,
	body: JSON.stringify({ ok: false, error_code, description }),
	says: description,
})
const ntfy = { format: 'ntfy', path: '/CANARY', well: '{"id":"1","event":"message"}' }
const standard = { format: 'standard', path: '/hooks/CANARY' }

const hookRows: readonly HookRow[] = [
	{ ...discord, status: 403, body: '{"message": "Missing Permissions", "code": 50013}', says: 'Missing Permissions' },
	{ ...discord, status: 404, body: '{"message": "Unknown Webhook", "code": 10015}', says: 'Unknown Webhook' },
	{ ...discord, status: 401, body: '{"message": "Invalid Webhook Token", "code": 50027}', says: 'Invalid Webhook Tok' },
	{ ...discord, status: 410, body: '', says: 'has been removed' },
	{ ...discord, status: 400, body: '{"message": "Cannot send to a forum", "code": 50008}', says: 'Cannot send to a' },
	{ ...slack, status: 403, body: 'action_prohibited', says: 'action_prohibited' },
	{ ...slack, status: 404, body: 'no_service', says: 'no_service' },
	{ ...slack, status: 410, body: 'channel_is_archived', says: 'channel_is_archived' },
	{ ...slack, status: 400, body: 'invalid_token', says: 'invalid_token' },
	telegramSays(400, 'Bad Request: need administrator rights in the channel chat'),
	telegramSays(400, 'Bad Request: message text is empty'),
	telegramSays(401, 'Unauthorized'),
	telegramSays(403, 'Forbidden: bot was kicked from the group chat'),
	telegramSays(404, 'Not Found'),
	{ ...ntfy, status: 403, body: '{"code":40301,"http":403,"error":"forbidden"}', says: 'forbidden' },
	{ ...ntfy, status: 413, body: '{"code":41302,"http":413,"error":"message too large"}', says: 'too large' },
	{
		...{ format: 'pagerduty', path: '/v2/enqueue', more: ', routing_key: CANARY0123456789abcdefghijklmnop' },
		...{ status: 400, body: '{"status":"invalid event","errors":["Length of routing_key is incorrect"]}' },
		...{ says: 'routing key was refused', well: '{"status":"success"}' },
	},
	{ format: 'alertmanager', status: 400, body: '"start time must be before end time"', says: 'start time must be' },
	{ ...standard, status: 302, body: 'over there', says: 'moved' },
	{ ...standard, status: 401, body: 'token CANARY is not known', says: 'is not known' },
	{ ...standard, status: 409, body: 'paused', says: 'paused' },
	{ ...standard, status: 501, body: 'no such endpoint any more', says: 'no such endpoint' },
	{ ...standard, status: 505, body: 'not this version', says: 'not this version' },
	{ ...standard, status: 511, body: 'log in to the network', says: 'log in to the network' },
]

interface MailRow {
	readonly phase: MailPhase
	readonly answer: string
	readonly says: string
	readonly to?: readonly string[]
}

const [good, gone] = ['good@example.org', 'gone@example.org']
const mailRows: readonly MailRow[] = [
	{ phase: 'data', answer: '550 5.4.5 Daily user sending limit exceeded', says: 'Daily user sending limit exceeded' },
	{ phase: 'data', answer: '552 5.2.2 mailbox full', says: 'mailbox full' },
	{ phase: 'data', answer: '554 5.7.1 looks like spam', says: 'looks like spam' },
	{ phase: 'login', answer: '535 5.7.8 CANARY is not accepted', says: 'is not accepted' },
	{ phase: 'recipient', answer: '550 5.1.1 no such mailbox', says: 'no such mailbox', to: [good, gone] },
	{ phase: 'sender', answer: '550 5.1.8 unknown sender', says: 'unknown sender' },
	{ phase: 'connect', answer: '554 5.3.2 blocked by a list', says: 'blocked by a list' },
]

/** Whole coins of the transfers that a message tells of, as a sentence or as a field. */
function coinsIn(text: string): readonly string[] {
	return [...text.matchAll(/received (\d) ETH|"valueWei":"(\d)0{18}"/g)].map(([, said, field]) => String(said ?? field))
}

async function startReceivers() {
	const hook = await startHookServer()
	const mails = await Promise.all(
		mailRows.map(async ({ phase, answer, to }) => {
			const login = { user: 'watch', pass: 'PASSWORD-CANARY' }
			const mail = await startMailServer({ ...(phase === 'login' && { login }), loginInClear: true })
			const isNew = phase === 'connect' || phase === 'login'
			const refuse = () => {
				mail.answer = (at, about) => {
					if (at === phase) return to === undefined || about === gone ? answer : null
					// A connection from before ends.
					return isNew && at === 'sender' ? 'cut' : null
				}
			}
			return { mail, refuse, user: phase === 'login' ? 'watch:PASSWORD-CANARY@' : '' }
		}),
	)
	onTestFinished(async () => {
		await hook.close()
		await Promise.all(mails.map(({ mail }) => mail.close()))
	})
	let isMended = true
	const taken = new Map<number, Set<string>>(hookRows.map((_, at) => [at, new Set()]))
	hook.answer = ({ url, body }): HookAnswer => {
		const at = Number(/^\/(\d+)\//.exec(url)?.[1] ?? Number.NaN)
		const row = hookRows[at]
		if (row === undefined) return 204
		if (!isMended) return { status: row.status, headers: { location: '/elsewhere/CANARY' }, body: row.body }
		for (const coins of coinsIn(body.toString())) taken.get(at)?.add(coins)
		return { status: row.format === 'pagerduty' ? 202 : 200, body: row.well ?? '' }
	}
	const lines = [
		...hookRows.map(
			({ format, path = '', more = '' }, at) =>
				`  - {name: hook${at}, type: webhook, format: ${format}, fallback: desk,\n` +
				`     url: "${hook.origin}/${at}${path}"${more}}`,
		),
		...mails.map(({ mail, user }, at) => {
			const to = JSON.stringify(mailRows[at]?.to ?? [good])
			const from = 'from: a@example.org, fallback: desk'
			return `  - {name: mail${at}, type: email, smtp: "smtp://${user}${mail.host}", ${from}, to: ${to}}`
		}),
	]
	return {
		hook,
		mails,
		taken,
		lines,
		refuse() {
			isMended = false
			for (const { refuse } of mails) refuse()
		},
		mend() {
			isMended = true
			for (const { mail } of mails) mail.answer = () => null
		},
	}
}

test('behavior: receivers refuse in the words of each service: nothing is dead, all say so, all arrives', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const { hook, mails, taken, lines, refuse, mend } = await startReceivers()
	const names = [...hookRows.map((_, at) => `hook${at}`), ...mails.map((_, at) => `mail${at}`)]
	const config = settings(node.url, { desk: `${hook.origin}/desk` }, 'http: 127.0.0.1:0\n')
	const here = siteOf({
		'tracewatch.yaml': config.replace('receivers:\n', `receivers:\n${lines.join('\n')}\n`),
		'watchlists/a.yaml': watchlist([`{address: ${treasury}, kinds: [transfer]}`], names.join(', ')),
	})
	// A minute of rest lasts a second.
	const running = here.start(['run'], smallFigures('MINUTE_MS=1000'))
	await polled(running)
	const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
	const ask = async (path: string) => {
		const answer = await fetch(`http://127.0.0.1:${String(port)}${path}`)
		return { code: answer.status, text: await answer.text() }
	}
	const pay = (coins: bigint) => node.send({ from: other, to: treasury, valueWei: coins * 10n ** 18n })
	const mailedTo = (at: number, to: string) =>
		mails[at]?.mail.mails.flatMap(({ acknowledged, recipients, text }) =>
			acknowledged && recipients.includes(to) ? coinsIn(text) : [],
		)
	const arrived = () => [
		...hookRows.map((_, at) => [`hook${at}`, [...(taken.get(at) ?? [])].toSorted()]),
		...mailRows.flatMap(({ to = [good] }, at) =>
			to.map((one) => [`mail${at}`, [...new Set(mailedTo(at, one))].toSorted()]),
		),
	]
	const all = (...coins: readonly string[]) => arrived().map(([name]) => [name, coins])

	await pay(1n)
	await expect.poll(arrived, { interval: 250 }).toEqual(all('1'))
	refuse()
	for (const coins of [2n, 3n]) await pay(coins)
	// Each alert that is refused goes to the fallback.
	const instead = () =>
		told(hook.hits.filter(({ url }) => url === '/desk')).filter(({ data }) => data.insteadOf !== undefined)
	const expected = names.flatMap((name) => [2, 3].map((coins) => `${name} ${coins}`)).toSorted()
	const forwarded = () => [...new Set(instead().map(({ data }) => `${data.insteadOf} ${data.valueWei[0]}`))].toSorted()
	await hook.until(() => forwarded().length >= expected.length)
	expect(forwarded()).toEqual(expected)

	const health = await ask('/healthz')
	const status = await inProcess(here).run(['status'])
	const page = await ask('/')
	expect([health.code, status.code]).toEqual([503, 1])
	expect(status.stdout).not.toContain('well\n')
	for (const [at, { says }] of [...hookRows.entries(), ...mailRows.entries()]) {
		for (const text of [health.text, status.stdout, page.text]) expect(text, String(at)).toContain(says)
	}
	const json = JSON.parse((await inProcess(here).run(['status', '--json'])).stdout)
	const waiting: ReadonlyMap<string, unknown> = new Map(
		json.receivers.map(({ receiver, pending, parked, dead }: Record<string, number>) => [
			receiver,
			`${Number(pending) + Number(parked)} wait, ${dead} dead`,
		]),
	)
	for (const name of names) expect([name, waiting.get(name)]).toEqual([name, '2 wait, 0 dead'])

	mend()
	await expect.poll(arrived, { interval: 250 }).toEqual(all('1', '2', '3'))
	await expect.poll(async () => (await ask('/healthz')).code, { interval: 250 }).toBe(200)
	expect((await running.stop()).code).toBe(0)
	expect((await inProcess(here).run(['status'])).code).toBe(0)
	// Once each: a repetition bears the same id.
	expect(new Set(instead().map(({ data }) => data.deliveryId)).size).toBe(expected.length)
	const kept = readdirSync(join(here.folder, 'state'), { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
	for (const text of [running.output(), health.text, page.text, status.stdout, JSON.stringify(json), ...kept])
		expect(text).not.toContain('CANARY')
})
