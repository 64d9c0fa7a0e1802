// A node that lends no code to calls answers call by call: many contracts take longer than one reading may take.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../../src/model/glossary.js'
import { startTestAnvil } from '../../support/anvil.js'
import { startDialectGateway } from '../../support/dialectGateway.js'
import { ruledCode } from '../../support/ruledContract.js'
import { openBench, watchOf } from '../bench.js'

/** Some 15 contracts take longer than a reading may, 7 take half of that. */
const CALL_MS = 12
const places = Array.from({ length: 60 }, (_, n): Address => `0x${(0xc0de000000 + n).toString(16).padStart(40, '0')}`)

test('behavior: the first reading of 60 contracts takes too long: the first are read within six polls', async () => {
	const anvil = await startTestAnvil()
	await anvil.automine(false)
	for (const one of places) await anvil.rpc('anvil_setCode', [one, ruledCode])
	await anvil.mine(1)
	let before = Promise.resolve()
	const gateway = await startDialectGateway(anvil.url, {
		async twist(method, params) {
			if (method === 'eth_call' && params.length > 2) return { error: 'no overrides here' }
			if (method !== 'eth_call' && method !== 'eth_getStorageAt') return undefined
			before = before.then(() => sleep(CALL_MS))
			await before
			return undefined
		},
	})
	const watches = places.map((address) => watchOf(address, { kinds: ['control'] }))
	const bench = await openBench({ urls: [gateway.url], watches, network: { settle: 3 }, books: false })
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await anvil.stop()
	})
	const read: number[] = []
	for (let poll = 0; poll < 6; poll++) {
		await anvil.mine(1)
		await bench.poll()
		read.push((await bench.store.network('local'))?.contracts.size ?? 0)
		bench.pass(31_000)
	}
	expect(read.slice(0, 2)).toEqual([0, 0])
	expect(read.at(-1)).toBeGreaterThan(0)
})
