/**
 * The border for what goes out, attacked: texts that a node, a receiver, a label or a file may supply, with secrets in
 * every form and characters that a terminal obeys, through every way out. Each way must be free of both.
 */

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fitWords } from '../../src/base/text/outgoing.js'
import { createRpc } from '../../src/chain/rpc/rpc.js'
import type { Command, CommandArgs } from '../../src/commands/command.js'
import { doctor } from '../../src/commands/doctor/doctor.js'
import { explain } from '../../src/commands/explain/explain.js'
import { deliveries } from '../../src/commands/state/deliveries.js'
import { gaps } from '../../src/commands/state/gaps.js'
import { status } from '../../src/commands/status.js'
import { type Config, loadConfig } from '../../src/config/load.js'
import { guarded } from '../../src/daemon/cleanedStore.js'
import { answerControl } from '../../src/daemon/controlAnswer.js'
import type { Alert } from '../../src/model/alert.js'
import type { Hash } from '../../src/model/glossary.js'
import type { Store } from '../../src/model/ports.js'
import type { Announcement, Gap } from '../../src/model/state.js'
import { createReceiver } from '../../src/notify/receiver.js'
import { composeMessage } from '../../src/notify/text/message.js'
import { formats } from '../../src/notify/webhook/formats/byName.js'
import { askHealth, serveControl } from '../../src/ops/controlSocket.js'
import { type HttpServer, startHttp } from '../../src/ops/httpServer.js'
import { createLog } from '../../src/ops/log.js'
import { createScrubber } from '../../src/ops/scrub.js'
import { createNotifier, type Notifier } from '../../src/ops/sdNotify.js'
import { createTerminal } from '../../src/ops/terminal.js'
import { pageAt } from '../../src/pages/pages.js'
import { alertData, deliveryOf, idOf, messageOf, never, systemData } from '../notify/samples.js'
import { announcementsOf, manyWatches, pageFacts, shownState } from '../pages/facts.js'
import { createChance } from '../support/chance.js'
import { openFileStore } from '../support/fileStore.js'
import { type HookServer, startHookServer } from '../support/hookServer.js'
import { fuzzSeed } from '../support/longRun.js'
import { fuzzSeconds } from '../support/soak.js'

/** Marked, so that they are found again; each as its service gives it. */
const secrets = {
	endpointKey: 'zKq7Rt2Vx9Lm4Nw8Yc5Bd3Pf6Hj1',
	signing: Buffer.from('marked signing secret 0123456789').toString('base64'),
	bot: 'AAHmarkedBotToken_0123456789-abcdefgh',
	mail: 'mArked-mail-pa55word',
	bearer: 'sk_live_mArked0123456789abcdef',
}
const canaries = [...Object.values(secrets), 'mArked0123456789abcdef']

