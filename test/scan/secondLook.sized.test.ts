import { describe, expect, onTestFinished } from 'vitest'
import type { Log } from '../../src/model/ports.js'
import { ether, startTestAnvil } from '../support/anvil.js'
import { type DialectGateway, startDialectGateway } from '../support/dialectGateway.js'
import { testInFull, testOnce } from '../support/longRun.js'
import { alertOf, openBench, watchOf } from './bench.js'

interface Line {
	readonly facts: object
	readonly message: string
}

/** A chain behind two endpoints, the first of which can be made to lie, and a watcher of one address. */
async function open(clients: readonly string[]) {
	const node = await startTestAnvil()
	const gateways = await Promise.all(clients.map((clientVersion) => startDialectGateway(node.url, { clientVersion })))
	const [from, to] = (await node.accounts()) as [`0x${string}`, `0x${string}`]
	const warned: Line[] = []
	const log: Log = {
		debug() {},
		info() {},
		warn: (facts, message) => void warned.push({ facts, message }),
		error() {},
		child: () => log,
	}
	const bench = await openBench({
		urls: gateways.map(({ url }) => url),
		watches: [watchOf(to)],
		network: { settle: 3 },
		// What they would find at once is left to the second look.
		books: false,
		log,
	})
	onTestFinished(async () => {
		await bench.close()
		for (const gateway of gateways) await gateway.close()
		await node.stop()
	})
	const pay = () => node.send({ from, to, valueWei: ether })
	await pay()
	await node.mine(2)
	await bench.settle()
	return { node, gateways, bench, warned, pay }
}

/** Says of every payment that it moved nothing. */
function lie(gateway: DialectGateway): void {
	gateway.dialect = {
		...gateway.dialect,
		twist(method, _params, result) {
			if (method !== 'trace_block' && method !== 'trace_filter' && method !== 'trace_transaction') return undefined
			return (result as { action: object }[]).map((row) => ({ ...row, action: { ...row.action, value: '0x0' } }))
		},
	}
}

const traces = (gateway: DialectGateway | undefined) =>
	(gateway?.count('trace_block') ?? 0) + (gateway?.count('trace_filter') ?? 0)
const hostOf = (gateway: DialectGateway | undefined) => new URL(gateway?.url ?? '').host

describe('the second look', () => {
	testOnce('behavior: asks another endpoint, and what the first left out is reported, logged and counted', async () => {
		const { node, gateways, bench, warned, pay } = await open(['reth/v2', 'erigon/3'])
		const [first, second] = gateways
		lie(first as DialectGateway)
		const txHash = await pay()
		const { disagreements } = await bench.settle()
		expect([disagreements, (await bench.posted()).length]).toEqual([0, 0])

		await node.mine(6)
		const report = await bench.settle()
		expect(report.disagreements).toBe(1)
		const alerts = (await bench.posted()).map(alertOf)
		expect(alerts.map((alert) => [alert.txHash, alert.lateReason])).toEqual([[txHash, 'found at the second look']])
		expect(warned.filter(({ message }) => message.startsWith('two endpoints disagree'))).toMatchObject([
			{ facts: { first: hostOf(first), second: hostOf(second), found: 1, missed: 0 } },
		])
	})

	testInFull('behavior: of those left it asks another client', async () => {
		const { node, gateways, bench, pay } = await open(['reth/v2.0', 'reth/v2.1', 'erigon/3'])
		const [, same, other] = gateways
		// What each can do is known once it was asked.
		for (let round = 0; round < 4; round++) {
			await pay()
			await node.mine(4)
			await bench.settle()
		}
		const before = [traces(same), traces(other)] as const
		await pay()
		await node.mine(8)
		const report = await bench.settle()
		expect(report.disagreements).toBe(0)
		expect(traces(other)).toBeGreaterThan(before[1])
		expect(traces(same)).toBe(before[0])
	})

	testOnce('behavior: with one endpoint it is asked again itself', async () => {
		const { node, gateways, bench, pay } = await open(['reth/v2'])
		lie(gateways[0] as DialectGateway)
		await pay()
		await bench.settle()
		;(gateways[0] as DialectGateway).dialect = { clientVersion: 'reth/v2' }
		await node.mine(6)
		const report = await bench.settle()
		expect(await bench.posted()).toHaveLength(1)
		expect(report.disagreements, 'it has contradicted nobody but itself').toBe(0)
	})

	testOnce(
		'behavior: a block reward stands where the second endpoint gives none, and leaves with its block',
		async () => {
			const author = '0x00000000000000000000000000000000000a0f0e'
			const node = await startTestAnvil(['--no-mining'])
			const mined = { mined: true } as const
			const gateways = await Promise.all([
				startDialectGateway(node.url, { ...mined, rewards: { fields: 'null', valueWei: 5n, author } }),
				startDialectGateway(node.url, { ...mined, lacks: ['trace_block', 'trace_filter', 'trace_transaction'] }),
			])
			const urls = gateways.map(({ url }) => url)
			const bench = await openBench({ urls, watches: [watchOf(author)], network: { settle: 3 }, books: false })
			onTestFinished(async () => {
				await bench.close()
				for (const gateway of gateways) await gateway.close()
				await node.stop()
			})
			await node.mine(2)
			await bench.settle()
			const begin = (await node.head()) + 1n
			const settled = await node.mine(2)
			await bench.settle()
			await node.mine(3)
			const before = await node.rpc<string>('evm_snapshot')
			const last = await node.mine()
			await bench.settle()
			const told = async () =>
				(await bench.posted()).map((one) => [one.message.type, BigInt(alertOf(one).blockNumber)] as const)
			expect((await bench.store.network('local'))?.settled.number).toBeGreaterThanOrEqual(settled)
			const rewards = Array.from({ length: Number(last - begin) + 1 }, (_, at) => [
				'alert.transfer',
				begin + BigInt(at),
			])
			expect(await told()).toEqual(rewards)

			await node.rpc('evm_revert', [before])
			await node.rpc('evm_increaseTime', [100])
			await node.mine()
			await bench.settle()
			expect((await told()).slice(rewards.length)).toEqual([
				['alert.transfer', last],
				['alert.removed', last],
			])
		},
	)
})
