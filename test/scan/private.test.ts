import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { startEar } from '../support/ear.js'
import { alertOf, openBench, watchOf } from './bench.js'

test.each([true, false])('isPrivate %s: whether the provider can learn what is watched', async (isPrivate) => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const ear = await startEar(node.url)
	const [from, to] = (await node.accounts()) as [Address, Address]
	const bench = await openBench({ urls: [ear.url], watches: [watchOf(to)], isPrivate })
	onTestFinished(() => bench.close())
	await bench.settle()
	const hashes = []
	for (let n = 1n; n <= 3n; n++) {
		hashes.push(await node.send({ from, to, valueWei: n }))
		await node.mine(30)
		await bench.settle()
	}
	const deploy = await node.send({ from: to, data: '0x60016000f3' })
	await node.mine(1)
	await bench.settle()
	const told = (await bench.posted()).map(alertOf).map(({ kind, valueWei }) => [kind, valueWei])
	expect(told).toEqual([
		['transfer', '1'],
		['transfer', '2'],
		['transfer', '3'],
		['deployment', '0'],
	])
	const everything = ear.heard.join('\n').toLowerCase()
	const traces = [to.slice(2), ...hashes, deploy].filter((one) => everything.includes(one.toLowerCase()))
	if (isPrivate) expect(traces).toEqual([])
	else expect(traces.length).toBeGreaterThan(0)
})