let folder: string
let config: Config
let hook: HookServer
let node: Server
let nodeSays = ''
let store: Store
let page: HttpServer
let pageSays = ''
let closeControl: () => Promise<void>
let notifier: Notifier
const scrubber = createScrubber()
const state = () => join(folder, 'state')

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'tracewatch-outgoing-'))
	hook = await startHookServer()
	node = createServer((_, response) => response.end(nodeSays)).listen(0, '127.0.0.1')
	await new Promise((resolve) => node.once('listening', resolve))
	mkdirSync(join(folder, 'watchlists'))
	writeFileSync(
		join(folder, 'watchlists/a.yaml'),
		'network: ethereum\nreceivers: [hook]\nwatches:\n  - {address: 0x742d35Cc6634C0532925a3b844Bc454e4438f44e}\n',
	)
	writeFileSync(
		join(folder, 'tracewatch.yaml'),
		`networks:
  - name: ethereum
    chain_id: 1
    rpc: [http://127.0.0.1:${(node.address() as AddressInfo).port}/${secrets.endpointKey}/evm]
    schedule: "*/12 * * * * *"
receivers:
  - name: hook
    type: webhook
    url: "${hook.origin}/in"
    secret: whsec_${secrets.signing}
    headers: {authorization: "Bearer ${secrets.bearer}"}
  - name: chat
    type: webhook
    format: telegram
    url: "${hook.origin}/bot123456789:${secrets.bot}/sendMessage?chat_id=1"
  - name: mail
    type: email
    smtp: "smtps://watcher:${secrets.mail}@127.0.0.1:465"
    from: a@example.org
    to: [b@example.org]
`,
	)
	config = await loadConfig(join(folder, 'tracewatch.yaml'), {
		env: {},
		cwd: folder,
		onSecrets: scrubber.add,
	})
	store = guarded(await openFileStore(state(), { clock: Date.now, historyMs: 86_400_000 }), scrubber.clean)
	page = await startHttp({
		host: '127.0.0.1',
		port: 0,
		version: '1.0.0',
		metrics: { text: async () => pageSays, contentType: 'text/plain' },
		health,
		scrubber,
		log: createLog({ scrubber, destination: { write() {} }, pretty: false, journal: false }),
		pages: (path, params) =>
			pageAt(path, params, () =>
				pageFacts({
					health,
					summary: () => store.summary(),
					deliveries: () => store.deliveries(),
					watches: manyWatches(2, pageSays),
					receivers: [{ name: 'hook', type: 'webhook', place: pageSays, fallback: null }],
					state: () => shownState({ announcements: announcementsOf([announcementIn(pageSays)]) }),
				}),
			),
	})
	closeControl = await serveControl(state(), answerControl(store, health, scrubber.clean))
	const helper = join(folder, 'systemd-notify')
	writeFileSync(helper, '#!/bin/sh\nshift\nprintf "%s\\n" "$@" >"${0%/*}/status"\n')
	chmodSync(helper, 0o755)
	const env = { NOTIFY_SOCKET: '/run/systemd/notify', PATH: `${folder}:/usr/bin:/bin` }
	const own = createLog({ scrubber, destination: { write() {} }, pretty: false, journal: false })
	notifier = createNotifier({ env, pid: process.pid, log: own, scrubber })
})

const health = async () => ({ ok: false, reason: pageSays, networks: [] })

afterAll(async () => {
	await closeControl()
	await page.close()
	await store.close()
	await hook.close()
	node.close()
	rmSync(folder, { recursive: true, force: true })
})

// The seed stands in the name of a failure: the same texts come again with it.
const seed = fuzzSeed ?? Date.now() % 1_000_000
const chance = createChance(seed)

const junk = [
	'\u001b[2J',
	'\u001b]0;owned\u0007',
	'\u009b31m',
	'\u202e',
	'\u2066',
	'\u200b',
	'\ufeff',
	'\u0000',
	'\r',
	'\n{"level":"error","msg":"forged"}\n',
	'\u2028',
	'\u00ad',
	'\u0085',
	'\ud800',
	'\u{e0041}',
	'"',
	'\\',
	'<b>',
	'%',
	' ',
]

