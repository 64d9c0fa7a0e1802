import { expect, test } from 'vitest'
import { createHealth, type HealthOptions } from '../../../src/daemon/health/health.js'
import { createVitals } from '../../../src/daemon/health/vitals.js'
import type { ConfiguredPoller, NetworkPoller } from '../../../src/daemon/polling/networkPoller.js'
import { freshStatus } from '../../../src/daemon/polling/pollerStatus.js'
import { RpcError, StateError } from '../../../src/errors.js'
import type { Trouble } from '../../../src/model/trouble.js'
import type { TroubleBook } from '../../../src/notify/delivery/troubles.js'
import { standingOf } from '../../../src/pages/standing.js'
import { silent } from '../../support/silent.js'

const away = 'cannot reach the state in the database at db.example: the connection was refused: start it'
const network = { network: 'local', checkpoint: 7, head: 9, lastPollAt: null }
const well = { ...network, ok: true, status: 'ok', reason: null } as const
const unchanged = { isRefused: false, isConfigChanged: false }
const bookOf = (...open: readonly Trouble[]): TroubleBook => ({
	open: (kind) => open.filter((one) => one.kind === kind) as never,
	timesAccepted: () => 0,
	posting: () => ({ recipientsOf: () => null, nowMs: 0, digest: String }),
	reconcile: async () => undefined,
})
const troubles = bookOf()
const counts = { pending: 0, held: 0, parked: 12, dead: 0, delivered: 1, lastDeliveredAtMs: null }

function healthWith(rest: Partial<HealthOptions>) {
	return createHealth({
		config: { receivers: [] },
		pollers: [],
		vitals: { networks: () => [well] },
		summary: async () => ({ networks: new Map(), receivers: new Map([['hook', counts]]) }),
		...{ inEffect: unchanged, troubles },
		...rest,
	})()
}

test('behavior: a state that is away is a trouble, besides what a network says of it', async () => {
	const summary = () => Promise.reject(new StateError('lost', away))
	const alone = await healthWith({ summary })
	expect(alone.reasons).toEqual([`the state cannot be read: ${away}`])
	const reason = `local is not scanned: ${away}`
	const both = await healthWith({
		summary,
		vitals: { networks: () => [{ ...well, ok: false, status: 'stalled', reason }] },
	})
	expect(both.reasons).toEqual([reason, ...(alone.reasons ?? [])])
})

test('behavior: a wrong edit and a receiver that accepts nothing say what to do', async () => {
	const hook = { name: 'hook', fallback: null }
	const { reasons } = await healthWith({
		inEffect: { ...unchanged, isRefused: true },
		config: { receivers: [hook as never] },
	})
	expect(reasons).toEqual([
		expect.stringMatching(/^hook refuses all messages \(12 wait\)\. To do: correct that /),
		expect.stringMatching(/last good ones stay in effect\. To do: `tracewatch check` says what is wrong/),
	])
})

test('behavior: a receiver that is taken out while messages wait for it is named, and is no fault', async () => {
	const found = await healthWith({ config: { receivers: [{ name: 'other', fallback: null } as never] } })
	const words =
		'12 messages wait for hook, which is not configured. To do: put it back, or `tracewatch deliveries drop '
	expect(found).toMatchObject({ ok: true, reasons: [expect.stringContaining(words)] })
})

test.each([
	['12 messages wait and 2 messages were given up', { ...counts, dead: 2 }, ', which discards all of them'],
	['1 message was given up', { ...counts, parked: 0, dead: 1 }, ''],
])('behavior: of a receiver that is taken out, all messages are counted: %s', async (words, hook, discards) => {
	const summary = async () => ({ networks: new Map(), receivers: new Map([['hook', hook]]) })
	const { reasons } = await healthWith({ summary })
	expect(reasons).toEqual([
		`${words} for hook, which is not configured. To do: put it back, or ` +
			`\`tracewatch deliveries drop --all --receiver hook\`${discards}`,
	])
})

const minuteMs = 60_000
const failure = 'node.example.org did not answer eth_chainId: the connection was refused. To do: see whether it runs'
const since = new Date(minuteMs).toISOString()
const fails = { failure, lastResult: 'failed', lastDoneAtMs: 1, wellAtMs: minuteMs }
const hangs = { ...fails, failure: null, lastResult: 'done' }
const noAnswer = 'no answer of node.example.org, or only rate limits (429). To do: see'
const why = `local is degraded: no poll has succeeded since ${since}: `

