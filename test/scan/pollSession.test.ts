import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { keptLog } from '../notify/samples.js'
import { startTestAnvil } from '../support/anvil.js'
import { openBench, watchOf } from './bench.js'

test('error: a `from_block` beyond the head is warned of, and the next block is not beyond it', async () => {
	const node = await startTestAnvil()
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	await node.mine(3)
	const log = keptLog()
	const watches = [watchOf(alice, { fromBlock: 4n }), watchOf(bob, { fromBlock: 5n })]
	const bench = await openBench({ urls: [node.url], watches, log })
	onTestFinished(async () => {
		await bench.close()
		await node.stop()
	})
	await bench.settle()
	const warnings = log.lines.filter(({ message }) => message.startsWith('watches begin after the head'))
	expect(warnings.map(({ facts }) => facts)).toEqual([{ addresses: 1, address: bob, head: 3n }])
})