let spellings = 0
/** One secret as the other side may write it: each in turn, each way in turn. */
function spelt(): string {
	const text = canaries[spellings % canaries.length] ?? ''
	const cut = text.slice(0, 12 + chance.number(text.length - 11))
	const ways = [
		text,
		`whsec_${text}`,
		`bot123456789:${text}`,
		`Bearer ${text}`,
		`https://node.example/${text}/evm?x=1`,
		encodeURIComponent(text),
		JSON.stringify(JSON.stringify(text)),
		Buffer.from(`user:${text}`).toString('base64'),
		Buffer.from(text).toString('base64url'),
		text.replace(/[-_=+/]/g, (sign) => `&#${sign.charCodeAt(0)};`),
		text.replace(/[-_=+/]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
		// Cut by whoever wrote it.
		`${cut}…`,
		`${cut} (200 characters)`,
		`"${cut}"`,
	]
	// 6 secrets and 14 ways meet in 42 pairs, and in the other 42 with the ways shifted by one.
	const way = (spellings + Math.floor(spellings / 42)) % ways.length
	spellings += 1
	return ways[way] ?? ''
}

/** So long now and then that our own limits cut through a secret. */
function hostile(): string {
	const parts: string[] = []
	const count = 2 + chance.number(10)
	for (let part = 0; part < count; part++) {
		parts.push(chance.percent(50) ? spelt() : chance.pick(junk))
		if (chance.percent(40)) parts.push('word '.repeat(1 + chance.number(chance.pick([4, 40, 120, 420]))))
		else parts.push(chance.pick(['|', ' ', ',', '\u200b ']))
	}
	return parts.join('')
}

/** The beginning of a secret that must not be seen. */
const telling = canaries.map((text) => text.slice(0, 12))
/** Each in base64, as it stands inside of something longer, and which it is. */
const encoded = canaries.flatMap((text) =>
	(['base64', 'base64url'] as const).flatMap((encoding) =>
		// Three alignments; the characters at both ends hold bits of their neighbours.
		['', 'x', 'xx'].map(
			(before) =>
				[
					Buffer.from(before + text)
						.toString(encoding)
						.slice(4, -4),
					text,
				] as const,
		),
	),
)
const unfit = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u
/** The same, written as JSON writes it, where a reader of JSON would show it. */
const unfitEscape = /(?<!\\)(?:\\\\)*\\u00(?:0[0-8b-f]|1[0-9a-f]|7f|[89][0-9a-f])/i

function expectClean(way: string, out: string, given: string): void {
	const about = () => `${way}, seed ${seed}, given ${JSON.stringify(given)}`
	for (const [at, text] of telling.entries()) {
		if (out.includes(text)) expect.fail(`${canaries[at]} in ${about()}: ${JSON.stringify(out)}`)
	}
	for (const [inside, text] of encoded) {
		if (out.includes(inside)) expect.fail(`${text} in base64 in ${about()}: ${JSON.stringify(out)}`)
	}
	if (unfit.test(out)) expect.fail(`an unfit character in ${about()}: ${JSON.stringify(out)}`)
}

const log = (pretty: boolean, journal: boolean) => {
	const written: string[] = []
	const own = createLog({
		scrubber,
		destination: { write: (line: string) => void written.push(line) },
		pretty,
		journal,
	})
	return { log: own, written }
}

/** Every way out of the process, for one text; real receivers, a real node, a real page and a real state folder. */
async function everyWay(text: string): Promise<void> {
	for (const [pretty, journal] of [
		[false, false],
		[true, false],
		[false, true],
	] as const) {
		const { log: own, written } = log(pretty, journal)
		own.error({ err: new Error(text, { cause: new Error(text) }), label: text, [text.slice(0, 50)]: 1 }, text)
		own.child({ network: text }).warn({ list: [text], deep: { er: text } }, 'words')
		// One event, one line, whatever stands in it.
		if (!pretty) for (const line of written) expect(line.split('\n'), JSON.stringify(text)).toHaveLength(2)
		for (const line of written) {
			expectClean('log', line, text)
			if (!pretty && unfitEscape.test(line)) expect.fail(`an escape in the log: ${line}`)
		}
	}
	for (const way of ['out', 'err', 'fault'] as const) {
		const { terminal, printed } = screen()
		terminal[way](text)
		terminal[way](JSON.stringify({ label: text }))
		for (const line of printed) expectClean(`terminal, ${way}`, line, text)
	}
	expect(fitWords(text)).not.toContain('\n')

	pageSays = text
	await expectPagesClean(text)
	// The same line again would not be sent again, and two texts may leave the same line.
	notifier.status('between two texts')
	notifier.status(text)
	await notifier.flush()
	const status = readFileSync(join(folder, 'status'), 'utf8')
	expect(status).toMatch(/^STATUS=[^\n]*\n?$/)
	expectClean('status line', status, text)
	const reason = (await askHealth(state()))?.reason ?? ''
	expectClean('control socket', reason, text)
	expect(reason).not.toContain('\n')

	nodeSays = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: text, data: text } })
	const rpc = createRpc({ url: config.networks[0]?.rpc[0] ?? '', timeoutMs: 5_000, retry: { tries: 1 } })
	const failure = await rpc.call('eth_blockNumber', [], never).catch((error: Error) => error)
	await rpc.close()
	const said = failure instanceof Error ? failure.message : ''
	expect(said).not.toBe('')

	// The receiver echoes; what it says goes into the state, and from there into the alert of a fallback.
	hook.answer = () => ({ status: 400, body: Buffer.from(text) })
	const reasons: string[] = []
	for (const settings of config.receivers) {
		if (settings.type !== 'webhook') continue
		const receiver = await createReceiver(settings, { version: '1.0.0', clock: Date.now })
		const outcome = await receiver.deliver(deliveryOf(1, { receiver: settings.name }), never)
		await receiver.close()
		if ('reason' in outcome) reasons.push(outcome.reason)
	}
	expect(reasons).toHaveLength(2)
	await throughTheState(text, [said, ...reasons])
}

