// A block that no endpoint gives, over kills: told once, passed once, and what it held is told once when it was read.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { assemble } from '../../src/devnode/assembler.js'
import { initOf } from '../../src/devnode/contracts.js'
import { hex, startTestDevnode } from '../support/anvil.js'
import { createChance } from '../support/chance.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { failingBlocks } from '../support/failingBlock.js'
import { hookServer, polled, settings, siteOf, stranger, told, treasury, vault, watchlist } from './site.js'

test('behavior: a gap is told once, and closed once, at whatever moment the program is killed', async () => {
	const node = await startTestDevnode()
	const failing = failingBlocks()
	const gateway = await startDialectGateway(node.url, { twist: failing.twist })
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }),
		'watchlists/a.yaml': watchlist([`{address: ${vault}, kinds: [transfer]}`]),
	})
	await node.mine(3)
	expect((await here.run(['once'])).code).toBe(0)
	const pay = async (valueWei: bigint) => node.receipt(await node.send({ from: treasury, to: vault, valueWei }))
	const { blockNumber, transactionHash } = await pay(1n)
	failing.numbers.add(BigInt(blockNumber))
	failing.hashes.add(transactionHash)
	await pay(2n)
	await node.mine(2)

	const bodies = () => told(hook.hits)
	const heard = (type: string) =>
		new Set(bodies().flatMap((each) => (each.type === type ? [each.data.deliveryId] : [])))
	const chance = createChance(7)
	const liveUntil = async (isDone: () => boolean, lives: number) => {
		for (let life = 0; life < lives; life++) {
			const running = here.start(['run'])
			await sleep(1_200 + chance.number(4_000))
			running.process.kill('SIGKILL')
			await running.ended
			if (isDone()) return
		}
	}
	await liveUntil(() => heard('alert.transfer').size > 0, 60)
	await liveUntil(() => false, 4)
	expect([heard('system.gap').size, heard('alert.transfer').size]).toEqual([1, 1])
	const status = JSON.parse((await here.run(['status', '--json'])).stdout)
	expect(status.networks[0].gaps).toMatchObject([{ fromBlock: Number(blockNumber), toBlock: Number(blockNumber) }])

	failing.numbers.clear()
	failing.hashes.clear()
	await liveUntil(() => heard('system.recovered').size > 0, 20)
	await liveUntil(() => false, 3)
	const running = here.start(['run'])
	await sleep(4_000)
	expect((await running.stop()).code).toBe(0)
	const distinct = [...new Map(bodies().map((each) => [each.data.deliveryId, each])).values()]
	expect(distinct.map(({ type, data }) => [type, data.valueWei ?? data.fromBlock, data.late ?? null])).toEqual([
		['system.gap', Number(blockNumber), null],
		['alert.transfer', '2', expect.any(Boolean)],
		['alert.transfer', '1', true],
		['system.recovered', Number(blockNumber), null],
	])
}, 900_000)

test('behavior: a block that a real node cannot trace in time is passed over, and the next one is told', async () => {
	const node = await startTestDevnode()
	onTestFinished(() => node.stop())
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: hook.origin }, '    source: debug_traceBlockByNumber\n'),
		'watchlists/a.yaml': watchlist([`{address: ${vault}, kinds: [transfer]}`]),
	})
	// 100,000 empty calls to a precompiled contract: the node's own tracer takes a time that grows with their square.
	const runtime = assemble(
		`0 CALLDATALOAD loop: 0 0 0 0 0 4 100 CALL POP 0x${'f'.repeat(64)} ADD DUP1 @loop JUMPI STOP`,
	)
	const made = await node.receipt(await node.send({ from: stranger, data: initOf(runtime), gas: 1_000_000n }))
	const running = here.start(['run'])
	await polled(running)
	await node.send({ from: treasury, to: vault, valueWei: 1n })
	await hook.until(1)
	const data = hex(100_000n).slice(2).padStart(64, '0')
	const hostile = { from: stranger, to: made.contractAddress ?? vault, data: `0x${data}`, gas: 29_000_000n }
	const { blockNumber, status } = await node.receipt(await node.send(hostile))
	expect(status).toBe('0x1')
	const sentAtMs = Date.now()
	await node.send({ from: treasury, to: vault, valueWei: 2n })
	await hook.until(3)
	console.log(`passed over after ${Math.round((Date.now() - sentAtMs) / 1_000)} s`)
	expect(told(hook.hits).map((each) => [each.type, each.data.valueWei ?? each.data.fromBlock])).toEqual([
		['alert.transfer', '1'],
		['system.gap', Number(blockNumber)],
		['alert.transfer', '2'],
	])
	expect((await running.stop()).code).toBe(0)
}, 900_000)
