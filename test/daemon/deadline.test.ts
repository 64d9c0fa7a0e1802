import { expect, onTestFinished, test } from 'vitest'
import { signalWithin } from '../../src/base/waits/deadline.js'
import { createNetworkPoller } from '../../src/daemon/polling/networkPoller.js'
import type { Accounts } from '../../src/model/books.js'
import type { Chain, Log } from '../../src/model/ports.js'
import { createAuditPorts } from '../../src/scan/auditing/auditPorts.js'
import { testNetwork } from '../scan/bench.js'
import { openFileStore } from '../support/fileStore.js'
import { temporaryFolder } from '../support/folder.js'
import { standingClock } from '../support/standingClock.js'

test('error: a missed deadline that reaches the poll is reported as an answer that did not come', async () => {
	const store = await openFileStore(temporaryFolder(), { clock: standingClock })
	onTestFinished(() => store.close())
	const said: string[] = []
	const note = (_facts: object, message: string) => void said.push(message)
	const log: Log = { debug: () => {}, info: note, warn: note, error: note, child: () => log }
	const head = async (signal: AbortSignal): Promise<never> => {
		const late = signalWithin(20, signal)
		await new Promise((resolve) => late.addEventListener('abort', resolve))
		throw late.reason
	}
	const poller = createNetworkPoller({
		config: {
			network: { ...testNetwork, name: 'ethereum' },
			watches: new Map(),
			recipientsOf: () => null,
			lateAfterMs: 1,
			budgetMs: 1,
		},
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
	expect(await poller.tick(new AbortController().signal)).toBe('failed')
	expect(said).toEqual([
		'polling failed: ethereum: the poll was stopped after 0.02 s without an answer; ' +
			'nothing is lost, the next poll tries again',
	])
})
