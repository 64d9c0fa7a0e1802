// A stranger hides foreign code behind many addresses without code: it is reported all the same, and what cannot be
// judged is reported without a hash.
import { keccak256 } from 'ox/Hash'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { assemble } from '../support/assembler.js'
import { type Dialect, Refused, startDialectGateway } from '../support/dialectGateway.js'
import { sized } from '../support/longRun.js'
import { soaked } from '../support/soak.js'
import { hookServer, other, polled, settings, siteOf, told, watchlist } from './site.js'

const [wallet, foreign]: readonly Address[] = [1, 2].map((n): Address => `0x${`c0de0${n}`.padStart(40, '0')}`)
/** Runs the code at the address in its input. */
const walletCode = assemble('0 0 0 0 0 CALLDATALOAD GAS DELEGATECALL STOP')
const none = '0xdead000000000000000000000000000000000000'
/** Writes slot 1, then runs so many addresses without code. */
const hiding = (count: number) =>
	assemble(`
	7 1 SSTORE ${count}
	next: 0 0 0 0 DUP5 ${none} ADD GAS DELEGATECALL POP
	1 SWAP1 SUB DUP1 @next JUMPI STOP`)
const many = sized(300, soaked(1_000, 5_000))

const refusing = (isOne: (address: string) => boolean): Dialect => ({
	twist(method, [address]) {
		if (method === 'eth_getCode' && isOne(String(address).toLowerCase()))
			throw new Refused({ error: { code: -32000, message: 'missing trie node' } })
	},
})

interface Case {
	readonly name: string
	readonly count: number
	readonly dialect: Dialect
	/** Of the foreign code: whether its hash is known. */
	readonly isKnown: boolean
	/** Whether the addresses without code, of which that is not known, are reported too. */
	readonly isRestTold: boolean
}

const cases: readonly Case[] = [
	{ name: `${many} addresses without code follow`, count: many, dialect: {}, isKnown: true, isRestTold: false },
	{
		name: 'the 60 codes that follow cannot be read',
		count: 60,
		dialect: refusing((address) => address.startsWith('0xdead')),
		isKnown: true,
		isRestTold: true,
	},
	{
		name: 'its own code cannot be read',
		count: 1,
		dialect: refusing((address) => address === foreign),
		isKnown: false,
		isRestTold: false,
	},
]

const node = await startTestAnvil()
afterAll(() => node.stop())

test.each(sized(cases.slice(0, 1), cases))(
	'behavior: foreign code, and $name: it is reported',
	async ({ count, dialect, isKnown, isRestTold }) => {
		const gateway = await startDialectGateway(node.url, dialect)
		onTestFinished(() => gateway.close())
		const code = hiding(count)
		await node.rpc('anvil_setCode', [wallet, walletCode])
		await node.rpc('anvil_setCode', [foreign, code])
		await node.mine(2)
		const hook = await hookServer()
		const here = siteOf({
			'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }),
			'watchlists/a.yaml': watchlist([`{address: "${wallet}", kinds: [code]}`]),
		})
		const running = here.start(['run'])
		await polled(running)
		await node.send({
			from: other,
			to: wallet as Address,
			data: `0x${String(foreign).slice(2).padStart(64, '0')}`,
			gas: 25_000_000n,
		})
		const alerts = () => new Map(told(hook.hits).map((message) => [message.data.id, message]))
		const ran = () =>
			[...alerts().values()].reduce((sum, { data }) => sum + (data.count ?? 1), 0) === (isRestTold ? count + 1 : 1)
		await hook.until(ran)
		expect((await running.stop()).code).toBe(0)
		const [own, ...others] = [...alerts().values()].toSorted(({ data }) =>
			data.codeAddress?.toLowerCase() === foreign ? -1 : 1,
		)
		expect(own).toMatchObject({
			type: 'alert.code',
			data: { codeHash: isKnown ? keccak256(code) : null, chosenByCaller: true },
		})
		expect(own.data.codeAddress.toLowerCase()).toBe(foreign)
		expect(new Set(others.map(({ type, data }) => `${type} ${data.codeHash}`))).toEqual(
			new Set(isRestTold ? ['alert.code null'] : []),
		)
		expect(ran()).toBe(true)
	},
	60_000,
)
