// The audit that runs beside the polls of a network: what its failure shows, and how it ends.
import { expect, onTestFinished, test } from 'vitest'
import { createNetworkPoller } from '../../../src/daemon/polling/networkPoller.js'
import { RpcError } from '../../../src/errors.js'
import { perKind } from '../../../src/kinds/all.js'
import type { Accounts } from '../../../src/model/books.js'
import type { Block } from '../../../src/model/chain.js'
import type { Address } from '../../../src/model/glossary.js'
import type { Chain, Log } from '../../../src/model/ports.js'
import { createAuditPorts } from '../../../src/scan/auditing/auditPorts.js'
import { blockOf } from '../../state/samples.js'
import { openFileStore } from '../../support/fileStore.js'
import { temporaryFolder } from '../../support/folder.js'
import { standingClock } from '../../support/standingClock.js'

const { signal } = new AbortController()

async function polling() {
	const block: Block = { ...blockOf(7), parentHash: blockOf(6).hash, timestampS: 1n, txHashes: [] }
	const store = await openFileStore(temporaryFolder(), { clock: standingClock })
	onTestFinished(() => store.close())
	const lines: string[] = []
	const tell = (_facts: object, message: string) => void lines.push(message)
	const log: Log = { debug: () => undefined, info: tell, warn: tell, error: tell, child: () => log }
	const chain: Partial<Chain> = {
		head: async () => ({ latest: block, safe: null, finalized: null }),
		block: async () => block,
		shownHead: async (told) => told,
	}
	const accounts = {} as Accounts
	const audit = createAuditPorts({ accounts, auditor: null, contracts: null, clock: standingClock })
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
			...{ chain: chain as Chain, store, clock: standingClock, log, checksum: (address: Address) => address },
			...{ digest: () => '', audit },
		},
		steady: () => 1_000,
	})
	/** An audit that ends as told. */
	const begin = (run: (signal: AbortSignal) => Promise<void>) =>
		audit.follower.begin({ counts: { alerts: perKind(() => 0), retracted: 0, disagreements: 0 }, run }, signal)
	return { lines, poller, follower: audit.follower, begin }
}

const untilHalted = (halted: AbortSignal) =>
	new Promise<never>((_, reject) => halted.addEventListener('abort', () => reject(halted.reason)))

test('behavior: the failure of an audit is shown and logged once, fails no poll, and ends', async () => {
	const { lines, poller, begin } = await polling()
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

test('behavior: an audit that runs on is ended at the deadline of `once`', async () => {
	const { poller, follower, begin } = await polling()
	expect(await poller.tick(signal)).toBe('done')
	await poller.idle()
	begin(untilHalted)
	expect(await poller.endAudit(0)).toBe('done')
	expect(follower.isRunning()).toBe(false)
})
