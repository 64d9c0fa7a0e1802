import { expect, onTestFinished, test } from 'vitest'
import type { NetworkSettings } from '../../src/config/settings/settings.js'
import { networkNow } from '../../src/daemon/health/networkNow.js'
import { createNetworkPoller } from '../../src/daemon/polling/networkPoller.js'
import { RpcError } from '../../src/errors.js'
import type { Accounts } from '../../src/model/books.js'
import type { Block, Head } from '../../src/model/chain.js'
import type { Chain, Log } from '../../src/model/ports.js'
import { createAuditPorts } from '../../src/scan/auditing/auditPorts.js'
import { openFileStore } from '../support/fileStore.js'
import { temporaryFolder } from '../support/folder.js'
import { silent } from '../support/silent.js'
import { START_MS, standingClock } from '../support/standingClock.js'

const block: Block = {
	number: 100n,
	hash: `0x${'11'.repeat(32)}`,
	parentHash: `0x${'22'.repeat(32)}`,
	timestampS: 1_700_000_000n,
	txHashes: [],
}
const head: Head = { latest: block, safe: null, finalized: null }

/** A round over a chain whose head is told when the test says so: each question for it is one poll. */
interface Held {
	readonly clock?: () => number
	readonly log?: Log
	readonly headNow?: () => Head
}

async function held({ clock = standingClock, log = silent, headNow = () => head }: Held = {}) {
	const folder = temporaryFolder()
	const store = await openFileStore(folder, { clock: standingClock })
	const stopping = new AbortController()
	const asked: { answer(): void; fail(): void }[] = []
	const chain = {
		head: () =>
			new Promise<Head>((resolve, reject) => {
				const error = new RpcError('a node that is away', { kind: 'network', endpoint: 'node' })
				asked.push({ answer: () => resolve(headNow()), fail: () => reject(error) })
			}),
		block: async () => block,
		recheckChainId: () => undefined,
		shownHead: async (told) => told,
	} as Partial<Chain> as Chain
	const ended: string[] = []
	const network = { name: 'n', chainId: 1, confirmations: 0, settle: 64, symbol: 'ETH', decimals: 18, explorer: null }
	const audit = createAuditPorts({ accounts: {} as Accounts, auditor: null, contracts: null, clock: clock })
	const poller = createNetworkPoller({
		config: { network, watches: new Map(), recipientsOf: () => null, lateAfterMs: 1e9, budgetMs: 1e9 },
		ports: { chain, store, clock, log, checksum: (address) => address, digest: () => '', audit },
		observer: { reported: () => {}, audited: () => {}, ended: (_, result) => void ended.push(result) },
	})
	onTestFinished(async () => {
		stopping.abort()
		for (const { answer } of asked) answer()
		await store.close()
	})
	return {
		poller,
		stopping,
		/** Polls begun so far. */
		polls: () => asked.length,
		/** Ticks that found a poll running. */
		skips: () => ended.filter((result) => result === 'skipped').length,
		/** Ends the poll that is running, and waits for whatever follows at once. */
		async end(how: 'answer' | 'fail' = 'answer') {
			const before = poller.status()
			asked.at(-1)?.[how]()
			await expect.poll(() => poller.status() !== before).toBe(true)
			await new Promise((resolve) => setImmediate(resolve))
		},
	}
}

const { signal } = new AbortController()

test('default: a nudge polls at once', async () => {
	const { poller, polls, end } = await held()
	poller.nudge(signal)
	await expect.poll(polls).toBe(1)
	await end()
	expect(poller.status().failure).toBeNull()
	expect(poller.status().lastReport?.checkpoint).toBe(100n)
	expect(polls()).toBe(1)
})

test('behavior: however many nudges come amid a poll, it runs once more, and no tick counts as skipped', async () => {
	const { poller, polls, skips, end } = await held()
	void poller.tick(signal)
	await expect.poll(polls).toBe(1)
	for (let nudge = 0; nudge < 5; nudge += 1) poller.nudge(signal)
	await end()
	await expect.poll(polls).toBe(2)
	await end()
	expect(polls()).toBe(2)
	expect(skips()).toBe(0)
	poller.nudge(signal)
	await expect.poll(polls).toBe(3)
	await end()
})

test('behavior: a poll that fails is followed by the one that was asked for', async () => {
	const { poller, polls, end } = await held()
	poller.nudge(signal)
	await expect.poll(polls).toBe(1)
	poller.nudge(signal)
	await end('fail')
	await expect.poll(polls).toBe(2)
	await end('fail')
	expect(polls()).toBe(2)
	expect(poller.status().failure).toMatch(/^a node that is away\. To do: see whether the node runs/)
})

test('behavior: a tick that finds a poll running is skipped, and asks for nothing', async () => {
	const { poller, polls, skips, end } = await held()
	poller.nudge(signal)
	await expect.poll(polls).toBe(1)
	void poller.tick(signal)
	await end()
	expect(polls()).toBe(1)
	expect(skips()).toBe(1)
})

