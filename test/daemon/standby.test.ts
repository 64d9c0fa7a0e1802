import { describe, expect, onTestFinished, test } from 'vitest'
import type { NetworkSettings } from '../../src/config/settings/settings.js'
import { createVitals } from '../../src/daemon/health/vitals.js'
import { createNetworkPoller, type NetworkPoller } from '../../src/daemon/polling/networkPoller.js'
import { freshStatus } from '../../src/daemon/polling/pollerStatus.js'
import { RpcError, StateError } from '../../src/errors.js'
import { perKind } from '../../src/kinds/all.js'
import type { Accounts } from '../../src/model/books.js'
import type { Block } from '../../src/model/chain.js'
import type { Address } from '../../src/model/glossary.js'
import type { Chain, Log, Store } from '../../src/model/ports.js'
import { createAuditPorts } from '../../src/scan/auditing/auditPorts.js'
import { openFileStore } from '../../src/state/file/fileStore.js'
import { troubleBook } from '../../src/state/troubles.js'
import { blockOf, commitOf } from '../state/samples.js'
import { temporaryFolder } from '../support/folder.js'
import { silent } from '../support/silent.js'

const { signal } = new AbortController()

async function openState(clock: () => number): Promise<Store> {
	const folder = temporaryFolder()
	const store = await openFileStore(folder, { clock })
	onTestFinished(async () => {
		await store.close()
	})
	return store
}

/** A round on a state that others use too: `at.isOurs` says who has the right to poll. */
async function shared() {
	const at = { isOurs: true, nowMs: 1_000, head: async (): Promise<Block> => block, ceded: 0, standbys: 0 }
	const block: Block = { ...blockOf(7), parentHash: blockOf(6).hash, timestampS: 1n, txHashes: [] }
	const store: Store = {
		...(await openState(Date.now)),
		acquireLease: async () => at.isOurs,
		releaseLease: async () => void at.ceded++,
	}
	const lines: string[] = []
	const tell = (_facts: object, message: string) => void lines.push(message)
	const log: Log = { debug: () => undefined, info: tell, warn: tell, error: tell, child: () => log }
	const chain: Partial<Chain> = {
		head: async () => ({ latest: await at.head(), safe: null, finalized: null }),
		block: async () => block,
		shownHead: async (told) => told,
	}
	const accounts = {} as Accounts
	const audit = createAuditPorts({ accounts, auditor: null, contracts: null, clock: Date.now })
	const network = { name: 'ethereum', chainId: 1, confirmations: 0, settle: 64, symbol: 'ETH', decimals: 18 }
	const poller = createNetworkPoller({
		config: {
			network: { ...network, explorer: null },
			watches: new Map(),
			recipientsOf: () => null,
			lateAfterMs: 1,
			budgetMs: 1,
		},
		ports: {
			...{ chain: chain as Chain, store, clock: Date.now, log, checksum: (address: Address) => address },
			...{ digest: () => '', audit },
		},
		onStandby: () => at.standbys++,
		steady: () => at.nowMs,
	})
	/** An audit that ends as told. */
	const begin = (run: (signal: AbortSignal) => Promise<void>) =>
		audit.follower.begin({ counts: { alerts: perKind(() => 0), retracted: 0, disagreements: 0 }, run }, signal)
	return { at, lines, poller, store, follower: audit.follower, begin }
}

describe('a round', () => {
	test('behavior: stands by while another polls, asks no node, says so once, and takes over', async () => {
		const { at, lines, poller, store } = await shared()
		at.isOurs = false
		at.head = async () => {
			throw new Error('no node is to be asked')
		}
		expect([await poller.tick(signal), await poller.tick(signal)]).toEqual(['standby', 'standby'])
		expect(lines).toEqual(['another instance polls this network: standing by'])
		expect(at.standbys).toBe(2)
		expect(poller.status().failure).toBeNull()

		const block = { ...blockOf(7), parentHash: blockOf(6).hash, timestampS: 1n, txHashes: [] }
		Object.assign(at, { isOurs: true, head: async () => block })
		expect(await poller.tick(signal)).toBe('done')
		expect(lines).toContain('this instance polls the network now')
		expect((await store.network('ethereum'))?.checkpoint).toEqual(blockOf(7))
	})

	test('behavior: it is well while it stands by, unless its own polls failed before', async () => {
		const { at, poller } = await shared()
		const tick = async (isOurs: boolean) => {
			Object.assign(at, { isOurs, nowMs: at.nowMs + 1_000 })
			await poller.tick(signal)
			return poller.status().wellAtMs
		}
		expect([await tick(false), await tick(true)]).toEqual([null, 3_000])
		expect([await tick(false), await tick(true)]).toEqual([null, 5_000])
		at.head = async () => {
			throw new RpcError('x', { kind: 'network', endpoint: 'a' })
		}
		// The last tick is in the hands of an instance that fails as this one does.
		expect([await tick(true), await tick(false), await tick(true)]).toEqual([5_000, null, 5_000])
	})

	test('behavior: taken over in the middle of a poll, it stands by', async () => {
		const { at, lines, poller } = await shared()
		at.head = async () => {
			throw new StateError('lost', 'another instance has taken over')
		}
		expect(await poller.tick(signal)).toBe('standby')
		expect(lines).toEqual(['another instance has taken over: standing by'])
	})

	test.each([
		['a node that cannot be reached', new RpcError('x', { kind: 'network', endpoint: 'a' }), 'failed', 1],
		['a chain that changed meanwhile', new RpcError('x', { kind: 'unsettled', endpoint: 'a' }), 'failed', 0],
		['a state that cannot be written', new StateError('disk', 'x'), 'unwritten', 0],
	] as const)('behavior: %s; makes way for others as that helps', async (_, error, result, ceded) => {
		const { at, poller } = await shared()
		at.head = async () => {
			throw error
		}
		expect(await poller.tick(signal)).toBe(result)
		expect(at.ceded).toBe(ceded)
	})
})

