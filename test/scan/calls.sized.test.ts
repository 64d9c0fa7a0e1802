// Calls of the functions that a watch names: by every source of frames, at any depth, whatever they move.

import { describe, expect, onTestFinished, test } from 'vitest'
import { readCalledFunction } from '../../src/config/abiFunction.js'
import type { AlertData } from '../../src/model/alert.js'
import type { Address, Hex } from '../../src/model/glossary.js'
import { composeMessage } from '../../src/notify/text/message.js'
import { startTestAnvil } from '../support/anvil.js'
import { assemble } from '../support/assembler.js'
import { type Dialect, startDialectGateway } from '../support/dialectGateway.js'
import { divided, testInFull, testOnce } from '../support/longRun.js'
import { type Action, encodeActions, puppetCode } from '../support/puppet.js'
import { alertOf, type BenchOptions, openBench, watchOf } from './bench.js'

const at = (name: string): Address => `0x${name.padStart(40, '0')}`
/** Takes every call. */
const vault = at('a1')
/** Refuses every call. */
const closed = at('a2')
/** Refuses every call, and says `paused` in the form of Solidity's `require`. */
const refusing = at('a6')
const saysPaused = [
	`0x08c379a0${'0'.repeat(56)} 0 MSTORE`,
	`0x${'20'.padStart(8, '0')}${'0'.repeat(56)} 32 MSTORE`,
	`0x${'6'.padStart(8, '0')}${Buffer.from('paused').toString('hex').padEnd(56, '0')} 64 MSTORE`,
	'100 0 REVERT',
].join(' ')
/** Hands everything on to `implementation`; both and the others below do what their calldata says. */
const proxy = at('a3')
const implementation = at('a4')
const multicall = at('a5')
/** Two proxies, one before the other, and each with the same code behind. */
const outer = at('a7')
const inner = at('a8')
const caller = at('b1')
const foreign = at('b2')
/** Its EIP-55 spelling is well known. */
const owner = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'

const handingOnTo = (code: Address) =>
	assemble(`CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 ${code} GAS DELEGATECALL STOP`)

const pause: Hex = '0x8456cb59'
const transferOwnership: Hex = `0xf2fde38b${owner.slice(2).toLowerCase().padStart(64, '0')}`
/** What puppets understand: these four bytes begin a call to no one with 65,536 gas or a little more. */
const stir: Hex = encodeActions([{ do: 'call', to: foreign, gas: 65_537 }])
const stirs = stir.slice(0, 10)

const readAll = (functions: readonly string[]) =>
	new Map(functions.map(readCalledFunction).map(({ selector, ...one }) => [selector, one]))
const calling = (functions: readonly string[], failed = false) => {
	return { kinds: ['call'] as const, calls: { functions: readAll(functions), failed } }
}
const named = ['pause()', 'transferOwnership(address)', stirs]

async function open(options: Partial<BenchOptions> = {}, failed = false, dialect: Dialect | null = null) {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const gateway = dialect && (await startDialectGateway(node.url, dialect))
	onTestFinished(() => gateway?.close())
	const [sender] = (await node.accounts()) as [Address]
	const code: readonly (readonly [Address, Hex])[] = [
		[vault, assemble('STOP')],
		[closed, assemble('0 0 REVERT')],
		[refusing, assemble(saysPaused)],
		[proxy, handingOnTo(implementation)],
		[outer, handingOnTo(inner)],
		[inner, handingOnTo(implementation)],
		...[implementation, multicall, caller, foreign].map((one) => [one, puppetCode] as const),
	]
	for (const one of code) await node.rpc('anvil_setCode', one)
	const watches = [vault, closed, refusing, proxy, multicall, outer, inner].map((address) =>
		watchOf(address, calling(named, failed)),
	)
	const bench = await openBench({ urls: [gateway?.url ?? node.url], watches, books: false, ...options })
	onTestFinished(() => bench.close())
	await node.mine(2)
	await bench.settle()
	const send = (to: Address, data: Hex, valueWei = 0n) =>
		node.send({ from: sender, to, data, valueWei, gas: 8_000_000n })
	return {
		node,
		bench,
		send,
		act: (...actions: readonly Action[]) => send(caller, encodeActions(actions)),
		async told(): Promise<readonly AlertData[]> {
			await node.mine()
			await bench.settle()
			return (await bench.posted()).map(alertOf)
		},
	}
}

