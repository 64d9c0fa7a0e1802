import { expect, onTestFinished, test } from 'vitest'
import { openChain } from '../../src/daemon/openNetwork.js'
import { startFaultyNode } from '../support/faultyNode.js'
import { silent } from '../support/silent.js'
import { standingClock } from '../support/standingClock.js'

test('behavior: requests_per_second holds for each endpoint of the network', async () => {
	const node = await startFaultyNode()
	const { endpoints } = openChain(
		{
			name: 'n',
			chainId: 1,
			rpc: [node.url],
			ws: [],
			requestsPerSecond: 1,
			isPrivate: false,
			keepsBooks: true,
			keepsListedBooks: false,
			source: 'auto',
			schedule: '* * * * * *',
			stallAfterMs: null,
			confirmations: 0,
			settle: 64,
			symbol: 'ETH',
			decimals: 18,
			explorer: null,
		},
		{ clock: standingClock, log: silent },
	)
	onTestFinished(async () => {
		await endpoints.close()
		await node.close()
	})
	const { signal } = new AbortController()
	const startedAtMs = performance.now()
	// Two requests: which chain it is on, and this one.
	await endpoints.use((rpc) => rpc.call('eth_blockNumber', [], signal), signal)
	expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(999)
	expect(node.asks).toHaveLength(2)
})
