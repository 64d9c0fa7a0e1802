import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { assemble } from '../support/assembler.js'
import { startEar } from '../support/ear.js'
import { alertOf, openBench, watchOf } from './bench.js'

test.each([
	{ isPrivate: true, source: 'auto' },
	{ isPrivate: true, source: 'debug_traceBlockByNumber' },
	{ isPrivate: false, source: 'auto' },
] as const)('isPrivate $isPrivate, $source: whether the provider can learn what is watched', async (choice) => {
	const { isPrivate, source } = choice
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const ear = await startEar(node.url)
	const [from, to] = (await node.accounts()) as [Address, Address]
	const bench = await openBench({ urls: [ear.url], watches: [watchOf(to)], ...choice })
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
	if (source !== 'auto') expect(everything).not.toMatch(/trace_(filter|block"|transaction)/)
	if (isPrivate) expect(traces).toEqual([])
	else expect(traces.length).toBeGreaterThan(0)
})

test('behavior: isPrivate: foreign code is not judged, since each question would name an address', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const ear = await startEar(node.url)
	const [from] = (await node.accounts()) as [Address]
	const [wallet, helper]: readonly Address[] = ['a1', 'b1'].map((end): Address => `0x${end.padStart(40, 'c0de')}`)
	if (wallet === undefined || helper === undefined) throw new Error('no addresses')
	// Runs the code that the first word of its input names, and takes coins.
	await node.rpc('anvil_setCode', [wallet, assemble('0 0 0 0 0 CALLDATALOAD GAS DELEGATECALL STOP')])
	await node.rpc('anvil_setCode', [helper, assemble('7 0 SSTORE STOP')])
	const watch = watchOf(wallet, { kinds: ['transfer', 'code', 'control'] })
	const bench = await openBench({ urls: [ear.url], watches: [watch], isPrivate: true })
	onTestFinished(() => bench.close())
	await node.mine()
	await bench.settle()
	await node.send({ from, to: wallet, valueWei: 5n, data: `0x${helper.slice(2).padStart(64, '0')}`, gas: 500_000n })
	await node.mine(2)
	await bench.settle()
	expect((await bench.posted()).map(alertOf).map(({ kind }) => kind)).toEqual(['transfer'])
	const everything = ear.heard.join('\n').toLowerCase()
	expect([wallet, helper].filter((one) => everything.includes(one.slice(2)))).toEqual([])
})
