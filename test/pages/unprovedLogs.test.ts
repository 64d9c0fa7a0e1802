import { expect, test } from 'vitest'
import type { NetworkSummary } from '../../src/model/state.js'
import { blockOf } from '../state/samples.js'
import { pageFacts, servePages } from './facts.js'

test('default: the overview says whose logs nothing proves, and why; as JSON too', async () => {
	const logs = {
		blocks: 5,
		runs: [
			{ fromBlock: 7, toBlock: 9, blocks: 3 },
			{ fromBlock: 20, toBlock: 21, blocks: 2, why: 'receipts' as const },
		],
	}
	const ethereum: NetworkSummary = {
		...{ chainId: 1, checkpoint: blockOf(30), settled: blockOf(20), backfills: [], updatedAtMs: 1_000, gaps: [] },
		seen: { head: 30, logs },
	}
	let shown: NetworkSummary = ethereum
	const summary = async () => ({ networks: new Map([['ethereum', shown]]), receivers: new Map() })
	const url = await servePages(() => pageFacts({ summary }))
	const page = async () => (await fetch(url)).text()
	const text = await page()
	expect(text).toContain('ethereum: tokens not proved: that no log of 3 blocks from 7 to 9 is missing')
	expect(text).toContain(
		'ethereum: tokens not proved: that no log of 2 blocks from 20 to 21 is missing: their receipts',
	)
	const { networks } = (await (await fetch(`${url}/?format=json`)).json()) as { networks: { logs: unknown }[] }
	expect(networks.map((one) => one.logs)).toEqual([logs])
	shown = { ...ethereum, seen: { head: 30 } }
	expect(await page()).not.toContain('tokens not proved')
})