const to = (address: Address, data: Hex, valueWei = 0n): Action => ({ do: 'call', to: address, data, valueWei })
const inPuppet = (address: Address, ...inner: readonly Action[]): Action => ({ do: 'call', to: address, inner })
/** The function, the place in the trace and the contract. */
const placed = ({ selector, traceAddress, watch, success }: AlertData) =>
	`${selector} ${traceAddress.join('_') || 'root'} ${watch.address.slice(-2).toLowerCase()} ${success}`

const sources = [
	{ source: 'trace_filter' },
	{ source: 'trace_block' },
	{ source: 'debug_traceBlockByNumber' },
	{ source: 'trace_filter', streams: true },
	{ source: 'trace_block', streams: true },
	{ source: 'debug_traceBlockByNumber', streams: true },
] as const

describe.each(divided<(typeof sources)[number]>(sources, (_, at) => at % 4 === 1))(
	'default: $source, streams: $streams',
	(options) => {
		test('a call is reported at the root, three deep and by delegatecall of the contract to itself', async () => {
			const { act, send, told } = await open(options)
			await send(vault, pause)
			await act(inPuppet(foreign, inPuppet(implementation, to(vault, transferOwnership, 0n))))
			// A multicall: the contract runs its own function on itself.
			await act(inPuppet(multicall, { do: 'delegatecall', to: multicall, data: stir }))
			expect((await told()).map(placed)).toEqual([
				`${pause} root a1 true`,
				'0xf2fde38b 0_0_0 a1 true',
				`${stirs} 0_0 a5 true`,
			])
		})

		test('a proxy and its implementation are one call; what other code does in its storage is none', async () => {
			const { send, told } = await open(options)
			await send(proxy, stir)
			await send(
				proxy,
				encodeActions([
					{ do: 'delegatecall', to: implementation, data: stir },
					{ do: 'delegatecall', to: foreign, data: stir },
				]),
			)
			expect((await told()).map(placed)).toEqual([`${stirs} root a3 true`, `${stirs} 0_0 a3 true`])
		})

		test('neither undone calls, nor those under a staticcall, nor those that borrow the code', async () => {
			const { act, send, told } = await open(options)
			await act(
				{ do: 'call', to: foreign, inner: [to(vault, pause), { do: 'revert' }] },
				{ do: 'staticcall', to: vault, data: pause },
				{ do: 'staticcall', to: foreign, inner: [to(vault, pause)] },
				{ do: 'delegatecall', to: vault, data: pause },
				{ do: 'callcode', to: vault, data: pause },
				to(closed, pause),
				to(vault, '0x8456cb'),
				to(vault, '0x3f4ba83a'),
			)
			await send(closed, pause)
			expect(await told()).toEqual([])
		})

		test('failed ones with failed_calls: their own failure, or that of a call above them', async () => {
			const { act, send, told } = await open(options, true)
			await act({ do: 'call', to: foreign, inner: [to(vault, pause), { do: 'revert' }] }, to(closed, pause))
			await send(closed, pause)
			await send(refusing, pause)
			const alerts = await told()
			expect(alerts.map(placed)).toEqual([
				`${pause} 0_0 a1 false`,
				`${pause} 1 a2 false`,
				`${pause} root a2 false`,
				`${pause} root a6 false`,
			])
			expect(alerts[0]?.failure).toMatch(/^undone, because a call above it failed: .*revert/i)
			expect(alerts[1]?.failure).toMatch(/^(execution )?reverted$/i)
			// Of a large answer only the node's own words are kept.
			expect(alerts[3]?.failure).toMatch('streams' in options ? /^(execution )?reverted$/i : /reverted: "paused"$/i)
		})
	},
)

