// Foreign code that watches ran, by the built program: what a stranger does to make many alarms, and what is told of
// code that is gone after its block.
import { keccak256 } from 'ox/Hash'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import type { Address, Hex } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { assemble } from '../support/assembler.js'
import { create2Address, encodeActions, puppetCode, puppetInit } from '../support/puppet.js'
import { word } from '../support/ruledContract.js'
import { other, startWatching, told, watchlist } from './site.js'

const at = (name: string): Address => `0x${name.padStart(40, 'c0de')}`
const [router, module, proxy, fallback, caller] = [at('a1'), at('a2'), at('a3'), at('a4'), at('d1')]
const [helper, facet, implementation] = [at('b1'), at('b2'), at('b3')]
const implementationSlot: Hex = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const helperCode = assemble('7 0 CALLDATALOAD SSTORE STOP')
/** Hands its whole input on to the code in this slot. */
const forwards = (slot: string) =>
	assemble(`CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 ${slot} SLOAD GAS DELEGATECALL STOP`)
const codes: readonly (readonly [Address, Hex])[] = [
	// Runs the code that the first 20 bytes of its input name.
	[
		router,
		assemble(`20 CALLDATASIZE SUB 20 0 CALLDATACOPY
			0 0 20 CALLDATASIZE SUB 0 0 CALLDATALOAD 96 SHR GAS DELEGATECALL STOP`),
	],
	// Hands on no input at all.
	[module, assemble('0 0 0 0 1000 SLOAD GAS DELEGATECALL STOP')],
	[proxy, forwards(implementationSlot)],
	[implementation, forwards('1000')],
	[fallback, forwards('1000')],
	...[helper, facet].map((one) => [one, helperCode] as const),
	[caller, puppetCode],
]
const places: readonly (readonly [Address, Hex, Address])[] = [
	...[module, proxy, fallback].map((one) => [one, word(1000n), facet] as const),
	[proxy, implementationSlot, implementation],
]

async function open(watched: readonly Address[], anvil: readonly string[] = []) {
	const node = await startTestAnvil(anvil)
	onTestFinished(() => node.stop())
	for (const one of codes) await node.rpc('anvil_setCode', one)
	for (const [one, slot, code] of places) await node.rpc('anvil_setStorageAt', [one, slot, word(code)])
	await node.mine(2)
	const watches = watched.map((address) => `{address: "${address}", kinds: [code]}`)
	const { hook, running } = await startWatching(node.url, { 'watchlists/a.yaml': watchlist(watches) })
	const alerts = () =>
		[...new Map(told(hook.hits).map(({ data }) => [data.id, data])).values()].map((data) => ({
			watch: String(data.watch.address).toLowerCase(),
			code: String(data.codeAddress).toLowerCase(),
			...{ hash: data.codeHash, each: data.chosenByCaller, count: data.count ?? 1 },
		}))
	const send = (to: Address, data: Hex) => node.send({ from: other, to, data, gas: 3_000_000n })
	/** Alerts of a watch, once there are so many. */
	const toldOf = async (one: Address, count: number) => {
		const own = () => alerts().filter(({ watch }) => watch === one)
		await hook.until(() => own().length >= count)
		return own().map(({ code, each, count: times }) => `${code.slice(-2)} ${each ? 'each' : 'once'} ${times}`)
	}
	return { node, hook, running, alerts, send, toldOf }
}

const runs = (code: Address, data: Hex = word(3n)): Hex => `${code}${data.slice(2)}`
const times = (count: number) => Array.from({ length: count }, (_, nth) => nth)

