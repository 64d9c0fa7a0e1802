// Requests to the consensus layer are sent from the calls to the two contracts that take them: by every source of
// frames, at any depth, and only where they hold.

import { describe, expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Address, Hex } from '../../src/model/glossary.js'
import { composeMessage } from '../../src/notify/text/message.js'
import { startTestAnvil } from '../support/anvil.js'
import { assemble } from '../support/assembler.js'
import { type Action, encodeActions, puppetCode } from '../support/puppet.js'
import { alertOf, type BenchOptions, openBench, watchOf } from './bench.js'

const puppet: Address = '0x00000000000000000000000000000000000c0fee'
const withdrawals: Address = '0x00000961ef480eb55e80d19ad83579a64c007002'
const consolidations: Address = '0x0000bbddc7ce488642fb579f8b00f3a590007251'
const [one, other] = ['a1'.repeat(48), 'b2'.repeat(48)]
const gwei = (amount: bigint) => amount.toString(16).padStart(16, '0')

/** Like the contracts of EIP-7002 and EIP-7251: takes an input of this length with a fee, reads the fee without one. */
const takes = (bytes: number) =>
	assemble(`CALLDATASIZE ISZERO @fee JUMPI CALLDATASIZE ${bytes} EQ CALLVALUE AND @taken JUMPI 0 0 REVERT
		fee: 1 0 MSTORE 32 0 RETURN
		taken: STOP`)

async function open(options: Partial<BenchOptions> = {}, hardfork = 'prague') {
	const node = await startTestAnvil(['--hardfork', hardfork])
	onTestFinished(() => node.stop())
	const [sender] = (await node.accounts()) as [Address]
	await node.rpc('anvil_setCode', [puppet, puppetCode])
	await node.rpc('anvil_setBalance', [puppet, '0x1000'])
	await node.rpc('anvil_setCode', [withdrawals, takes(56)])
	await node.rpc('anvil_setCode', [consolidations, takes(96)])
	const watches = [puppet, sender].map((address) => watchOf(address, { kinds: ['request'] }))
	const bench = await openBench({ urls: [node.url], watches, books: false, ...options })
	onTestFinished(() => bench.close())
	await node.mine(2)
	await bench.settle()
	return {
		node,
		bench,
		sender,
		act: (...actions: readonly Action[]) =>
			node.send({ from: sender, to: puppet, data: encodeActions(actions), gas: 2_000_000n }),
		async told(): Promise<readonly AlertData[]> {
			await node.mine()
			await bench.settle()
			return (await bench.posted()).map(alertOf)
		},
	}
}

const ask = (to: Address, data: Hex, valueWei = 1n): Action => ({ do: 'call', to, data, valueWei })

const sources = [
	{ source: 'trace_filter' },
	{ source: 'trace_block' },
	{ source: 'debug_traceBlockByNumber' },
	{ source: 'trace_filter', streams: true },
	{ source: 'debug_traceBlockByNumber', streams: true },
] as const

describe.each(sources)('default: $source, streams: $streams', (options) => {
	test('each request is reported with what it asks for', async () => {
		const { act, told, node, sender } = await open(options)
		const [tooLong, exit]: [Hex, Hex] = [`0x${one}${gwei(0n)}00`, `0x${one}${gwei(0n)}`]
		const txHash = await act(
			ask(withdrawals, exit),
			ask(withdrawals, `0x${one}${gwei(32_000_000_001n)}`),
			ask(consolidations, `0x${one}${other}`),
			ask(consolidations, `0x${other}${other}`, 7n),
			// None of these holds: no fee, another length, the question for the fee, a branch that is undone.
			ask(withdrawals, exit, 0n),
			ask(withdrawals, tooLong),
			ask(withdrawals, '0x', 0n),
			{ do: 'staticcall', to: withdrawals, data: exit },
			{ do: 'call', to: puppet, inner: [ask(withdrawals, exit), { do: 'revert' }] },
		)
		const rootHash = await node.send({ from: sender, to: consolidations, valueWei: 5n, data: `0x${other}${one}` })
		const alerts = await told()
		const what = ({ request, sourcePubkey, targetPubkey, amountGwei, valueWei, traceAddress }: AlertData) =>
			[request, sourcePubkey, targetPubkey, amountGwei, valueWei, traceAddress.join('_')].map(String)
		expect(alerts.map(what)).toEqual([
			['exit', `0x${one}`, 'null', 'null', '1', '0'],
			['withdrawal', `0x${one}`, 'null', '32000000001', '1', '1'],
			['consolidation', `0x${one}`, `0x${other}`, 'null', '1', '2'],
			['compounding', `0x${other}`, `0x${other}`, 'null', '7', '3'],
			['consolidation', `0x${other}`, `0x${one}`, 'null', '5', ''],
		])
		expect(alerts.map(({ id }) => id)).toEqual([
			...['0', '1', '2', '3'].map((trace) => `31337:${txHash}:${trace}:request:${puppet}`),
			`31337:${rootHash}:root:request:${sender.toLowerCase()}`,
		])
		expect(alerts.every(({ initiator }) => initiator?.toLowerCase() === sender.toLowerCase())).toBe(true)
	})
})

test('behavior: amounts as their eight bytes say, the largest too; code that is lent asks for nothing', async () => {
	const { act, told } = await open()
	await act(
		// 32,000,000,001 = 0x773594001; the largest is 2^64 - 1.
		ask(withdrawals, `0x${one}0000000773594001`),
		ask(withdrawals, `0x${one}ffffffffffffffff`),
		ask(withdrawals, `0x${one}0000000000000001`),
		// Runs the code in the puppet's own storage: the contract does not learn of it.
		{ do: 'delegatecall', to: withdrawals, data: `0x${one}${gwei(0n)}` },
		{ do: 'callcode', to: withdrawals, data: `0x${one}${gwei(0n)}`, valueWei: 1n },
		// Too short by a byte each.
		ask(withdrawals, `0x${one}${gwei(0n).slice(2)}`),
		ask(consolidations, `0x${one}${other.slice(2)}`),
	)
	const alerts = await told()
	expect(alerts.map(({ request, amountGwei, traceAddress }) => [request, amountGwei, traceAddress])).toEqual([
		['withdrawal', '32000000001', [0]],
		['withdrawal', '18446744073709551615', [1]],
		['withdrawal', '1', [2]],
	])
})

test('behavior: before Prague no contract takes requests', async () => {
	const { act, told } = await open({}, 'cancun')
	await act(ask(withdrawals, `0x${one}${gwei(0n)}`))
	expect(await told()).toEqual([])
})

test('behavior: the message says what was asked for, and that it may be ignored', async () => {
	const { act, told, bench } = await open()
	await act(ask(consolidations, `0x${one}${other}`))
	await told()
	const [sent] = await bench.posted()
	const { subject, text } = composeMessage(sent?.message as Parameters<typeof composeMessage>[0])
	const asked = 'the stake of validator 0xa1a1a1a1…a1a1 to be moved to validator 0xb2b2b2b2…b2b2'
	expect(subject.toLowerCase()).toBe(`[local] request: 0x0000…0fee asked for ${asked}`)
	for (const part of ['may ignore it', `0x${one}`, `0x${other}`, 'Fee']) expect(text).toContain(part)
})
