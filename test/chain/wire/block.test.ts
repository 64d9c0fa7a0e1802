// One block by its number, where one endpoint has it and another does not, or does not answer.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { type Dialect, Refused } from '../../support/dialectGateway.js'
import { errorOf, never } from '../../support/pool.js'
import { withSession } from '../rpc/session.js'

const block = '0x5'
let anvil: TestAnvil
beforeAll(async () => {
	anvil = await startTestAnvil([])
	await anvil.mine(6)
})
afterAll(() => anvil.stop())

const isBlock = (method: string, [number]: readonly unknown[]) => method === 'eth_getBlockByNumber' && number === block
const whole: Dialect = {}
const without: Dialect = { twist: (method, params) => (isBlock(method, params) ? null : undefined) }
const ill: Dialect = {
	twist(method, params) {
		if (isBlock(method, params)) throw new Refused({ error: { code: -32603, message: 'internal error' } })
	},
}

function on(...dialects: readonly Dialect[]) {
	return { anvilUrl: anvil.url, dialects }
}

test('behavior: a block below the head that one endpoint has not got comes from the next', async () => {
	await withSession(on(without, whole), async ({ chain }) => {
		await chain.head(never)
		expect((await chain.block(5n, never))?.number).toBe(5n)
	})
})

test('error: a block lacking at one endpoint while another is silent is a fault of the server', async () => {
	for (const dialects of [
		[ill, without],
		[without, ill],
	]) {
		await withSession(on(...dialects), async ({ chain }) => {
			await chain.head(never)
			expect((await errorOf(chain.block(5n, never))).kind).toBe('server')
			expect((await errorOf(chain.block(5n, never))).kind, 'it rests').toBe('server')
		})
	}
})

test('behavior: a block that none has got is not there', async () => {
	await withSession(on(without, without), async ({ chain }) => {
		await chain.head(never)
		expect(await chain.block(5n, never)).toBeNull()
	})
})

test('behavior: of a block beyond the head no one but the first is asked', async () => {
	await withSession(on(whole, whole), async ({ chain, gateways }) => {
		await chain.head(never)
		expect(await chain.block(7n, never)).toBeNull()
		const asked = gateways.map((one) => one.asked('eth_getBlockByNumber').filter(([number]) => number === '0x7').length)
		expect(asked).toEqual([1, 0])
	})
})
