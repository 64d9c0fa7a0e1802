import { describe, expect, test } from 'vitest'
import { frameOf, readRow } from '../../src/chain/traces/parityRows.js'
import { readAll } from '../../src/chain/traces/readRows.js'
import { alertId } from '../../src/core/alerts/alertId.js'
import { eventsOf } from '../../src/core/events/events.js'
import { sides } from '../../src/core/matching/match.js'
import { deliveryId } from '../../src/core/outbox/posting.js'
import { RpcError } from '../../src/errors.js'
import type { TxTrace } from '../../src/model/chain.js'
import type { Hash } from '../../src/model/glossary.js'
import { digest } from '../core/build.js'
import { expectOnFile, shortDigest } from '../support/ids.js'
import { flattened } from './flattened.js'
import { callRoots, isThere, type Json, readJson, records, rowLists } from './recorded.js'

const reading = { endpoint: 'recorded', method: 'recorded' }

describe.skipIf(!isThere)('recorded answers of real nodes', () => {
	test('the ids of all alerts are those of version 0.1.0', async () => {
		const lines: string[] = []
		for (const { id, file } of records()) {
			const { response } = readJson(file) as Json
			const ids = [...(await idsOf(() => placedTraces(response))), ...(await idsOf(() => callTraces(response)))]
			lines.push(`${id} ${ids.length} ${shortDigest(ids.join('\n'))}`)
		}
		expect(lines.length).toBeGreaterThan(300)
		await expectOnFile(lines.sort(), 'recorded')
	})
})

/** Alert and delivery ids for every address, in the order of the answer; what cannot be believed has none. */
async function idsOf(traces: () => Promise<readonly TxTrace[]>): Promise<readonly string[]> {
	try {
		return (await traces()).flatMap((tx) =>
			eventsOf(tx).flatMap((event) =>
				sides(event).flatMap(({ address }) => {
					const id = alertId(1, event, address)
					const parts = { alertId: id, blockHash: tx.block.hash, receiver: 'ops', recipient: null, revision: 0 }
					return [id, deliveryId(parts, digest)]
				}),
			),
		)
	} catch (error) {
		if (error instanceof RpcError) return []
		throw error
	}
}

/** Rows that say where they stand, by transaction; the rewards of a block together. */
async function placedTraces(response: unknown): Promise<readonly TxTrace[]> {
	const traces = new Map<string, TxTrace & { readonly frames: TxTrace['frames'][number][] }>()
	for (const list of rowLists(response)) {
		const placed = list.filter((row) => 'blockHash' in row)
		for (const row of readAll(placed, readRow, reading)) {
			const { txHash, txIndex, blockNumber, blockHash } = row
			const key = `${blockHash}:${txHash}`
			const block = { number: blockNumber, hash: blockHash }
			const tx = traces.get(key) ?? { txHash, txIndex, block, succeeded: null, frames: [] }
			tx.frames.push(frameOf(row))
			traces.set(key, tx)
		}
	}
	return [...traces.values()]
}

/** Trees of calls do not say where they stand: each gets a place by its number in the answer. */
function callTraces(response: unknown): Promise<readonly TxTrace[]> {
	const traces = callRoots(response).map(async (root, txIndex) => {
		const txHash: Hash = `0x${txIndex.toString(16).padStart(64, '0')}`
		const frames = await flattened(root, reading)
		return { txHash, txIndex, block: { number: 1n, hash: txHash }, succeeded: null, frames }
	})
	return Promise.all(traces)
}
