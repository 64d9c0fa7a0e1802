// A watch gets code after the start, by a delegation (EIP-7702) or a deployment: it is read for `control` from then on,
// and what it logged before its first look is reported.

import { fromCreate } from 'ox/ContractAddress'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import type { Address, Hash, Hex } from '../../../src/model/glossary.js'
import type { Kind } from '../../../src/model/kind.js'
import { startTestAnvil } from '../../support/anvil.js'
import { initOf } from '../../support/assembler.js'
import { scribeCode, scribing } from '../../support/scribe.js'
import { alertOf, type BenchOptions, openBench, watchOf } from '../bench.js'
import { a, at, b, c, d, slots, upgraded } from './scribed.js'

/** Accounts 0 and 1 of Anvil's usual mnemonic. */
const sponsor = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const owner = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
const nobody: Address = '0x0000000000000000000000000000000000000000'
const payer = sponsor.address.toLowerCase() as Address

async function open(options: Partial<BenchOptions>, kinds: readonly Kind[] = ['control']) {
	const node = await startTestAnvil(['--no-mining', '--hardfork', 'prague'])
	for (const one of [at(1), at(2)]) await node.rpc('anvil_setCode', [one, scribeCode])
	const made = fromCreate({ from: payer, nonce: 0n }) as Address
	const delegated = owner.address.toLowerCase() as Address
	const watches = [made, delegated].map((address) => watchOf(address, { kinds }))
	const bench = await openBench({ urls: [node.url], watches, network: { settle: 3 }, books: false, ...options })
	onTestFinished(async () => {
		await bench.close()
		await node.stop()
	})
	const turn = async () => {
		await node.mine(1)
		await bench.settle()
	}
	await turn()
	await turn()
	return {
		node,
		bench,
		turn,
		made,
		delegated,
		deploy: () => node.send({ from: payer, data: initOf(scribeCode), gas: 3_000_000n }),
		async delegate(to: Address) {
			const nonceOf = async (one: Address) =>
				Number(BigInt(await node.rpc<string>('eth_getTransactionCount', [one, 'pending'])))
			const facts = { contractAddress: to, chainId: 31337, nonce: await nonceOf(owner.address as Address) }
			const raw = await sponsor.signTransaction({
				type: 'eip7702',
				chainId: 31337,
				nonce: await nonceOf(payer),
				gas: 500_000n,
				maxFeePerGas: 10n ** 11n,
				maxPriorityFeePerGas: 1n,
				to: at(9),
				authorizationList: [await owner.signAuthorization(facts)],
			})
			await node.rpc<Hash>('eth_sendRawTransaction', [raw])
		},
		write: (to: Address, slot: Hex, value: Address, event: Address | null = null) =>
			node.send({ from: payer, to, data: scribing([[slot, value]], event && upgraded(event)), gas: 300_000n }),
		told: async () =>
			(await bench.posted()).flatMap((delivery) => {
				const { id, kind, change, current, evidence } = alertOf(delivery)
				const what = [delivery.message.type, change, String(current).toLowerCase(), evidence]
				return kind === 'control' ? [[id.split(':').at(-1), ...what]] : []
			}),
	}
}

type Opened = Awaited<ReturnType<typeof open>>

const ways: readonly (readonly [string, (one: Opened) => Promise<Address>])[] = [
	['deployed', async ({ deploy, made }) => deploy().then(() => made)],
	['delegated', async ({ delegate, delegated }) => delegate(at(1)).then(() => delegated)],
]

const settings: readonly (readonly [Partial<BenchOptions>, readonly Kind[]])[] = [
	[{ source: 'trace_block' }, ['control']],
	[{ source: 'debug_traceBlockByNumber', books: true }, ['control', 'delegation', 'unexplained']],
]

test.each(ways.flatMap((way) => settings.map((one) => [...way, ...one] as const)))(
	'behavior: a watch that is %s later: what it logs before its first look, and what its storage shows; %#',
	async (_way, act, options, kinds) => {
		const opened = await open(options, kinds)
		const { node, bench, turn, told, write } = opened
		const address = await act(opened)
		await node.mine(1)
		await write(address, slots.implementation, a, a)
		await node.mine(1)
		await write(address, slots.implementation, b, b)
		await turn()
		const logged = [a, b].map((one) => [address, 'alert.control', 'implementation', one, 'event'])
		expect(await told()).toEqual(logged)
		await write(address, slots.implementation, c)
		await turn()
		const silent = [address, 'alert.control', 'implementation', c, 'storage']
		expect(await told()).toEqual([...logged, silent])
		// Second looks and the rotation find nothing else, and take nothing back.
		for (let look = 0; look < 5; look++) {
			bench.pass(300_000)
			await turn()
		}
		expect(await told()).toEqual([...logged, silent])
	},
)

test('behavior: a watch is delegated in a long span without its authorisations: found within minutes', async () => {
	const { node, bench, turn, told, write, delegate, delegated } = await open({})
	await delegate(at(1))
	await node.mine(1)
	await write(delegated, slots.implementation, a, a)
	await node.mine(40)
	await bench.settle()
	bench.pass(300_000)
	await turn()
	expect(await told()).toEqual([[delegated, 'alert.control', 'implementation', a, 'event']])
	await write(delegated, slots.implementation, d)
	await turn()
	expect((await told()).at(-1)).toEqual([delegated, 'alert.control', 'implementation', d, 'storage'])
})

test('behavior: a delegated watch is delegated anew: what its storage shows since is reported', async () => {
	const { bench, turn, told, delegate, delegated } = await open({})
	await delegate(at(1))
	await turn()
	const codeHash = async () => (await bench.store.network('local'))?.contracts.get(delegated)?.codeHash
	const before = await codeHash()
	expect(before).toBeDefined()
	await delegate(at(2))
	await turn()
	expect(await codeHash()).not.toBe(before)
	expect(await told()).toEqual([])
})

test.each([true, false])(
	'behavior: a delegation ends some blocks before the code is read: reported once, as that; books: %s',
	async (books) => {
		const { node, bench, turn, delegate, delegated } = await open({ books }, ['code', 'delegation', 'unexplained'])
		const isContract = async () => (await bench.store.network('local'))?.contracts.has(delegated)
		await delegate(at(1))
		await turn()
		expect(await isContract()).toBe(true)
		await delegate(nobody)
		await node.mine(3)
		await turn()
		for (let look = 0; look < 3; look++) {
			bench.pass(300_000)
			await turn()
		}
		expect(await isContract()).toBe(false)
		const told = (await bench.posted()).map((one) => [one.message.type, alertOf(one).delegate?.toLowerCase() ?? null])
		expect(told).toEqual([
			['alert.delegation', at(1)],
			['alert.delegation', null],
		])
	},
)
