import { expect, onTestFinished, test } from 'vitest'
import { createNetworkPoller } from '../../src/daemon/networkPoller.js'
import { RpcError } from '../../src/errors.js'
import type { Block, Head } from '../../src/model/chain.js'
import type { Chain } from '../../src/model/ports.js'
import { openFileStore } from '../../src/state/file/store.js'
import { temporaryFolder } from '../support/folder.js'
import { silent } from '../support/silent.js'

const block: Block = {
	number: 100n,
	hash: `0x${'11'.repeat(32)}`,
	parentHash: `0x${'22'.repeat(32)}`,
	timestampS: 1_700_000_000n,
	txHashes: [],
}
const head: Head = { latest: block, safe: null, finalized: null }

/** A round over a chain whose head is told when the test says so: each question for it is one poll. */
async function held() {
	const folder = temporaryFolder()
	const store = await openFileStore(folder, { clock: Date.now })
	const stopping = new AbortController()
	const asked: { answer(): void; fail(): void }[] = []
	const chain = {
		head: () =>
			new Promise<Head>((resolve, reject) => {
				const error = new RpcError('a node that is away', { kind: 'network', endpoint: 'node' })
				asked.push({ answer: () => resolve(head), fail: () => reject(error) })
			}),
		block: async () => block,
	} as Partial<Chain> as Chain
	const network = { name: 'n', chainId: 1, confirmations: 0, settle: 64, symbol: 'ETH', decimals: 18, explorer: null }
	const poller = createNetworkPoller({
		config: { network, watches: new Map(), recipientsOf: () => null, lateAfterMs: 1e9, budgetMs: 1e9 },
		ports: { chain, store, clock: Date.now, log: silent, checksum: (address) => address, digest: () => '' },
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
	expect(poller.status()).toMatchObject({ failure: null, skipped: 0 })
	expect(poller.status().lastReport?.checkpoint).toBe(100n)
	expect(polls()).toBe(1)
})

test('behavior: however many nudges come amid a poll, it runs once more, and no tick counts as skipped', async () => {
	const { poller, polls, end } = await held()
	void poller.tick(signal)
	await expect.poll(polls).toBe(1)
	for (let nudge = 0; nudge < 5; nudge += 1) poller.nudge(signal)
	await end()
	await expect.poll(polls).toBe(2)
	await end()
	expect(polls()).toBe(2)
	expect(poller.status().skipped).toBe(0)
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
	expect(poller.status().failure).toBe('a node that is away')
})

test('behavior: a tick that finds a poll running is skipped, and asks for nothing', async () => {
	const { poller, polls, end } = await held()
	poller.nudge(signal)
	await expect.poll(polls).toBe(1)
	void poller.tick(signal)
	await end()
	expect(polls()).toBe(1)
	expect(poller.status().skipped).toBe(1)
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
	const { poller, stopping, polls, end } = await held()
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
	expect(poller.status()).toMatchObject({ skipped: 0, lastResult: 'done' })
})
