import { expect, onTestFinished, test } from 'vitest'
import { createNetworkPoller } from '../../../src/daemon/polling/networkPoller.js'
import { RpcError, type RpcErrorFacts } from '../../../src/errors.js'
import type { Accounts } from '../../../src/model/books.js'
import type { Block } from '../../../src/model/chain.js'
import type { Address } from '../../../src/model/glossary.js'
import type { Chain, Log } from '../../../src/model/ports.js'
import { createAuditPorts } from '../../../src/scan/auditing/auditPorts.js'
import { blockOf, commitOf } from '../../state/samples.js'
import { openFileStore } from '../../support/fileStore.js'
import { temporaryFolder } from '../../support/folder.js'
import { standingClock } from '../../support/standingClock.js'

const { signal } = new AbortController()

/** A round whose node refuses in the words handed in, and the error lines of its log. */
async function refused() {
	const folder = temporaryFolder()
	const store = await openFileStore(folder, { clock: standingClock })
	onTestFinished(async () => {
		await store.close()
	})
	const lines: string[] = []
	const ignore = () => undefined
	const log: Log = {
		debug: ignore,
		info: ignore,
		warn: ignore,
		error: (_facts, message) => void lines.push(message),
		child: () => log,
	}
	let next = new RpcError('', { kind: 'network', endpoint: '' })
	const head = async () => {
		throw next
	}
	const network = {
		name: 'ethereum',
		chainId: 1,
		confirmations: 0,
		settle: 64,
		symbol: 'ETH',
		decimals: 18,
		explorer: null,
	}
	const poller = createNetworkPoller({
		config: { network, watches: new Map(), recipientsOf: () => null, lateAfterMs: 1, budgetMs: 1 },
		ports: {
			chain: { head } as Partial<Chain> as Chain,
			store,
			clock: standingClock,
			log,
			checksum: (address) => address,
			digest: () => '',
			audit: createAuditPorts({ accounts: {} as Accounts, auditor: null, contracts: null, clock: standingClock }),
		},
	})
	return {
		lines,
		async tick(message: string, facts: RpcErrorFacts) {
			next = new RpcError(message, facts)
			expect(await poller.tick(signal)).toBe('failed')
			expect(poller.status().failure).toMatch(new RegExp(`^${message}`))
		},
	}
}

test('behavior: a resting endpoint is reported once, though its words count the seconds', async () => {
	const { tick, lines } = await refused()
	for (const seconds of [60, 48, 36]) {
		const facts = { kind: 'network', endpoint: 'node.example.org', retryAfterMs: seconds * 1000 } as const
		await tick(`node.example.org does not answer; it is asked again in ${seconds} s`, facts)
	}
	expect(lines).toEqual([expect.stringContaining('in 60 s; nothing is lost')])
})

test('behavior: another failure is news', async () => {
	const { tick, lines } = await refused()
	await tick('node.example.org does not answer', { kind: 'network', endpoint: 'node.example.org' })
	await tick('node.example.org refuses the key', { kind: 'auth', endpoint: 'node.example.org' })
	await tick('node.example.org does not answer', { kind: 'network', endpoint: 'node.example.org' })
	expect(lines.length).toBe(3)
})

test('behavior: a backfill that cannot be read does not keep another one to one part a tick', async () => {
	const store = await openFileStore(temporaryFolder(), { clock: standingClock })
	onTestFinished(() => store.close())
	const block = (number: bigint): Block => ({
		...{ ...blockOf(Number(number)), timestampS: number, txHashes: [] },
		parentHash: blockOf(Number(number) - 1).hash,
	})
	await store.commit(commitOf({ checkpoint: block(9n), settled: block(9n) }))
	const addresses: readonly Address[] = [`0x${'ab'.repeat(20)}`]
	const stuck = { id: 'stuck', span: { from: 1n, to: 1n }, addresses }
	await store.enrol('ethereum', {
		covered: new Map(),
		backfills: [stuck, { ...stuck, id: 'long', span: { from: 2n, to: 7n } }],
	})
	const read: bigint[] = []
	const chain: Partial<Chain> = {
		head: async () => ({ latest: block(9n), safe: null, finalized: null }),
		shownHead: async (told) => told,
		block: async (number) => block(number),
		tokenWords: async () => new Map(),
		async *walk({ from, to }) {
			if (from === 1n) throw new RpcError('node.example.org has pruned it', { kind: 'no-data', endpoint: '' })
			for (let number = from; number <= to; number += 1n) {
				read.push(number)
				const span = { from: number, to: number }
				yield { span, last: block(number), blocks: new Map(), transactions: [] }
			}
		},
	}
	// Each part takes longer than a poll may.
	let nowMs = 0
	const clock = () => (nowMs += 10)
	const log: Log = {
		debug: () => undefined,
		info: () => undefined,
		warn: () => undefined,
		error: () => undefined,
		child: () => log,
	}
	const audit = createAuditPorts({ accounts: {} as Accounts, auditor: null, contracts: null, clock })
	const network = { name: 'ethereum', chainId: 1, confirmations: 0, settle: 64, symbol: 'ETH', decimals: 18 }
	const poller = createNetworkPoller({
		config: {
			network: { ...network, explorer: null },
			...{ watches: new Map(), recipientsOf: () => null, lateAfterMs: 1, budgetMs: 1 },
		},
		ports: { chain: chain as Chain, store, clock, log, checksum: (address) => address, digest: () => '', audit },
	})
	expect(await poller.tick(signal)).toBe('failed')
	await poller.idle()
	expect(read).toEqual([2n, 3n, 4n, 5n, 6n, 7n])
	expect((await store.network('ethereum'))?.backfills).toMatchObject([{ id: 'stuck' }])
})