const block = { number: 8n, hash: `0x${'8'.repeat(64)}` } as const

/** Why a block could not be read is said in a node's words. */
function gapOf(reason: string): Gap {
	const facts = { tries: 3, sinceMs: 0, isAfterGood: true, openedAtMs: 0, addresses: null }
	return { block: { ...block, number: 7n }, ...facts, reason }
}

async function throughTheState(text: string, reasons: readonly string[]): Promise<void> {
	const watch = { ...alertData().watch, label: text, tags: [text] }
	await store.post([
		deliveryOf(1, { message: messageOf(alertData({ watch, counterpartyLabel: text, lateReason: text })) }),
		...[text, ...reasons].map((reason, at) =>
			deliveryOf(2 + at, { message: messageOf(systemData({ reason }), 'system.stalled') }),
		),
	])
	const message = messageOf(systemData({ reason: text }), 'system.stalled')
	await store.changeTroubles(store.troubles(), [deliveryOf(59, { message })])
	const posted = await store.deliveries()
	await store.resolve(
		posted.map(({ id }, at) => ({
			id,
			result: 'retry',
			code: 'refused',
			error: reasons[at % reasons.length] ?? text,
			nextAttemptAtMs: 0,
		})),
	)
	const books = { closedTo: null, closed: 0, kept: 1, open: [], openCount: 1, reason: text }
	await store.commit({
		network: 'ethereum',
		chainId: 1,
		checkpoint: block,
		gaps: new Map([[7n, gapOf(text)]]),
		seen: { head: 8, books },
		announcements: [announcementIn(text)],
		deliveries: [deliveryOf(50, { message: messageOf(systemData({ reason: text }), 'system.gap') })],
	})
	expectStateClean(text)
	await throughHistory(text)
	await expectPagesClean(text)
	await expectCommandsClean(text, commands)
	const [gap] = (await store.summary()).networks.get('ethereum')?.gaps ?? []
	expectClean('a gap', gap?.reason ?? '', text)
	expect(gap?.reason).not.toContain('\n')
	for (const delivery of await store.deliveries()) {
		expectClean('last error', delivery.lastError ?? '', text)
		for (const [name, format] of Object.entries(formats)) {
			const target = { url: new URL('https://chat.example/topic'), secret: null }
			expectClean(name, format.request(delivery, target, 0).body.toString('utf8'), text)
		}
		const { subject, text: body, html } = composeMessage(delivery.message)
		expectClean('mail', `${subject}\n${body}\n${html}`, text)
		expect(subject).not.toContain('\n')
	}
	await store.drop((await store.deliveries()).map(({ id }) => id))
}