test('behavior: nothing follows once it stops', async () => {
	const { poller, polls, end, stopping } = await held()
	const polling = poller.tick(stopping.signal)
	await expect.poll(polls).toBe(1)
	poller.nudge(stopping.signal)
	stopping.abort()
	await end()
	await polling
	expect(polls()).toBe(1)
})

test('behavior: a stop waits for the poll that is under way, and counts no skipped tick', async () => {
	const { poller, stopping, polls, skips, end } = await held()
	void poller.tick(stopping.signal)
	await expect.poll(polls).toBe(1)
	stopping.abort()
	let isIdle = false
	const idle = poller.idle().then(() => {
		isIdle = true
	})
	await new Promise((resolve) => setImmediate(resolve))
	expect(isIdle).toBe(false)
	await end()
	await idle
	expect(poller.status().lastResult).toBe('done')
	expect(skips()).toBe(0)
})

test('behavior: a daemon that polls well says so at the start and once an hour', async () => {
	let nowMs = 1_800_000_000_000
	const said: number[] = []
	const info = (_facts: object, message: string) => void (message.startsWith('polling goes well') && said.push(nowMs))
	const log: Log = { ...silent, info, child: () => log }
	const { poller, polls, end } = await held({ clock: () => nowMs, log })
	for (let minute = 0; minute < 130; minute++) {
		const count = polls()
		poller.nudge(signal)
		await expect.poll(polls).toBe(count + 1)
		await end()
		nowMs += 60_000
	}
	expect(said.map((ms) => (ms - 1_800_000_000_000) / 60_000)).toEqual([0, 60, 120])
})

test('behavior: a hung endpoint: each tick that finds a poll running is counted', async () => {
	const { poller, polls, skips, end } = await held()
	// It hangs through several polls, of which each gives up after a while.
	for (let poll = 1; poll <= 3; poll++) {
		const polling = poller.tick(signal)
		await expect.poll(polls).toBe(poll)
		for (let tick = 0; tick < 20; tick++) void poller.tick(signal)
		await end('fail')
		await polling
	}
	expect(skips()).toBe(60)
})

test('behavior: a head far behind the checkpoint is logged at once, health says it at the second poll', async () => {
	let number = 100n
	const said: string[] = []
	const say = (_facts: object, message: string) => void said.push(message)
	const log: Log = { ...silent, warn: say, info: say, child: () => log }
	const headNow = (): Head => ({ ...head, latest: { ...block, number } })
	const { poller, polls, end } = await held({ log, headNow })
	const settings = { rpc: ['http://node'] as readonly string[], stallAfterMs: null } as NetworkSettings
	const moved = { movedAtMs: START_MS, movedAtSteadyMs: START_MS }
	const progress = {
		poller: { ...poller, network: settings, quietAfterMs: 3_600_000 },
		checkpoint: 100n,
		head: 100n,
		...moved,
	}
	const place = { network: 'n', checkpoint: 100, head: 100, lastPollAt: new Date(START_MS).toISOString() }
	const well = { ...place, ok: true, status: 'ok', reason: null }
	const now = (ms = 0) => networkNow(progress, { nowMs: START_MS + ms, steadyMs: START_MS + ms })
	const pollAt = async (height: bigint) => {
		number = height
		const count = polls()
		poller.nudge(signal)
		await expect.poll(polls).toBe(count + 1)
		await end()
	}
	await pollAt(100n)
	expect(now()).toEqual(well)
	// One of several nodes behind an endpoint may lag for a moment: not a minute, where polls are rare.
	await pollAt(3n)
	expect(now()).toMatchObject({ ok: true, isBehindCheckpoint: true })
	expect(now(60_001).ok).toBe(false)
	await pollAt(4n)
	const { ok, status, reason } = now()
	expect({ ok, status }).toEqual({ ok: false, status: 'stalled' })
	expect(reason).toMatch(/^n: the head is behind the checkpoint: no alerts until it catches up\. The endpoint lags, or/)
	expect(reason).toContain('block 4, and block 100 was scanned). To do: put another endpoint first')
	const spoken = () => said.filter((words) => words.includes('head'))
	const begin = expect.stringMatching(/^the head is behind the checkpoint: .*its head is block 3,/)
	expect(spoken()).toEqual([begin])
	await pollAt(100n)
	expect(now()).toEqual(well)
	expect(spoken()).toEqual([begin, 'the head has caught up with the checkpoint'])
	// Some blocks behind for a moment: nothing to speak of, though two polls find it.
	await pollAt(99n)
	expect(now(60_001).ok).toBe(true)
	await pollAt(98n)
	expect(now()).toMatchObject({ ok: true, isBehindCheckpoint: true })
	expect(now(60_001).ok).toBe(false)
	expect(spoken()).toHaveLength(2)
})