test.each([
	['polls fail', fails, 0, minuteMs, why + failure],
	['polls fail, and are a minute apart', fails, 2 * minuteMs, 2 * minuteMs, why + failure],
	['polls fail, and are an hour apart', fails, 120 * minuteMs, 120 * minuteMs, why + failure],
	['a poll hangs', hangs, 0, minuteMs, `${why}no poll has ended: ${noAnswer}`],
	['none has ever succeeded, and they are an hour apart', { ...fails, lastDoneAtMs: null }, 7_200_000, minuteMs, why],
	['the first one hangs', { ...hangs, lastDoneAtMs: null }, 0, minuteMs, `${why}no poll has ended yet: ${noAnswer}`],
])(
	'error: %s: degraded once that lasts, and not before; the head is unknown',
	async (_, polls, quietAfterMs, ms, reason) => {
		let nowMs = 0
		const network = { rpc: ['https://node.example.org/Key'] as readonly string[], stallAfterMs: null }
		const lastReport = { head: 9n, blocks: 0n, unreadContracts: [] }
		const pollers = [
			{ name: 'local', quietAfterMs, status: () => ({ ...freshStatus(0), lastReport, ...polls }), network },
			{ name: 'other', quietAfterMs, status: () => ({ ...freshStatus(nowMs), lastReport, lastDoneAtMs: 1 }), network },
		] as unknown as readonly ConfiguredPoller[]
		const clock = () => nowMs
		const vitals = createVitals({ pollers, troubles, known: new Map(), clock, receiversOf: () => [], log: silent })
		for (const { name } of pollers) vitals.scanned(name, 7n, 9n)
		const health = createHealth({
			...{ config: { receivers: [] }, pollers, inEffect: unchanged, troubles, vitals, steady: clock },
			summary: async () => ({ networks: new Map(), receivers: new Map() }),
		})
		nowMs = minuteMs + ms
		expect((await health()).ok).toBe(true)
		nowMs += 1
		const found = await health()
		expect(found).toMatchObject({ ok: false, status: 'degraded', reason: expect.stringContaining(reason) })
		const lastPollAt = polls.lastDoneAtMs === null ? null : new Date(1).toISOString()
		const line = { network: 'local', checkpoint: 7, head: null, headUnknownSince: since, lastPollAt }
		expect(found.networks).toEqual([
			{ ...line, ok: false, reason: found.reason },
			{ network: 'other', checkpoint: 7, head: 9, lastPollAt: new Date(1).toISOString(), ok: true, reason: null },
		])
		expect(found.failing).toEqual(polls.failure === null ? [] : ['local'])
		expect(standingOf(found).words).toBe('Degraded')
	},
)

test('behavior: blocks left unread by a backfill or a second look are named after a minute', async () => {
	let nowMs = 1_000
	const error = new RpcError('node.example.org lacks the state of block 30', { kind: 'no-data', endpoint: '' })
	const unread = [
		{ look: 'second', span: { from: 20n, to: 25n }, error, sinceMs: 1_000 },
		{ look: 'backfill', span: { from: 29n, to: 60n }, error, sinceMs: 1_000 },
	]
	const poller = { name: 'local', status: () => ({ unread, failure: 'x' }) }
	const backfills = [29n, 70n].map((from) => ({ span: { from, to: from + 31n }, addresses: [] }))
	const summary = { backfills, settled: { number: 19n } }
	const health = createHealth({
		...{ config: { receivers: [] }, inEffect: unchanged, troubles, steady: () => nowMs },
		pollers: [poller as unknown as NetworkPoller],
		vitals: { networks: () => [well] },
		summary: async () => ({ networks: new Map([['local', summary as never]]), receivers: new Map() }),
	})
	expect((await health()).ok).toBe(true)
	nowMs += 60_000
	const why = 'node.example.org lacks the state of block 30'
	expect(await health()).toMatchObject({
		ok: false,
		status: 'gap',
		reasons: [
			expect.stringMatching(
				new RegExp(`^local: blocks 20 to 25 could not be read a second time: ${why}; what was sent stands. To do: `),
			),
			expect.stringMatching(
				new RegExp(`^local: blocks 29 to 60 and 1 more span are still unread .*\`from_block\`: ${why}. To do: `),
			),
		],
	})
	expect((await health()).stuck).toMatchObject([
		{ network: 'local', look: 'second', fromBlock: 20, toBlock: 25 },
		{ network: 'local', look: 'backfill', fromBlock: 29, toBlock: 60 },
	])
	// Both have passed the block since.
	summary.settled.number = 20n
	for (const { span } of backfills) span.from += 1n
	expect((await health()).ok).toBe(true)
})

