import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Action, encodeActions } from '../../src/devnode/actions.js'
import { assemble } from '../../src/devnode/assembler.js'
import { create2Address, createAddress, initOf, puppetInit } from '../../src/devnode/demoContracts.js'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { actingInit, inits } from '../support/inits.js'

let anvil: TestAnvil
let user: Address
/** Two puppets with 1000 wei each. */
let one: Address
let two: Address
const nobody: Address = '0x00000000000000000000000000000000000e0a01'
const gas = 3_000_000n

beforeAll(async () => {
	anvil = await startTestAnvil(['--no-mining'])
	;[user] = (await anvil.accounts()) as [Address]
	const deploy = async () => {
		const hash = await anvil.send({ from: user, data: puppetInit, gas })
		await anvil.mine()
		const { contractAddress } = await anvil.receipt(hash)
		if (contractAddress === null) throw new Error('no puppet')
		await anvil.send({ from: user, to: contractAddress, valueWei: 1000n })
		await anvil.mine()
		return contractAddress
	}
	one = await deploy()
	two = await deploy()
})
afterAll(() => anvil.stop())

/** Lets `one` act, and tells what changed: wei per account, and whether the transaction succeeded. */
async function act(actions: readonly Action[], accounts: readonly Address[] = [one, two, nobody]) {
	const before = await anvil.head()
	const hash = await anvil.send({ from: user, to: one, data: encodeActions(actions), gas })
	const after = await anvil.mine()
	const changes = await Promise.all(
		accounts.map(async (account) =>
			Number((await anvil.balanceWei(account, after)) - (await anvil.balanceWei(account, before))),
		),
	)
	return { changes, succeeded: (await anvil.receipt(hash)).status === '0x1' }
}

const pay = (valueWei: bigint, to: Address = nobody): Action => ({ do: 'call', to, valueWei })
const nonceOf = async (address: Address) =>
	BigInt(await anvil.rpc<string>('eth_getTransactionCount', [address, 'latest']))

describe('a puppet', () => {
	test('default: takes payments and does nothing without actions', async () => {
		expect(await act([])).toEqual({ changes: [0, 0, 0], succeeded: true })
		expect(await anvil.balanceWei(two, await anvil.head())).toBe(1000n)
	})

	test('behavior: does several things in order', async () => {
		expect((await act([pay(1n), pay(2n), pay(4n, two)])).changes).toEqual([-7, 4, 3])
	})

	test('behavior: calls nest', async () => {
		const innermost: Action = { do: 'call', to: two, inner: [pay(3n)] }
		const middle: Action = { do: 'call', to: one, valueWei: 2n, inner: [innermost] }
		expect((await act([{ do: 'call', to: two, valueWei: 5n, inner: [middle] }])).changes).toEqual([-3, 0, 3])
	})

	test('behavior: delegatecall and callcode act in the name of the caller', async () => {
		expect((await act([{ do: 'delegatecall', to: two, inner: [pay(1n)] }])).changes).toEqual([-1, 0, 1])
		expect((await act([{ do: 'callcode', to: two, valueWei: 9n, inner: [pay(2n)] }])).changes).toEqual([-2, 0, 2])
	})

	test('behavior: staticcall cannot pay', async () => {
		expect(await act([{ do: 'staticcall', to: two, gas: 50_000, inner: [pay(1n)] }, pay(1n)])).toEqual({
			changes: [-1, 0, 1],
			succeeded: true,
		})
	})

	for (const end of ['revert', 'invalid', 'burn'] as const) {
		test(`behavior: ${end} undoes its frame alone, or with bubble everything`, async () => {
			const failing: Action = { do: 'call', to: two, valueWei: 1n, gas: 100_000, inner: [pay(1n), { do: end }] }
			expect(await act([pay(2n), failing, pay(4n)])).toEqual({ changes: [-6, 0, 6], succeeded: true })
			const bubbling = await act([pay(2n), { ...failing, bubble: true }])
			expect(bubbling).toEqual({ changes: [0, 0, 0], succeeded: false })
		})
	}

	test('behavior: a call beyond its balance fails alone', async () => {
		expect(await act([pay(10n ** 20n), pay(1n)])).toEqual({ changes: [-1, 0, 1], succeeded: true })
		expect((await act([{ do: 'call', to: two, valueWei: 10n ** 20n, bubble: true }])).succeeded).toBe(false)
	})

	test('behavior: creates with CREATE where the nonce says, with an endowment', async () => {
		const born = createAddress(one, await nonceOf(one))
		expect((await act([{ do: 'create', init: puppetInit, valueWei: 3n }], [one, born])).changes).toEqual([-3, 3])
		expect((await anvil.code(born, await anvil.head())).length).toBeGreaterThan(100)
	})

	test('behavior: creates with CREATE2 where salt and code say', async () => {
		const init = initOf('0x00')
		const born = create2Address(one, 77n, init)
		const act2 = await act([{ do: 'create2', init, salt: 77n, valueWei: 3n }], [one, born])
		expect(act2.changes).toEqual([-3, 3])
		expect(await anvil.code(born, await anvil.head())).toBe('0x00')
	})

	for (const [name, init] of Object.entries(inits)) {
		const fails = name !== 'codeless'
		test(`behavior: a creation that is ${name} ${fails ? 'fails' : 'succeeds'}`, async () => {
			const born = createAddress(one, await nonceOf(one))
			const attempt: Action = { do: 'create', init, valueWei: 3n }
			const capped: Action = { do: 'delegatecall', to: two, gas: 300_000, inner: [attempt] }
			expect((await act([capped], [one, born])).changes).toEqual(fails ? [0, 0] : [-3, 3])
			expect(await anvil.code(born, await anvil.head())).toBe('0x')
			// A creation that was tried has used up a nonce, whatever came of it.
			expect(createAddress(one, await nonceOf(one))).not.toBe(born)
		})
	}

	test('behavior: a constructor can act', async () => {
		const init = actingInit(two, [pay(2n)])
		const born = createAddress(one, await nonceOf(one))
		expect((await act([{ do: 'create', init, valueWei: 5n }], [one, two, born, nobody])).changes).toEqual([-5, 0, 3, 2])
		expect(await anvil.code(born, await anvil.head())).toBe(await anvil.code(one, await anvil.head()))
		const failing = actingInit(two, [pay(2n), { do: 'revert' }])
		expect(await act([{ do: 'create', init: failing, valueWei: 5n, bubble: true }])).toEqual({
			changes: [0, 0, 0],
			succeeded: false,
		})
	})

	test('behavior: destroys itself in favour of an heir, and does nothing after that', async () => {
		const born = createAddress(one, await nonceOf(one))
		const end: Action = { do: 'call', to: born, inner: [{ do: 'selfdestruct', heir: two }, pay(1n)] }
		const { changes } = await act([{ do: 'create', init: puppetInit, valueWei: 7n }, end], [one, two, born, nobody])
		expect(changes).toEqual([-7, 7, 0, 0])
		expect(await anvil.code(born, await anvil.head())).toBe('0x')
	})
})