test('behavior: a stranger names code that contracts choose: no alert; a router makes 20, then 1 a day', async () => {
	const choosing = [module, proxy, fallback]
	const { node, send, toldOf } = await open([router, ...choosing])
	const run = async (data: Hex) => {
		for (const one of choosing) await send(one, data)
	}
	await run('0x12345678')
	expect([await toldOf(module, 1), await toldOf(proxy, 1)]).toEqual([['b2 once 1'], ['b2 once 1']])
	// The known function and others, with the address anywhere.
	for (const nth of times(7)) {
		await run(`0x12345678${facet.slice(2)}`)
		await run(`0x${(nth + 1).toString(16).padStart(8, 'a')}${word(facet).slice(2)}${'0'.repeat(64)}`)
		await run(runs(facet))
	}
	for (const nth of times(22)) await send(router, runs(helper, word(BigInt(nth))))
	// Other code in the same place is news, once.
	for (const one of choosing) await node.rpc('anvil_setStorageAt', [one, word(1000n), word(helper)])
	for (const _ of times(2)) await run('0x12345678')
	expect(await toldOf(module, 2)).toEqual(['b2 once 1', 'b1 once 1'])
	expect(await toldOf(proxy, 2)).toEqual(['b2 once 1', 'b1 once 1'])
	// The first code of a proxy whose place is not known is its own.
	expect(await toldOf(fallback, 1)).toEqual(['b1 once 1'])

	expect(await toldOf(router, 20)).toEqual(Array(20).fill('b1 each 1'))
	await node.rpc('evm_increaseTime', [24 * 3_600])
	for (const _ of times(3)) await send(router, runs(helper))
	await node.rpc('anvil_setCode', [helper, assemble('8 0 CALLDATALOAD SSTORE STOP')])
	await send(router, runs(helper))
	expect((await toldOf(router, 22)).slice(20)).toEqual(['b1 each 3', 'b1 each 1'])
}, 60_000)

test('behavior: code that is gone after its block is reported: a delegation, and a contract that ends', async () => {
	const { node, send, alerts, hook } = await open([router], ['--order', 'fifo'])
	const owner = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
	const sponsor = privateKeyToAccount('0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a')
	const delegated = owner.address.toLowerCase()
	const signed = async (nth: number, to: Address, contractAddress: Address, data: Hex) => {
		const authorization = await owner.signAuthorization({ contractAddress, chainId: 31337, nonce: nth })
		const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n, gas: 500_000n }
		const tx = { type: 'eip7702', chainId: 31337, nonce: nth, to, data, ...fees } as const
		return await sponsor.signTransaction({ ...tx, authorizationList: [authorization] })
	}
	const made = create2Address(caller, 5n, puppetInit)
	await node.automine(false)
	for (const raw of [
		await signed(0, router, helper, runs(delegated as Address)),
		// Set to other code, run again, cleared.
		await signed(1, router, facet, runs(delegated as Address)),
		await signed(2, other, `0x${'00'.repeat(20)}`, '0x'),
	])
		await node.rpc('eth_sendRawTransaction', [raw])
	await send(
		caller,
		encodeActions([
			{ do: 'create2', init: puppetInit, salt: 5n },
			{ do: 'call', to: router, data: runs(made, encodeActions([])) },
			{ do: 'call', to: made, inner: [{ do: 'selfdestruct', heir: other }] },
		]),
	)
	const number = await node.mine()
	for (const gone of [delegated, made]) expect(await node.code(gone as Address, number)).toBe('0x')
	await node.automine(true)
	await hook.until(() => alerts().length >= 3)
	const designator = (code: Address) => keccak256(`0xef0100${code.slice(2)}`)
	const [first, second, ...rest] = alerts().toSorted((a, b) => (a.code === made ? 1 : b.code === made ? -1 : 0))
	expect(rest).toEqual([{ watch: router, code: made, hash: null, each: true, count: 1 }])
	// Which of two delegations of one block ran is not known.
	expect([first, second].map((one) => [one?.code, one?.hash])).toEqual([
		[delegated, null],
		[delegated, null],
	])
	// Alone in its block, it is.
	await node.automine(false)
	await node.rpc('eth_sendRawTransaction', [await signed(3, router, helper, runs(delegated as Address))])
	await node.rpc('eth_sendRawTransaction', [await signed(4, other, `0x${'00'.repeat(20)}`, '0x')])
	await node.mine()
	await hook.until(() => alerts().length >= 4)
	expect(alerts().map(({ hash }) => hash)).toContain(designator(helper))
}, 60_000)