test('behavior: a watched contract that is not read is named, with how many more there are', async () => {
	const all = ['0xc0de', '0xfee1'].map((address) => ({ address, forMs: 185_000, why: 'node.example.org refuses it' }))
	const poller = { name: 'local', status: () => ({ unread: [], failure: null, lastReport: { unreadContracts: all } }) }
	const { status, reasons } = await healthWith({
		pollers: [poller as unknown as NetworkPoller],
		summary: async () => ({ networks: new Map(), receivers: new Map() }),
	})
	const why = 'node.example.org refuses it'
	expect(reasons).toEqual([`local: what rules the contract 0xc0de (and 1 more) is not read for 3 min: ${why}`])
	expect(status).toBe('gap')
})

test('behavior: the status names the gravest trouble, and a parked receiver is no stall', async () => {
	const stalled = { ...well, ok: false, status: 'stalled', reason: 'local is not scanned: no answer' } as const
	const hook = { name: 'hook', fallback: 'desk' }
	const config = { receivers: [hook as never] }
	const parked = await healthWith({ config })
	expect(parked).toMatchObject({ ok: false, status: 'undelivered' })
	expect(parked.reason).toMatch(/^hook refuses all messages \(12 wait\); they also go to its fallback desk\. To do: /)
	for (const [failedAttempts, words] of [
		[4, ', and its fallback desk does not accept all messages either'],
		[1, '; they also go to its fallback desk'],
	] as const) {
		const desk = { ...counts, pending: 1, parked: 0, refused: 1, failedAttempts }
		const receivers = new Map(Object.entries({ hook: counts, desk }))
		const { reasons } = await healthWith({ config, summary: async () => ({ networks: new Map(), receivers }) })
		expect(reasons?.[0]).toContain(`hook refuses all messages (12 wait)${words}. To do: `)
	}
	const both = await healthWith({ config, vitals: { networks: () => [stalled] } })
	expect(both).toMatchObject({ status: 'stalled', reasons: [stalled.reason, parked.reason] })
	expect(await healthWith({ inEffect: { ...unchanged, isRefused: true } })).toMatchObject({ status: 'refused' })
	expect(await healthWith({})).toMatchObject({ ok: true, status: 'ok' })
})

test('behavior: a mailbox that fails is named, whatever another mailbox has accepted since', async () => {
	const settings = { name: 'ops', type: 'email', fallback: null, to: ['a@example.org', 'b@example.org'] }
	const begun = { kind: 'undelivered', receiver: 'ops', state: 'failing', sinceMs: 0, receivers: [] } as const
	const { status, reason } = await healthWith({
		config: { receivers: [settings as never] },
		summary: async () => ({
			networks: new Map(),
			receivers: new Map([['ops', { ...counts, parked: 0, pending: 3, failure: 'full', lastDeliveredAtMs: 9 }]]),
		}),
		troubles: bookOf({ ...begun, recipient: 'b@example.org', announced: true }),
	})
	expect(status).toBe('undelivered')
	const words = /^ops, or a mailbox of it, has accepted no message since .*Z \(3 wait\): full\. To do: /
	expect(reason).toMatch(words)
})

test.each([
	['has failed for minutes', {}, {}, 'hook.example: the connection was refused'],
	['failed just now', {}, { announced: false }, null],
	['failed, and nothing waits in order', { aside: 3 }, {}, null],
	['failed, and has accepted one since', { lastDeliveredAtMs: 1 }, {}, null],
])('behavior: a receiver that %s', async (_, waiting, rest, words) => {
	const failure = 'hook.example: the connection was refused'
	const hook = { ...counts, parked: 0, pending: 3, failure, ...waiting }
	const begun = { kind: 'undelivered', receiver: 'hook', recipient: null, state: 'failing', sinceMs: 0 } as const
	const { status, reason } = await healthWith({
		config: { receivers: [{ name: 'hook', fallback: null } as never] },
		summary: async () => ({ networks: new Map(), receivers: new Map([['hook', hook]]) }),
		troubles: bookOf({ ...begun, receivers: [], announced: true, ...rest }),
	})
	const todo = 'To do: see whether it runs and can be reached; what waits is retried without your help'
	const full = `hook has accepted no message since 1970-01-01T00:00:00.000Z (3 wait): ${words}. ${todo}`
	expect([status, reason]).toEqual(words === null ? ['ok', null] : ['undelivered', full])
})