testOnce('behavior: of proxies before proxies, each contract that is entered counts once', async () => {
	const { send, act, told } = await open()
	// The code behind both runs its own function in the storage of the outer one.
	await send(outer, encodeActions([{ do: 'delegatecall', to: implementation, data: stir }]))
	// The inner one is entered by a call, and runs as code of the outer one, which is no call of it.
	await act(to(inner, stir), to(outer, stir))
	expect((await told()).map(placed)).toEqual([`${stirs} 0_0_0 a7 true`, `${stirs} 0 a8 true`, `${stirs} 1 a7 true`])
})

testOnce('behavior: of 22 calls that hold in one block 20 are sent, and one with the count of the rest', async () => {
	const { node, act, told } = await open()
	await node.automine(false)
	const calls = (count: number) => Array.from({ length: count }, () => to(vault, pause))
	await act(...calls(15))
	await act(...calls(7), to(vault, transferOwnership))
	const alerts = await told()
	const ofPause = alerts.filter(({ selector }) => selector === pause)
	expect(ofPause.map(({ count }) => count ?? 1)).toEqual([...Array<number>(20).fill(1), 2])
	expect(ofPause.at(-1)?.traceAddress).toEqual([5])
	// Another function has places of its own.
	expect(alerts).toHaveLength(22)
})

testOnce('behavior: failed_calls: none under a staticcall; one of a failed transaction', async () => {
	const { act, send, told } = await open({}, true)
	await act(
		{ do: 'staticcall', to: closed, data: pause },
		{ do: 'staticcall', to: foreign, inner: [to(closed, pause)] },
	)
	await act(to(vault, pause), { do: 'revert' })
	await send(outer, pause.slice(0, 8) as Hex)
	const alerts = await told()
	expect(alerts.map(placed)).toEqual([`${pause} 0 a1 false`])
	expect(alerts[0]?.failure).toMatch(/^undone, because a call above it failed: .*revert/i)
})

testOnce('behavior: the signature of a function and its selector mean the same calls', async () => {
	const written = ['transferOwnership(address newOwner)', '0xF2FDE38B']
	const watches = written.map((one, index) => {
		return watchOf(at(`d${index}`), { kinds: ['call'], calls: { functions: readAll([one]), failed: false } })
	})
	const { act, told } = await open({ watches })
	await act(...watches.flatMap(({ address }) => [to(address, transferOwnership), to(address, pause)]))
	const named = ['transferOwnership(address)', [{ name: 'newOwner', type: 'address', value: owner }]]
	expect((await told()).map(({ signature, arguments: given }) => [signature, given])).toEqual([named, [null, null]])
})

testOnce(
	'behavior: arguments, with too few and too many bytes; four bytes that a fallback takes by chance',
	async () => {
		const { send, told } = await open()
		await send(vault, transferOwnership)
		await send(vault, transferOwnership.slice(0, 30) as Hex)
		await send(vault, `${transferOwnership}00ff`)
		await send(vault, pause, 7n)
		const alerts = await told()
		const given = [{ name: '', type: 'address', value: owner }]
		expect(alerts.map((one) => [one.signature, one.arguments, one.valueWei])).toEqual([
			['transferOwnership(address)', given, '0'],
			['transferOwnership(address)', null, '0'],
			['transferOwnership(address)', given, '0'],
			['pause()', [], '7'],
		])
	},
)

testInFull(
	'behavior: of a block full of failing calls 20 are sent, and one alert with the count of the rest',
	async () => {
		const { node, act, told, bench } = await open({}, true)
		await node.automine(false)
		await act(...Array.from({ length: 50 }, () => to(closed, pause)))
		await act(...Array.from({ length: 21 }, () => to(vault, pause)))
		// The failing ones take no place of the others.
		const alerts = await told()
		const counts = (contract: Address) =>
			alerts.filter(({ watch }) => watch.address.toLowerCase() === contract).map(({ count }) => count ?? 1)
		expect(counts(closed)).toEqual([...Array<number>(20).fill(1), 30])
		expect(counts(vault)).toEqual(Array<number>(21).fill(1))
		const [last] = (await bench.posted()).filter(({ message }) => 'count' in message.data)
		const { subject } = composeMessage(last?.message as Parameters<typeof composeMessage>[0])
		expect(subject).toMatch(
			/^\[local\] a call of pause\(\) at 0x0000…00[aA]2 by 0x0000…00[bB]1 failed, and 29 more in this block$/,
		)
		// A second look at the same blocks finds nothing new.
		await node.mine(30)
		await bench.settle()
		expect(await bench.posted()).toHaveLength(42)
	},
)

