// A first endpoint that answers some questions and hangs at others, with a second one at hand.
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { openBench, watchOf } from './bench.js'

const kinds = ['transfer', 'delegation', 'unexplained'] as const

test('behavior: whole transactions of a block that never come hold back its alerts for seconds only', async () => {
	let isHung = false
	let end = (_: undefined) => {}
	const never = new Promise<undefined>((resolve) => {
		end = resolve
	})
	const node = await startTestAnvil([])
	await node.automine(false)
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	const first = await startDialectGateway(node.url, {
		twist: (method, [, isWhole]) =>
			isHung && method === 'eth_getBlockByNumber' && isWhole === true ? never : undefined,
	})
	const second = await startDialectGateway(node.url, {})
	const bench = await openBench({
		urls: [first.url, second.url],
		watches: [watchOf(bob, { kinds })],
		timeoutMs: 60_000,
	})
	onTestFinished(async () => {
		end(undefined)
		await bench.close()
		await Promise.all([first.close(), second.close()])
		await node.stop()
	})
	await bench.settle()
	await node.send({ from: alice, to: bob, valueWei: 7n, gas: 21_000n })
	await node.mine()
	isHung = true
	await bench.settle(AbortSignal.timeout(30_000))
	expect((await bench.posted()).map(({ message }) => message.type)).toEqual(['alert.transfer'])
	expect(second.asked('eth_getBlockByNumber').some(([, isWhole]) => isWhole === true)).toBe(true)
})
