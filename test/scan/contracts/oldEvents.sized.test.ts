// A backfill reports the changes of control that a contract logged before it was watched, but not its creation.
import { expect, onTestFinished } from 'vitest'
import type { Address } from '../../../src/model/glossary.js'
import { startTestAnvil } from '../../support/anvil.js'
import { testInFull, testOnce } from '../../support/longRun.js'
import { type Event, scribeCode, scribing } from '../../support/scribe.js'
import { alertOf, openBench, watchOf } from '../bench.js'
import { a, at, b, c, openScribed, slots, upgraded } from './scribed.js'

testOnce('behavior: events of a contract from `from_block` on, late, each once', async () => {
	const anvil = await startTestAnvil()
	onTestFinished(() => anvil.stop())
	await anvil.automine(false)
	const [payer] = (await anvil.accounts()) as [Address]
	const ruled = at(1)
	await anvil.rpc('anvil_setCode', [ruled, scribeCode])
	await anvil.mine(1)
	const logs = async (event: Event) => {
		await anvil.send({ from: payer, to: ruled, data: scribing([], event), gas: 300_000n })
		await anvil.mine(1)
		return Number(await anvil.head())
	}
	await logs(upgraded(a))
	const from = await logs(upgraded(b))
	await anvil.mine(3)
	const last = await logs({ event: 'AddedOwner(address)', topics: [c] })
	await anvil.mine(1)
	const bench = await openBench({ urls: [anvil.url], watches: [], network: { settle: 3 }, books: false })
	onTestFinished(() => bench.close())
	await bench.settle()
	bench.setWatches([watchOf(ruled, { kinds: ['control'], fromBlock: BigInt(from) })])
	for (let look = 0; look < 4; look++) {
		await anvil.mine(1)
		await bench.settle()
	}
	const alerts = (await bench.posted()).map((delivery) => alertOf(delivery))
	expect(
		alerts.map(({ change, current, blockNumber, late }) => [change, current?.toLowerCase(), blockNumber, late]),
	).toEqual([
		['implementation', b, from, true],
		['safe.owner', c, last, true],
	])
})

testInFull(
	'behavior: state that no endpoint gives for 200 blocks after the start: what was logged is reported',
	async () => {
		let isDown = true
		const ofState = new Set(['eth_call', 'eth_getCode', 'eth_getStorageAt'])
		const refused = { error: { code: -32000, message: 'missing trie node' } }
		const dialect = { twist: (method: string) => (isDown && ofState.has(method) ? refused : undefined) }
		const { send, told, bench, anvil } = await openScribed({ dialects: [dialect] })
		const turn = async (blocks: number) => {
			bench.pass(31_000)
			await anvil.mine(blocks)
			await bench.settle()
		}
		await turn(3)
		await send([[slots.implementation, a]], upgraded(a))
		for (const _ of Array.from({ length: 4 })) await turn(50)
		expect(await told()).toEqual([])
		isDown = false
		await turn(1)
		const [one, ...others] = await told()
		expect(one?.slice(2)).toEqual(['implementation', null, a, 'event'])
		expect(others).toEqual([])
	},
)
