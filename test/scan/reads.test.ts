import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import type { Store } from '../../src/model/ports.js'
import { startTestAnvil } from '../support/anvil.js'
import { alertOf, openBench, watchOf } from './bench.js'

test('behavior: a poll reads the state once, and scanner and auditor write once each', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const [from, to] = (await node.accounts()) as [Address, Address]
	const asked: string[] = []
	const around = (store: Store): Store =>
		new Proxy(store, {
			get(target, name) {
				asked.push(String(name))
				return Reflect.get(target, name)
			},
		})
	const bench = await openBench({ urls: [node.url], watches: [watchOf(to)], around })
	onTestFinished(() => bench.close())
	await bench.poll()
	expect(asked).toEqual(['network', 'commit', 'enrol', 'commit'])
	for (let value = 1; value <= 3; value++) {
		await node.send({ from, to, valueWei: BigInt(value) })
		await node.mine(1)
		asked.length = 0
		await bench.poll()
		// The scanner and the auditor write once each for a part.
		expect(asked).toEqual(['network', 'commit', 'commit'])
	}
	const told = (await bench.posted()).map((delivery) => alertOf(delivery).valueWei)
	expect(told).toEqual(['1', '2', '3'])
})