describe('encodeActions', () => {
	test('default: one record per action, as laid out', () => {
		const to: Address = '0x1111111111111111111111111111111111111111'
		expect(
			encodeActions([{ do: 'call', to, valueWei: 258n, gas: 65_536, bubble: true, inner: [{ do: 'revert' }] }]),
		).toBe(`0x00${'01'}${'00010000'}${to.slice(2)}${'102'.padStart(32, '0')}${'00002d'}${'07'.padEnd(90, '0')}`)
		expect(encodeActions([])).toBe('0x')
	})

	test('error: an amount or salt that does not fit is refused', () => {
		expect(() => encodeActions([pay(1n << 128n)])).toThrow(RangeError)
		expect(() => encodeActions([pay(-1n)])).toThrow(RangeError)
		expect(() => encodeActions([{ do: 'create2', init: '0x', salt: 1n << 160n }])).toThrow(RangeError)
	})
})

describe('assemble', () => {
	test('default: opcodes, numbers, bytes and places', () => {
		expect(assemble('start: 1 0x0203 ADD 256 @start JUMP')).toBe('0x5b60016102030161010061000056')
	})

	test('error: an unknown word or place', () => {
		expect(() => assemble('1 FROB')).toThrow('FROB')
		expect(() => assemble('@away JUMP')).toThrow('away')
	})
})

describe('addresses', () => {
	test("default: Anvil's first account deploys at its well-known address", () => {
		const first: Address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
		expect(createAddress(first, 0n)).toBe('0x5fbdb2315678afecb367f032d93f642f64180aa3')
	})

	test('default: CREATE2 as in the examples of EIP-1014', () => {
		const zero: Address = '0x0000000000000000000000000000000000000000'
		expect(create2Address(zero, 0n, '0x00')).toBe('0x4d1a2e2bb4f88f0250f26ffff098b0b30b26bf38')
		const from: Address = '0x00000000000000000000000000000000deadbeef'
		expect(create2Address(from, 0xcafebaben, '0xdeadbeef')).toBe('0x60f3f640a8508fc6a86d45df051962668e1e8ac7')
	})
})
