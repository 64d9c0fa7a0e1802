// A head is a claim. Endpoints claim blocks that no one has: first or second, alone, at the start, later, for a moment
// or always. Each block of the chain is told exactly once all the same, and the rest of the poll goes on.
import { describe, expect, onTestFinished, test } from 'vitest'
import { RpcError } from '../../src/errors.js'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { type FaultProxy, startFaultProxy } from '../support/faultProxy.js'
import { alertOf, openBench, watchOf } from './bench.js'

type Who = 'first' | 'second' | 'alone'
type When = 'always' | 'at the start' | 'later'
type Case = readonly [more: bigint, who: Who, when: When, confirmations: number]

const SETTLE = 3
const whens = ['always', 'at the start', 'later'] as const
/** Each value of each column with each of every other: 9 of 54 rows. */
const pairs = [1n, 3n, 1_000n].flatMap((more, i) =>
	(['first', 'second', 'alone'] as const).flatMap((who, j) =>
		whens.filter((_, k) => k === (i + j) % 3).map((when): Case => [more, who, when, (i + 2 * j) % 3 === 0 ? 0 : 2]),
	),
)

test('each value stands in a row with each value of the other columns', () => {
	const columns = [0, 1, 2, 3].map((at) => [...new Set(pairs.map((row) => row[at]))])
	expect(columns.map(({ length }) => length)).toEqual([3, 3, 3, 2])
	for (const [i, ones] of columns.entries())
		for (const [j, others] of columns.entries())
			if (i < j)
				for (const one of ones)
					expect(new Set(pairs.filter((row) => row[i] === one).map((row) => row[j]))).toEqual(new Set(others))
})

describe('an endpoint claims a head that it has not got', () => {
	test.each(pairs)('behavior: %i too many, %s, %s, with %i confirmations', async (more, who, when, confirmations) => {
		const node = await startTestAnvil()
		const proxies: FaultProxy[] = [await startFaultProxy(node.url)]
		if (who !== 'alone') proxies.push(await startFaultProxy(node.url))
		onTestFinished(async () => {
			for (const proxy of proxies) await proxy.close()
			await node.stop()
		})
		const liar = proxies[who === 'second' ? 1 : 0] as FaultProxy
		const lie = (isLying: boolean) => {
			liar.claimedBlocks = isLying ? more : 0n
		}
		await node.automine(false)
		const accounts = await node.accounts()
		const [payer, early, old, late] = accounts as [Address, Address, Address, Address]
		/** Ids by address, in the order of the chain. */
		const paid = new Map<Address, string[]>([early, old, late].map((address) => [address, []]))
		const payAll = async () => {
			for (const address of paid.keys()) {
				const hash = await node.send({ from: payer, to: address, valueWei: 1n })
				paid.get(address)?.push(`31337:${hash}:root:transfer:${address}`)
			}
			await node.mine(1)
		}
		for (let block = 0; block < 5; block++) await payAll()
		const bench = await openBench({
			urls: proxies.map(({ url }) => url),
			watches: [watchOf(early)],
			network: { settle: SETTLE, confirmations },
		})
		onTestFinished(() => bench.close())
		const pollOnce = async () => {
			try {
				return await bench.settle()
			} catch (error) {
				if (!(error instanceof RpcError)) throw error
				return error.message
			}
		}

		lie(when !== 'later')
		const problems: unknown[] = [await pollOnce()]
		const earlyFrom = 5
		for (let round = 0; round < 4; round++) {
			await payAll()
			problems.push(await pollOnce())
		}
		lie(when !== 'at the start')
		await payAll()
		problems.push(await pollOnce())
		bench.setWatches([watchOf(early), watchOf(old, { fromBlock: 1n }), watchOf(late)])
		problems.push(await pollOnce())
		const lateFrom = 10
		for (let round = 0; round < 4; round++) {
			await payAll()
			problems.push(await pollOnce())
		}
		lie(when === 'always')
		await node.mine(confirmations)
		problems.push(await pollOnce())

		expect(problems.filter((each) => typeof each === 'string')).toEqual([])
		const head = await node.head()
		const { checkpoint, settled, backfills } = (await bench.store.network('local')) as NonNullable<
			Awaited<ReturnType<typeof bench.store.network>>
		>
		expect(checkpoint.number).toBe(head - BigInt(confirmations))
		expect(settled.number).toBe(head - BigInt(SETTLE))
		expect(backfills).toEqual([])
		const posted = await bench.posted()
		expect(posted.map(({ message }) => message.type).filter((type) => type === 'alert.removed')).toEqual([])
		const due = [...(paid.get(early) ?? []).slice(earlyFrom), ...(paid.get(old) ?? [])]
		due.push(...(paid.get(late) ?? []).slice(lateFrom))
		expect(posted.map((delivery) => alertOf(delivery).id).toSorted()).toEqual(due.toSorted())
	})
})
