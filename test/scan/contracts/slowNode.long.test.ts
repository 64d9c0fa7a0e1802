// A node that lends no code to calls answers call by call: many contracts take longer than one reading may take.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Address } from '../../../src/model/glossary.js'
import { startTestAnvil } from '../../support/anvil.js'
import { startDialectGateway } from '../../support/dialectGateway.js'
import { ruledCode } from '../../support/ruledContract.js'
import { openBench, watchOf } from '../bench.js'

/** A reading may take 1.5 s here, in place of 6: what waits for the processor stays far below it. */
vi.mock('../../../src/base/waits/deadline.js', async (original) => {
	const real = await original<typeof import('../../../src/base/waits/deadline.js')>()
	const signalWithin: typeof real.signalWithin = (ms, signal) => real.signalWithin(ms / 4, signal)
	return { ...real, signalWithin }
})

/** Each contract is 25 calls: four take longer than a reading may, two do not. */
const CALL_MS = 22
const places = Array.from({ length: 16 }, (_, n): Address => `0x${(0xc0de000000 + n).toString(16).padStart(40, '0')}`)

test('behavior: the first reading of 16 contracts takes too long: the first are read within six polls', async () => {
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
	while (read.length < 6 && !read.at(-1)) {
		await anvil.mine(1)
		await bench.poll()
		read.push((await bench.store.network('local'))?.contracts.size ?? 0)
		// The node gets through what it was still asked.
		before = Promise.resolve()
		bench.pass(31_000)
	}
	expect(read.slice(0, 2)).toEqual([0, 0])
	expect(read.at(-1)).toBeGreaterThan(0)
})
