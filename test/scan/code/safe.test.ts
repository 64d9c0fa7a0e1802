// Real Safes (1.5.0) run foreign code: reported in its block, with what it changed; the libraries of Safe are not.

import { keccak256 } from 'ox/Hash'
import { describe, expect, test } from 'vitest'
import type { AlertData } from '../../../src/model/alert.js'
import type { Address, Hex } from '../../../src/model/glossary.js'
import { assemble } from '../../support/assembler.js'
import { mapped, ruledCode, word, writing } from '../../support/ruledContract.js'
import {
	createSafe,
	deploySafes,
	enableModule,
	execute,
	executeFromModule,
	multiSend,
	type SafeCall,
	safeAt,
	signMessage,
} from '../../support/safe.js'
import type { BenchOptions } from '../bench.js'
import { lower, openCodeBench } from './codeBench.js'

const at = (name: string): Address => `0x${name.padStart(40, 'c0de')}`
/** Writes whatever its input says, as the one of the Bybit theft did. */
const helper = at('b1')
/** Writes `owners[x] = 1` for the address x in its input, without touching the list of owners. */
const hides = at('b2')
const hidesCode = assemble('0 CALLDATALOAD 0 MSTORE 2 32 MSTORE 1 64 0 KECCAK256 SSTORE STOP')
const payee = at('e1')
const [first, middle, last, hidden] = [at('a1'), at('a2'), at('a3'), at('a4')]
const sentinel = 1n

async function open(names: readonly (keyof typeof safeAt)[], options: Partial<BenchOptions> = {}) {
	let safe: Address = at('00')
	const stage = await openCodeBench({
		async prepare(node, sender) {
			await node.rpc('anvil_setCode', [helper, ruledCode])
			await node.rpc('anvil_setCode', [hides, hidesCode])
			await deploySafes(node, sender, ['singleton', ...names])
			safe = await createSafe(node, sender, [sender, first, middle, last])
			return [safe]
		},
		options,
	})
	const { send, sender, node } = stage
	return {
		...stage,
		safe,
		/** In a block of its own; resolves to its number and hash. */
		async exec(call: SafeCall) {
			const txHash = await send(safe, execute(sender, call))
			const { status, blockNumber } = await node.receipt(txHash)
			expect(status).toBe('0x1')
			return { txHash, blockNumber: Number(blockNumber) }
		},
	}
}

const run = (data: Hex): SafeCall => ({ to: helper, data, isDelegated: true })
const brief = ({ codeAddress, traceAddress, codeName, chosenByCaller }: AlertData) =>
	`${lower(codeAddress)} ${traceAddress.join('_')} ${codeName} ${chosenByCaller}`
const told = (path: string, code: Address = helper, name: string | null = null) => `${code} ${path} ${name} true`

describe.each([
	{ source: 'trace_filter' },
	{ source: 'trace_block', books: true },
	{ source: 'debug_traceBlockByNumber' },
] as const)('default: by $source, the shape of the Bybit theft', (options) => {
	test('a delegatecall replaces the singleton of a Safe: reported in its block, naming slot 0', async () => {
		const { exec, ...stage } = await open([], options)
		const thief = at('f1')
		const { txHash, blockNumber } = await exec(run(writing([0n, thief])))
		const alerts = await stage.told()
		expect(alerts).toHaveLength(1)
		expect(alerts[0]).toMatchObject({
			id: `31337:${txHash}:0_0:code:${stage.safe}`,
			blockNumber,
			txHash,
			callType: 'delegatecall',
			codeHash: keccak256(ruledCode),
			codeName: null,
			chosenByCaller: true,
			entrySelector: '0x6a761202',
			// The nonce, slot 5, changed too.
			changed: [{ slot: word(0n), name: 'safe.singleton', previous: word(safeAt.singleton), current: word(thief) }],
		})
		expect(lower(alerts[0]?.codeAddress)).toBe(helper)
	})
})