testOnce(
	'behavior: a call that leaves the chain is retracted, and stands where `calls` no longer names it',
	async () => {
		const { node, send, told, bench } = await open()
		const before = await node.rpc<string>('evm_snapshot')
		await send(vault, pause)
		expect(await told()).toHaveLength(1)
		bench.setWatches([watchOf(vault, { kinds: ['call'] })])
		await node.mine(14)
		await bench.settle()
		expect(await bench.posted()).toHaveLength(1)
		await node.rpc('evm_revert', [before])
		await node.rpc('evm_increaseTime', [100])
		await node.mine(20)
		await bench.settle()
		expect((await bench.posted()).map(({ message }) => message.type)).toEqual(['alert.call', 'alert.removed'])
	},
)

const noIndex: Dialect = { twist: (method) => (method === 'eth_getTransactionReceipt' ? null : undefined) }

testOnce.each([
	['on a private network', { isPrivate: true }, null],
	['on a node without an index of transactions', {}, noIndex],
])('behavior: a call stands where `calls` no longer names it, %s', async (_, options, dialect) => {
	const { node, send, told, bench } = await open(options, false, dialect)
	await send(vault, pause)
	expect(await told()).toHaveLength(1)
	bench.setWatches([watchOf(vault, { kinds: ['call'] })])
	await node.mine(14)
	await bench.settle()
	expect((await bench.posted()).map(({ message }) => message.type)).toEqual(['alert.call'])
})

testInFull('behavior: calls of other functions cost no tree, and a watch without `calls` none at all', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const [sender] = (await node.accounts()) as [Address]
	for (const one of [vault, caller])
		await node.rpc('anvil_setCode', [one, one === vault ? assemble('STOP') : puppetCode])
	let trees = 0
	const gateway = await startDialectGateway(node.url, {
		twist(method, _params, result) {
			if (method === 'trace_transaction') trees++
			return result
		},
	})
	onTestFinished(() => gateway.close())
	const treesOf = async (watch: ReturnType<typeof watchOf>, data: Hex) => {
		const bench = await openBench({ urls: [gateway.url], watches: [watch], books: false, source: 'trace_filter' })
		await bench.settle()
		await node.send({ from: sender, to: caller, data: encodeActions([to(vault, data)]), gas: 1_000_000n })
		await node.mine()
		trees = 0
		await bench.settle()
		await bench.close()
		return trees
	}
	expect(await treesOf(watchOf(vault, calling(named)), pause)).toBe(1)
	expect(await treesOf(watchOf(vault, calling(named)), '0x3f4ba83a')).toBe(0)
	expect(await treesOf(watchOf(vault), pause)).toBe(0)
})

testInFull('error: a filter that leaves out a call beside another one is found out', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const [sender] = (await node.accounts()) as [Address]
	await node.rpc('anvil_setCode', [vault, assemble('STOP')])
	await node.rpc('anvil_setCode', [caller, puppetCode])
	let hidden = 0
	const gateway = await startDialectGateway(node.url, {
		twist(method, _params, result) {
			if (method !== 'trace_filter' || !Array.isArray(result)) return undefined
			const rows = result as readonly { readonly action: { readonly input?: string } }[]
			const left = rows.filter(({ action }) => action.input !== pause)
			hidden += rows.length - left.length
			return left
		},
	})
	onTestFinished(() => gateway.close())
	const watches = [watchOf(vault, calling(named))]
	const how = { books: false, gaps: false, source: 'trace_filter' } as const
	const bench = await openBench({ urls: [gateway.url], watches, ...how })
	onTestFinished(() => bench.close())
	await bench.settle()
	const data = encodeActions([to(vault, pause), to(vault, transferOwnership)])
	const txHash = await node.send({ from: sender, to: caller, data, gas: 1_000_000n })
	await node.mine()
	await expect(bench.settle()).rejects.toThrow(`it left out the call at 0 of ${txHash}`)
	expect(hidden).toBeGreaterThan(0)
	expect(await bench.posted()).toEqual([])
})