describe('the audit beside it', () => {
	const untilHalted = (halted: AbortSignal) =>
		new Promise<never>((_, reject) => halted.addEventListener('abort', () => reject(halted.reason)))

	test('behavior: a lease that is lost ends both', async () => {
		const { at, poller, follower, begin } = await shared()
		expect(await poller.tick(signal)).toBe('done')
		await poller.idle()
		begin(untilHalted)
		at.isOurs = false
		expect(await poller.tick(signal)).toBe('standby')
		expect(follower.isRunning()).toBe(false)
		expect(poller.status().failure).toBeNull()
	})

	test('behavior: the lease is not released while an audit runs, but after it', async () => {
		const { at, poller, follower, begin } = await shared()
		at.head = async () => {
			throw new RpcError('x', { kind: 'network', endpoint: 'a' })
		}
		begin(untilHalted)
		expect(await poller.tick(signal)).toBe('failed')
		expect(at.ceded).toBe(0)
		await follower.halt()
		expect(at.ceded).toBe(1)
	})

	test('behavior: its failure is shown and logged once, fails no poll, and ends', async () => {
		const { lines, poller, begin } = await shared()
		expect(await poller.tick(signal)).toBe('done')
		await poller.idle()
		for (let audits = 0; audits < 2; audits++) {
			begin(async () => {
				throw new RpcError('a block was replaced', { kind: 'unsettled', endpoint: 'a' })
			})
			await poller.idle()
		}
		expect(poller.status()).toMatchObject({ failure: 'a block was replaced', lastResult: 'failed' })
		expect(lines.filter((line) => line.startsWith('auditing failed'))).toEqual([
			'auditing failed: a block was replaced; nothing is lost, the next poll tries again',
		])
		expect(await poller.endAudit(0)).toBe('failed')
		begin(async () => undefined)
		await poller.idle()
		expect(poller.status()).toMatchObject({ failure: null, lastResult: 'done' })
		expect(lines).toContain('auditing works again')
	})

	test('behavior: `once` ends it at its deadline', async () => {
		const { poller, follower, begin } = await shared()
		expect(await poller.tick(signal)).toBe('done')
		await poller.idle()
		begin(untilHalted)
		expect(await poller.endAudit(0)).toBe('done')
		expect(follower.isRunning()).toBe(false)
	})
})

describe('vitals', () => {
	/** Ten minutes without a block are a stall. */
	async function watched() {
		let nowMs = 1_800_000_000_000
		const clock = () => nowMs
		const store = await openState(clock)
		const status = () => freshStatus
		const vitals = createVitals({
			networks: [
				{
					name: 'ethereum',
					chainId: 1,
					stallAfterMs: 600_000,
					rpc: ['https://node.example.org/'] as readonly string[],
				} as NetworkSettings,
			],
			pollers: [{ name: 'ethereum', status } as NetworkPoller],
			receiversOf: () => ['hook'],
			recipientsOf: () => null,
			store,
			troubles: troubleBook(),
			clock,
			log: silent,
		})
		return {
			vitals,
			pass: async (minutes: number) => {
				nowMs += minutes * 60_000
				await vitals.check()
			},
			/** As another instance does. */
			scan: (number: number) => store.commit(commitOf({ checkpoint: blockOf(number) })),
			said: async () => (await store.deliveries()).map(({ message }) => message.type),
		}
	}

	test('behavior: who stands by reports no stall', async () => {
		const { vitals, pass, said } = await watched()
		vitals.stoodBy('ethereum')
		await pass(11)
		await pass(60)
		expect(await said()).toEqual([])
	})

	test('behavior: the instance that scans again reports the end of a stall that another one reported', async () => {
		const { vitals, pass, scan, said } = await watched()
		await scan(1)
		await pass(11)
		expect(await said()).toEqual(['system.stalled'])
		vitals.stoodBy('ethereum')
		await pass(1)
		expect(await said()).toEqual(['system.stalled'])
		await scan(2)
		await pass(1)
		expect(await said()).toEqual(['system.stalled', 'system.recovered'])
	})

	test('behavior: who takes over from no one counts from the last block that anyone scanned', async () => {
		const { vitals, pass, scan, said } = await watched()
		vitals.stoodBy('ethereum')
		await pass(5)
		await scan(1)
		await pass(5)
		expect(await said()).toEqual([])
		// Polls again, and finds no block.
		vitals.reported('ethereum', {
			head: 1n,
			target: 1n,
			checkpoint: 1n,
			behind: false,
			alerts: { transfer: 0, deployment: 0 },
			retracted: 0,
			unread: [],
			disagreements: 0,
			blocks: 0n,
		})
		await pass(4)
		expect(await said()).toEqual([])
		await pass(2)
		expect(await said()).toEqual(['system.stalled'])
	})
})
