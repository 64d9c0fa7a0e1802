// The cheapest exact way: the same alerts for fewer calls.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChain } from '../../src/chain/chain.js'
import { createEndpoints } from '../../src/chain/endpoints/endpoints.js'
import { createRpc } from '../../src/chain/rpc/rpc.js'
import type { SourceName } from '../../src/chain/sources/source.js'
import { alertId } from '../../src/core/alerts/alertId.js'
import { eventsOf } from '../../src/core/events/events.js'
import { sides } from '../../src/core/matching/match.js'
import type { Part } from '../../src/model/chain.js'
import type { Address } from '../../src/model/glossary.js'
import { type Life, startLife } from '../scan/strain.js'
import { never } from '../support/pool.js'
import { silent } from '../support/silent.js'
import { standingClock } from '../support/standingClock.js'
import { startStrained } from '../support/strained.js'

const blocks = 60
let life: Life
/** Someone of whom few blocks tell. */
let rare: Address
beforeAll(async () => {
	life = await startLife(blocks, 20, 4)
	const counts = new Map(life.watched.map((address) => [address, 0]))
	for (const id of life.due) {
		const address = id.split(':')[4] as Address
		counts.set(address, (counts.get(address) ?? 0) + 1)
	}
	rare = [...counts].sort((a, b) => a[1] - b[1])[0]?.[0] as Address
})
afterAll(() => life.close())

interface Walked {
	readonly ids: readonly string[]
	readonly calls: ReadonlyMap<string, number>
	readonly total: number
}

interface Way {
	readonly source?: SourceName
	readonly fees?: boolean
}

/** From the first block to the head, without what the probe asks. */
async function walk(addresses: readonly Address[], way: Way = {}): Promise<Walked> {
	const node = await startStrained(life.url, life.answers)
	const rpcs = [createRpc({ url: node.url })]
	const endpoints = createEndpoints({ rpcs, chainId: 31337, clock: standingClock, log: silent })
	const chain = createChain({ endpoints, log: silent, ...way })
	try {
		await chain.head(never)
		for await (const _ of chain.walk({ from: life.head, to: life.head }, new Set(addresses), never));
		node.forget()
		const parts: Part[] = []
		for await (const part of chain.walk({ from: 1n, to: life.head }, new Set(addresses), never)) parts.push(part)
		const calls = new Map(node.calls)
		const total = [...calls.values()].reduce((sum, count) => sum + count, 0)
		return { ids: idsIn(parts, new Set(addresses)), calls, total }
	} finally {
		await chain.close()
		await node.close()
	}
}

function idsIn(parts: readonly Part[], watched: ReadonlySet<Address>): readonly string[] {
	const ids = parts.flatMap(({ transactions }) =>
		transactions.flatMap(eventsOf).flatMap((event) =>
			sides(event)
				.filter(({ address }) => watched.has(address))
				.filter(() => event.kind === 'deployment' || !event.frameType.startsWith('create'))
				.map(({ address }) => alertId(31337, event, address)),
		),
	)
	return [...new Set(ids)].sort()
}

const dueOf = (addresses: readonly Address[]) =>
	[...new Set(life.due)].filter((id) => addresses.includes(id.split(':')[4] as Address)).sort()

describe('dense: every block has some of them', () => {
	test('behavior: few calls more than two for each block, where fees are not wanted', async () => {
		const { ids, total, calls } = await walk(life.watched, { fees: false })
		expect(ids).toEqual(dueOf(life.watched))
		// A header and the whole block each, and receipts of those that failed: of the others the rows are believed.
		expect(total / blocks).toBeLessThan(2.5)
		expect(calls.get('trace_transaction') ?? 0).toBeLessThan(blocks / 3)
	})

	test('behavior: three for each block where fees are wanted: receipts come by blocks', async () => {
		const { ids, total, calls } = await walk(life.watched)
		expect(ids).toEqual(dueOf(life.watched))
		expect(total / blocks).toBeLessThan(3.3)
		expect(calls.get('eth_getTransactionReceipt') ?? 0).toBeLessThan(blocks / 2)
	})

	test('behavior: half of what lists cost, whose hits are completed one by one', async () => {
		const [chosen, lists] = await Promise.all([
			walk(life.watched, { fees: false }),
			walk(life.watched, { source: 'trace_filter' }),
		])
		expect(chosen.ids).toEqual(lists.ids)
		expect(chosen.total).toBeLessThan(lists.total * 0.6)
	})
})

test('sparse: lists, and what is hit by itself', async () => {
	const { ids, calls } = await walk([rare])
	expect(ids).toEqual(dueOf([rare]))
	expect(calls.get('trace_filter') ?? 0).toBeGreaterThan(0)
	expect(calls.get('trace_block') ?? 0).toBeLessThan(blocks / 4)
})