test('default: libraries of Safe are not reported, but those that write, and other code in their place', async () => {
	const libraries = ['multiSend', 'multiSendCallOnly', 'createCall', 'signMessage', 'simulateTx'] as const
	const { exec, node, ...stage } = await open(libraries)
	const pay = multiSend([{ to: payee }, { to: payee }])
	await exec({ to: safeAt.multiSend, data: pay, isDelegated: true })
	await exec({ to: safeAt.multiSendCallOnly, data: pay, isDelegated: true })
	const creation =
		`0x4c8c9ea1${word(0n).slice(2)}${word(64n).slice(2)}${word(1n).slice(2)}${'00'.padEnd(64, '0')}` as Hex
	await exec({ to: safeAt.createCall, data: creation, isDelegated: true })
	const simulation: Hex = `0x1c5fb211${writing([BigInt(payee), 0n], [128n, 0n]).slice(2)}${word(0n).slice(2)}`
	await exec({ to: safeAt.simulateTx, data: simulation, isDelegated: true })
	expect(await stage.told()).toEqual([])

	await exec({ to: safeAt.signMessage, data: signMessage('0x1234'), isDelegated: true })
	const signs = told('0_0', safeAt.signMessage, 'SignMessageLib 1.5.0')
	expect((await stage.told()).map(brief)).toEqual([signs])

	// Another contract at the address of MultiSend, as a chain of its own may have it.
	await node.rpc('anvil_setCode', [safeAt.multiSend, ruledCode])
	await exec({ to: safeAt.multiSend, data: writing([1000n, 1n]), isDelegated: true })
	expect((await stage.told()).map(brief)).toEqual([signs, told('0_0', safeAt.multiSend)])
})

test('default: operation 1 inside MultiSend is reported each time, harmless or not', async () => {
	const { exec, ...stage } = await open(['multiSend'])
	const inside = (data: Hex): SafeCall => ({
		to: safeAt.multiSend,
		data: multiSend([{ to: payee }, run(data)]),
		isDelegated: true,
	})
	await exec(inside(writing([1000n, 1n])))
	await exec(inside(writing([4n, 9n])))
	const alerts = await stage.told()
	expect(alerts.map(brief)).toEqual([told('0_0_1'), told('0_0_1')])
	expect(alerts.map(({ changed }) => changed)).toEqual([
		[{ slot: word(1000n), name: null, previous: word(0n), current: word(1n) }],
		[{ slot: word(4n), name: 'safe.threshold', previous: word(1n), current: word(9n) }],
	])
})

test('default: a module makes the Safe run code by operation 1', async () => {
	const { exec, safe, node, ...stage } = await open([])
	const module = at('d1')
	await node.rpc('anvil_setBalance', [module, '0x56bc75e2d63100000'])
	await node.rpc('anvil_impersonateAccount', [module])
	await exec({ to: safe, data: enableModule(module) })
	const data = executeFromModule(run(writing([0n, hidden])))
	const txHash = await node.send({ from: module, to: safe, data, gas: 500_000n })
	const alerts = await stage.told()
	expect(alerts.map(brief)).toEqual([told('0_0')])
	expect(alerts[0]).toMatchObject({
		txHash,
		entrySelector: data.slice(0, 10),
		changed: [{ slot: word(0n), name: 'safe.singleton', previous: word(safeAt.singleton), current: word(hidden) }],
	})
	expect(lower(alerts[0]?.from)).toBe(module)
})

test('default: owners written by raw storage are named: one that no list shows, the middle one replaced', async () => {
	const { exec, ...stage } = await open([])
	// Harmless first: the same code and the same caller are told again when they do harm.
	await exec(run(writing([1000n, 1n])))
	await exec({ to: hides, data: word(hidden), isDelegated: true })
	// The list is sender, first, middle, last.
	await exec(run(writing([mapped(first, 2n), hidden], [mapped(hidden, 2n), last], [mapped(middle, 2n), 0n])))
	const alerts = await stage.told()
	expect(alerts.map(brief)).toEqual([told('0_0'), told('0_0', hides), told('0_0')])
	const [, added, swapped] = alerts.map(({ changed }) =>
		[...(changed ?? [])].sort((a, b) => (a.slot < b.slot ? -1 : 1)),
	)
	expect(added).toEqual([
		{ slot: mapped(hidden, 2n), name: `safe.owner ${hidden}`, previous: word(0n), current: word(sentinel) },
	])
	const bySlot = [
		{ slot: mapped(first, 2n), name: `safe.owner ${first}`, previous: word(middle), current: word(hidden) },
		{ slot: mapped(middle, 2n), name: `safe.owner ${middle}`, previous: word(last), current: word(0n) },
		{ slot: mapped(hidden, 2n), name: `safe.owner ${hidden}`, previous: word(sentinel), current: word(last) },
	].sort((a, b) => (a.slot < b.slot ? -1 : 1))
	expect(swapped).toEqual(bySlot)
})