function announcementIn(text: string): Announcement {
	const watch = { ...alertData().watch, label: text, tags: [text] }
	const alert: Alert = {
		type: 'alert.transfer',
		receivers: ['hook'],
		data: alertData({ watch, counterpartyLabel: text, lateReason: text }),
	}
	const facts = { id: alert.data.id, block, txHash: alert.data.txHash as Hash, revision: 0 }
	return { ...facts, alerts: [alert], status: 'announced' }
}

/** What became of deliveries: delivered with a receiver's last word, refused, with a word for a fallback. */
async function throughHistory(text: string): Promise<void> {
	const message = () => messageOf(systemData({ reason: text }), 'system.stalled')
	const numbers = [60, 61]
	await store.post(numbers.map((number) => deliveryOf(number, { message: message() })))
	const [one = '', two = ''] = numbers.map(idOf)
	const tried = { result: 'retry' as const, code: 'refused' as const, error: text, nextAttemptAtMs: 0 }
	await store.resolve(
		[
			{ id: one, result: 'delivered', answer: text },
			{ id: two, ...tried },
		],
		[deliveryOf(66, { message: message(), lastError: text })],
	)
	expectStateClean(text)
}

/** Where each file of history was read up to: it only grows. */
const readTo = new Map<string, number>()

function expectStateClean(text: string): void {
	for (const entry of readdirSync(state(), { recursive: true, withFileTypes: true })) {
		const path = join(entry.parentPath, entry.name)
		if (!entry.isFile()) continue
		const content = readFileSync(path, 'utf8')
		const from = path.includes('history') ? (readTo.get(path) ?? 0) : 0
		readTo.set(path, content.length)
		expectClean(entry.name, content.slice(from), text)
	}
}

async function expectPagesClean(text: string): Promise<void> {
	const pages = ['/', '/alerts', '/watches', '/deliveries'].flatMap((path) => [path, `${path}?format=json`])
	for (const path of [...pages, '/healthz', '/metrics']) {
		const answer = await fetch(`http://127.0.0.1:${page.port}${path}`)
		expectClean(path, await answer.text(), text)
	}
}

function screen() {
	const printed: string[] = []
	const terminal = createTerminal(scrubber, { out: (line) => printed.push(line), err: (line) => printed.push(line) })
	return { terminal, printed }
}

type Asked = readonly [Pick<Command, 'run'>, CommandArgs['values'], (readonly string[])?]

const commands: readonly Asked[] = [
	...[status, deliveries, gaps].flatMap((command): Asked[] => [
		[command, {}],
		[command, { json: true }],
	]),
	[deliveries, { sent: true }],
	[deliveries, { sent: true, json: true }],
	[explain, { network: 'ethereum' }, [`0x${'7'.repeat(64)}`]],
]

/** What commands print of the state, of a node and of the files; also where no one gave them the secrets. */
async function expectCommandsClean(text: string, asked: readonly Asked[]): Promise<void> {
	nodeSays = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: text } })
	for (const [command, values, positionals = []] of asked) {
		const { terminal, printed } = screen()
		const signal = new AbortController().signal
		const io = { ...terminal, env: {}, cwd: folder, isTty: false, signal, scrubber }
		await command.run({ values, positionals }, io).catch((error: Error) => terminal.fault(error.message))
		expect(printed.length).toBeGreaterThan(0)
		for (const line of printed) expectClean(`tracewatch, ${JSON.stringify(values)}`, line, text)
	}
}

test(
	`error: nothing that a stranger supplies brings a secret or an unfit character out (seed ${seed})`,
	async () => {
		const until = performance.now() + (fuzzSeconds ?? 0) * 1_000
		let tried = 0
		while (performance.now() < until || tried < 13) {
			const text = hostile()
			await everyWay(text)
			// It takes two seconds.
			if (tried % 8 === 0) await expectCommandsClean(text, [[doctor, {}]])
			tried += 1
		}
		console.log(`${tried} texts through every way out`)
	},
	((fuzzSeconds ?? 0) + 300) * 1_000,
)
