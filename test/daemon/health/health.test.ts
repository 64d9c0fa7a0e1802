import { expect, test } from 'vitest'
import { createHealth, type HealthOptions } from '../../../src/daemon/health/health.js'
import type { NetworkPoller } from '../../../src/daemon/polling/networkPoller.js'
import { RpcError, StateError } from '../../../src/errors.js'

const away = 'cannot reach the state in the database at db.example: the connection was refused: start it'
const network = { network: 'local', checkpoint: 7, head: 9, lastPollAt: null }
const counts = { pending: 0, held: 0, parked: 12, dead: 0, delivered: 1, lastDeliveredAtMs: null }

function healthWith(rest: Partial<HealthOptions>) {
	return createHealth({
		config: { receivers: [] },
		pollers: [],
		vitals: { networks: () => [{ ...network, ok: true, reason: null }] },
		summary: async () => ({ networks: new Map(), receivers: new Map([['hook', counts]]) }),
		isRefused: () => false,
		...rest,
	})()
}

test('behavior: a state that is away is one trouble, where a network says it too', async () => {
	const summary = () => Promise.reject(new StateError('lost', away))
	const alone = await healthWith({ summary })
	expect(alone.reasons).toEqual([`the state cannot be read: ${away}`])
	const reason = `local is not scanned: ${away}`
	const both = await healthWith({ summary, vitals: { networks: () => [{ ...network, ok: false, reason }] } })
	expect(both.reasons).toEqual([reason])
})

test('behavior: a wrong edit and a receiver that accepts nothing say what to do', async () => {
	const hook = { name: 'hook', fallback: null }
	const { reasons } = await healthWith({ isRefused: () => true, config: { receivers: [hook as never] } })
	expect(reasons).toEqual([
		expect.stringMatching(
			/^hook accepts no message \(12 parked\) and has no `fallback`\. To do: `tracewatch deliveries` says/,
		),
		expect.stringMatching(/last good ones stay in effect\. To do: `tracewatch check` says what is wrong/),
	])
})

test('behavior: an endpoint that has failed from the start on is not well after a minute, stall or none', async () => {
	let nowMs = 1_000
	let lastDoneAtMs: number | null = null
	const failure = 'node.example.org did not answer eth_chainId: the connection was refused. To do: see whether it runs'
	let failingSinceMs: number | null = 1_000
	const status = () => ({ failure, failingSinceMs, lastDoneAtMs, lastResult: 'failed', backSinceMs: null, unread: [] })
	const poller = { name: 'local', status } as unknown as NetworkPoller
	const health = createHealth({
		...{ config: { receivers: [] }, pollers: [poller], isRefused: () => false, steady: () => nowMs },
		vitals: { networks: () => [{ ...network, ok: true, reason: null }] },
		summary: async () => ({ networks: new Map(), receivers: new Map() }),
	})
	expect((await health()).ok).toBe(true)
	nowMs += 60_001
	expect((await health()).reasons).toEqual([`local is not scanned: ${failure}`])
	// It stood by until now.
	failingSinceMs = nowMs
	expect((await health()).ok).toBe(true)
	failingSinceMs = 1_000
	// It has worked before: that is for the stall to tell.
	lastDoneAtMs = 5_000
	expect((await health()).ok).toBe(true)
})

test('behavior: what is not read besides the new blocks is said after a minute, while it stands', async () => {
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
		...{ config: { receivers: [] }, isRefused: () => false, steady: () => nowMs },
		pollers: [poller as unknown as NetworkPoller],
		vitals: { networks: () => [{ ...network, ok: true, reason: null }] },
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

test('behavior: the status names the gravest trouble, and a parked receiver is no stall', async () => {
	const stalled = { ...network, ok: false, reason: 'local is not scanned: no answer' }
	const hook = { name: 'hook', fallback: 'desk' }
	const config = { receivers: [hook as never] }
	const parked = await healthWith({ config })
	expect(parked).toMatchObject({ ok: false, status: 'undelivered' })
	expect(parked.reason).toMatch(/^hook accepts no message \(12 parked\) and its fallback desk was notified\. To do: /)
	const both = await healthWith({ config, vitals: { networks: () => [stalled] } })
	expect(both).toMatchObject({ status: 'stalled', reasons: [stalled.reason, parked.reason] })
	expect(await healthWith({ isRefused: () => true })).toMatchObject({ status: 'refused' })
	expect(await healthWith({})).toMatchObject({ ok: true, status: 'ok' })
})
