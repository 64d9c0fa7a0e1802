// Which watches have code is asked once for each, with and without books, and again for one that is created.

import { fromCreate } from 'ox/ContractAddress'
import { keccak256 } from 'ox/Hash'
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../../src/model/glossary.js'
import { startTestAnvil } from '../../support/anvil.js'
import { initOf } from '../../support/assembler.js'
import { startDialectGateway } from '../../support/dialectGateway.js'
import { type BenchOptions, openBench, watchOf } from '../bench.js'

const place = (n: number): Address => `0x${(0xc0de000000 + n).toString(16).padStart(40, '0')}`
const code = '0x600035545f5260205ff3'

async function open(options: Partial<BenchOptions>, watched: (accounts: readonly Address[]) => readonly Address[]) {
	const anvil = await startTestAnvil()
	await anvil.automine(false)
	await anvil.rpc('anvil_setCode', [place(1), code])
	await anvil.mine(1)
	const accounts = await anvil.accounts()
	const asked: string[] = []
	const gateway = await startDialectGateway(anvil.url, {
		twist(method, params) {
			if (JSON.stringify(params).includes('747261636577a8')) asked.push(method)
			return undefined
		},
	})
	const watches = watched(accounts).map((address) => watchOf(address))
	const bench = await openBench({ urls: [gateway.url], watches, asks: () => true, ...options })
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await anvil.stop()
	})
	const contracts = async () => (await bench.store.network('local'))?.contracts
	return { anvil, bench, accounts, asked, contracts }
}

test.each([true, false])('default: an entry for each watch with code, asked once; books: %s', async (books) => {
	const { anvil, bench, asked, contracts } = await open({ books }, ([payer]) => [place(0), place(1), payer as Address])
	for (let poll = 0; poll < 3; poll++) {
		await anvil.mine(1)
		await bench.settle()
	}
	const since = (await contracts())?.get(place(1))?.since
	const entry = { since, readAt: since, codeHash: keccak256(code), isSafe: false, values: expect.anything() }
	expect(await contracts()).toEqual(new Map([[place(1), entry]]))
	// The hashes of the code, the slots, and the functions, once more at the first turn of the rotation.
	expect(asked).toEqual(Array.from({ length: 6 }, () => 'eth_call'))
})

test('behavior: no watch asks, so no endpoint is asked', async () => {
	const { anvil, bench, asked, contracts } = await open({ asks: () => false }, () => [place(1)])
	await anvil.mine(1)
	await bench.settle()
	expect(await contracts()).toEqual(new Map())
	expect(asked).toEqual([])
})

test.each([true, false])('behavior: a watch that is created is asked again; books: %s', async (books) => {
	const made = ([payer]: readonly Address[]) => fromCreate({ from: payer as Address, nonce: 0n }) as Address
	const { anvil, bench, accounts, asked, contracts } = await open({ books }, (all) => [made(all)])
	await bench.settle()
	expect(await contracts()).toEqual(new Map())
	await anvil.send({ from: accounts[0] as Address, data: initOf(code) })
	await anvil.mine(1)
	await bench.settle()
	expect((await contracts())?.get(made(accounts))?.codeHash).toBe(keccak256(code))
	expect(asked).toHaveLength(4)
})

test('behavior: an entry goes when no watch asks for it, and with the block that left the chain', async () => {
	const { anvil, bench, accounts, contracts } = await open({}, ([payer]) => [payer as Address, place(2)])
	await anvil.mine(1)
	await bench.settle()
	const snapshot = await anvil.rpc('evm_snapshot')
	const made = fromCreate({ from: accounts[0] as Address, nonce: 0n }) as Address
	bench.setWatches([watchOf(made)])
	await anvil.send({ from: accounts[0] as Address, data: initOf(code) })
	await anvil.mine(1)
	await bench.settle()
	expect([...((await contracts())?.keys() ?? [])]).toEqual([made])
	await anvil.rpc('evm_revert', [snapshot])
	await anvil.mine(3)
	await bench.settle()
	expect(await contracts()).toEqual(new Map())
	await anvil.send({ from: accounts[0] as Address, data: initOf(code) })
	await anvil.mine(1)
	await bench.settle()
	expect((await contracts())?.get(made)?.codeHash).toBe(keccak256(code))
	bench.setWatches([watchOf(place(2))])
	await anvil.mine(1)
	await bench.settle()
	expect(await contracts()).toEqual(new Map())
})
