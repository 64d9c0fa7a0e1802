/**
 * The promise itself: whatever moment the program is killed at, every alert reaches every receiver, nothing is told
 * that did not happen, and what comes twice comes under the same id. TRACEWATCH_KILLS and TRACEWATCH_SEED change the
 * run.
 */
import { mkdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { type Chance, createChance } from '../support/chance.js'
import type { Mail } from '../support/mailServer.js'
import { type MoodyReceivers, startMoodyReceivers } from '../support/moodyReceivers.js'
import { openSite, type Running, type Site } from '../support/program.js'
import { type DueAlert, startTraffic } from '../support/traffic.js'
import { stranger, told, treasury, vault, watchlist } from './site.js'

const kills = Number(process.env.TRACEWATCH_KILLS ?? 200)
const seed = Number(process.env.TRACEWATCH_SEED ?? 1)
const recipients = ['ops@example.org', 'night@example.org']
const longestLifeMs = 1_500
/** What a start takes on a machine that has nothing else to do; where it takes longer, lives are longer. */
const usualStartMs = 400
/** The kills end after this time on a slow machine, if there were at least a third of them. */
const killingMs = 8 * 60_000
/** Far more than it takes. */
const drainMs = 300_000

test(`behavior: ${kills} kills at random moments lose and invent nothing, and repeats bear the same id`, {
	timeout: 18 * 60_000,
}, async () => {
	const startedAtMs = Date.now()
	const node = await startTestAnvil(['--order', 'fifo'])
	onTestFinished(() => node.stop())
	const receivers = await startMoodyReceivers(createChance(seed + 1))
	onTestFinished(() => receivers.close())
	const from = (await node.head()) + 1n
	const accounts = (await node.accounts()).slice(0, 5)
	const traffic = await startTraffic(node, accounts, createChance(seed + 2))
	const [puppet, helper] = traffic.puppets
	const watch = (address: Address, names: string) => `{address: ${address}, from_block: ${from}, receivers: [${names}]}`
	const site = openSite({
		'tracewatch.yaml': settingsOf(node.url, receivers),
		'watchlists/a.yaml': watchlist([
			watch(treasury, 'hook, mail'),
			watch(vault, 'hook, mail'),
			watch(puppet, 'hook'),
			watch(helper, 'hook'),
		]),
	})
	onTestFinished(() => site.close())

	let quiet = false
	const moving = (async () => {
		const pause = createChance(seed + 3)
		while (!quiet) {
			await traffic.step()
			await sleep(100 + pause.number(500))
		}
	})()
	moving.catch(() => undefined)
	const chance = createChance(seed)
	const pace = Math.max(1, (await startMs(site)) / usualStartMs)
	const heardAmidKills = () => new Set([...receivers.taken].map(({ id }) => id)).size
	/** Else the kills came too early to prove anything, as they may on a machine that has much else to do. */
	const isTooEarly = () => heardAmidKills() <= Math.min(kills, killed) / 20
	let killed = 0
	const isEnough = () => {
		if (isTooEarly()) return killed >= 5 * kills
		return killed >= kills || (killed >= kills / 3 && Date.now() - startedAtMs > killingMs)
	}
	for (let kill = 1; !isEnough(); kill++) {
		await liveAndDie(site, receivers, chance, pace)
		killed = kill
		if (kill % 8 === 0) await secondChances(site, receivers, chance, pace)
		// A watch that is new, and owed all that was before it.
		if (kill === Math.ceil(kills / 4)) site.write('watchlists/b.yaml', watchlist([watch(stranger, 'hook')]))
	}
	quiet = true
	await moving

	expect(isTooEarly()).toBe(false)
	const amidKills = heardAmidKills()
	receivers.behave()
	await site.run(['deliveries', 'retry', '--all'])
	const running = site.start(['run'])
	const due = {
		hook: await traffic.due([treasury, vault, puppet, helper, stranger]),
		mail: await traffic.due([treasury, vault]),
	}
	await allDelivered(running, receivers, due)
	expect(await running.stop()).toMatchObject({ code: 0 })
	// And that was all there was to tell.
	const arrived = [receivers.hook.hits.length, receivers.mail.mails.length]
	expect((await site.run(['once'])).code).toBe(0)
	expect([receivers.hook.hits.length, receivers.mail.mails.length]).toEqual(arrived)
	const { receivers: rows } = JSON.parse((await site.run(['status', '--json'])).stdout)
	for (const row of rows) expect(row).toMatchObject({ pending: 0, parked: 0, dead: 0 })

	const kept = (await site.run(['deliveries', '--sent', '--json'])).stdout.trimEnd().split('\n')
	const lines: { id: string; recipient: string | null; result: string }[] = kept.map((line) => JSON.parse(line))
	const wanted = [
		...due.hook.map(({ id }) => `hook ${id}`),
		...due.mail.flatMap(({ id }) => recipients.map((to) => `${to} ${id}`)),
	]
	// Each once, whatever was sent twice.
	expect(lines.map(({ recipient, id }) => `${recipient ?? 'hook'} ${id}`).sort()).toEqual(wanted.sort())
	expect(new Set(lines.map(({ result }) => result))).toEqual(new Set(['delivered']))

	const hooks = checkHooks(receivers, due.hook)
	const mails = checkMails(receivers, due.mail)
	const seconds = Math.round((Date.now() - startedAtMs) / 1000)
	console.log(
		`${killed} kills in ${seconds} s: ${due.hook.length} alerts by webhook ` +
			`(${amidKills} amid the kills, ${hooks} repeats), ` +
			`${due.mail.length * recipients.length} by mail (${mails} repeats); ` +
			[...receivers.failures].map(([what, times]) => `${what} ${times}×`).join(', '),
	)
})

function settingsOf(rpc: string, { hook, mail }: MoodyReceivers): string {
	return `networks:
  - name: local
    chain_id: 31337
    rpc: [${rpc}]
    schedule: "* * * * * *"
receivers:
  - name: hook
    type: webhook
    url: ${hook.origin}/alerts
  - name: mail
    type: email
    smtp: smtp://${mail.host}
    from: tracewatch@example.org
    to: [${recipients.join(', ')}]
`
}

/** From the start of the program until it says that it runs. */
async function startMs(site: Site): Promise<number> {
	const sinceMs = performance.now()
	const running = site.start(['run'])
	await running.line(({ msg }) => msg === 'tracewatch is running')
	const tookMs = performance.now() - sinceMs
	await running.stop('SIGKILL')
	return tookMs
}

/** One life of the daemon, ended by a clock, by something that arrives, or by a write of the state. */
async function liveAndDie(
	site: Site,
	receivers: MoodyReceivers,
	chance: Chance,
	pace: number,
	beside?: () => Promise<void>,
): Promise<void> {
	const folder = join(site.folder, 'state')
	mkdirSync(folder, { recursive: true, mode: 0o700 })
	const running = site.start(['run'])
	const kill = () => running.process.kill('SIGKILL')
	const kind = chance.number(100)
	const lifeMs = pace * (kind < 50 ? 50 + chance.number(850) : longestLifeMs)
	let left = 1 + chance.number(kind < 80 ? 10 : 4)
	const delayMs = chance.number(4)
	const countdown = () => {
		left -= 1
		if (left !== 0) return
		if (delayMs === 0) kill()
		else setTimeout(kill, delayMs)
	}
	if (kind >= 50 && kind < 80) receivers.onArrival = countdown
	const watcher =
		kind < 80 ? null : watch(folder, (_, name) => name !== null && /^(?:state\.json|journal)/.test(name) && countdown())
	const clock = setTimeout(kill, lifeMs)
	// Once the daemon holds the state, or is dead: before that the command would take it, and the daemon rightly refuse.
	const other = beside && running.line(({ msg }) => msg === 'tracewatch is running').then(beside, beside)
	const { code, stdout, stderr } = await running.ended
	clearTimeout(clock)
	watcher?.close()
	receivers.onArrival = () => undefined
	await other
	if (code !== null) throw new Error(`the program ended by itself with ${code}:\n${stdout}${stderr}`)
}

/** What an operator does who waits for a delivery: beside a daemon that dies meanwhile, or with none. */
async function secondChances(site: Site, receivers: MoodyReceivers, chance: Chance, pace: number): Promise<void> {
	const retry = async () => {
		const { code, stderr } = await site.run(['deliveries', 'retry', '--all'])
		expect(stderr).not.toContain('fault')
		expect([0, 1]).toContain(code)
	}
	if (chance.percent(50)) await retry()
	else await liveAndDie(site, receivers, chance, pace, retry)
}

interface Due {
	readonly hook: readonly DueAlert[]
	readonly mail: readonly DueAlert[]
}

async function allDelivered(running: Running, receivers: MoodyReceivers, due: Due): Promise<void> {
	const unheard = () => {
		const heard = new Set(told([...receivers.taken]).map(({ data }) => data.id))
		return due.hook.filter(({ id }) => !heard.has(id))
	}
	const unread = () => {
		const read = new Set(acknowledged(receivers).map(mailInWords))
		return due.mail.flatMap(({ id }) => recipients.map((to) => `${to} ${id}`)).filter((one) => !read.has(one))
	}
	const all = Promise.all([
		receivers.hook.until(() => unheard().length === 0),
		receivers.mail.until(() => unread().length === 0),
	])
	const late = sleep(drainMs, undefined, { ref: false })
	await Promise.race([all, running.ended, late])
	expect([...unheard(), ...unread()]).toEqual([])
}

const acknowledged = ({ mail }: MoodyReceivers) => mail.mails.filter(({ acknowledged }) => acknowledged)
const mailInWords = ({ recipients, parsed }: Mail) => `${recipients} ${parsed.headers.get('x-tracewatch-alert')}`

const inWords = ({ id, kind, direction, from, to, valueWei, block }: DueAlert) =>
	`${id} alert.${kind} ${direction} ${from} ${to} ${valueWei} ${block}`

/** Resolves to the number of repeats. */
function checkHooks({ hook, taken }: MoodyReceivers, due: readonly DueAlert[]): number {
	const bodies = new Map<string, string>()
	for (const { id, body } of hook.hits) {
		// The same id, the same bytes.
		expect(body.toString()).toBe(bodies.get(id) ?? body.toString())
		bodies.set(id, body.toString())
	}
	const alerts = told([...hook.hits].filter((hit) => taken.has(hit)))
	for (const { data } of told(hook.hits)) expect(bodies.has(data.deliveryId)).toBe(true)
	const words = alerts.map(
		({ type, data: { id, direction, from, to, valueWei, blockNumber } }) =>
			`${id} ${type} ${direction} ${from.toLowerCase()} ${to.toLowerCase()} ${valueWei} ${blockNumber}`,
	)
	expect([...new Set(words)].sort()).toEqual(due.map(inWords).sort())
	// One alert, one id.
	expect(bodies.size).toBe(due.length)
	return hook.hits.length - due.length
}

/** Resolves to the number of repeats. */
function checkMails(receivers: MoodyReceivers, due: readonly DueAlert[]): number {
	const known = new Map<string, string>()
	for (const { messageId, recipients, subject, text, html, parsed } of receivers.mail.mails) {
		const content = JSON.stringify([recipients, subject, text, html, parsed.headers.get('x-tracewatch-alert')])
		expect(content).toBe(known.get(messageId) ?? content)
		known.set(messageId, content)
	}
	expect([...new Set(acknowledged(receivers).map(mailInWords))].sort()).toEqual(
		due.flatMap(({ id }) => recipients.map((to) => `${to} ${id}`)).sort(),
	)
	expect(known.size).toBe(due.length * recipients.length)
	return receivers.mail.mails.length - known.size
}
