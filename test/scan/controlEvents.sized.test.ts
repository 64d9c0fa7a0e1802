// Changes of control that a watched contract logs: told in their block, by every source of frames, with and without
// books. The contract logs and stores what its calldata says.

import { keccak256 } from 'ox/Hash'
import { fromString } from 'ox/Hex'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Address, Hash, Hex } from '../../src/model/glossary.js'
import type { Watch } from '../../src/model/watch.js'
import { composeMessage } from '../../src/notify/text/message.js'
import { startTestAnvil } from '../support/anvil.js'
import { assemble } from '../support/assembler.js'
import { startEar } from '../support/ear.js'
import { divided, testInFull, testOnce } from '../support/longRun.js'
import { type Action, encodeActions, puppetCode } from '../support/puppet.js'
import { alertOf, type BenchOptions, openBench, watchOf } from './bench.js'

const at = (name: string): Address => `0x${name.padStart(40, '0')}`
const [vault, stranger, puppet] = [at('aa'), at('bb'), at('cc')]
const [alice, bob, carol] = [at('a11ce'), at('b0b'), at('ca401')]

/** Words: slot, value, number of topics, three topics, then the data. */
const scribe = assemble(`
	32 CALLDATALOAD 0 CALLDATALOAD SSTORE
	192 CALLDATASIZE SUB 192 0 CALLDATACOPY
	64 CALLDATALOAD 2 EQ @two JUMPI
	64 CALLDATALOAD 3 EQ @three JUMPI
	96 CALLDATALOAD 192 CALLDATASIZE SUB 0 LOG1 STOP
	two: 128 CALLDATALOAD 96 CALLDATALOAD 192 CALLDATASIZE SUB 0 LOG2 STOP
	three: 160 CALLDATALOAD 128 CALLDATALOAD 96 CALLDATALOAD 192 CALLDATASIZE SUB 0 LOG3 STOP`)

const word = (value: bigint | Address | Hash): string =>
	(typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
const topicOf = (event: string): Hash => keccak256(fromString(event))

/** Calldata that logs an event, and stores a value. */
function logs(
	event: string,
	topics: readonly Address[],
	data: readonly (bigint | Address)[] = [],
	slot = 99n,
	value = 1n,
): Hex {
	const [first = 0n, second = 0n] = topics
	const head = [slot, value, BigInt(topics.length + 1), topicOf(event), first, second]
	return `0x${[...head, ...data].map(word).join('')}`
}
const ownerIs = (before: Address, after: Address) => logs('OwnershipTransferred(address,address)', [before, after])

async function open(options: Partial<BenchOptions> = {}, part: Partial<Watch> = {}) {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const ear = await startEar(node.url)
	const [sender] = (await node.accounts()) as [Address]
	for (const one of [vault, stranger]) await node.rpc('anvil_setCode', [one, scribe])
	await node.rpc('anvil_setCode', [puppet, puppetCode])
	const watches = [vault, sender].map((address) => watchOf(address, { kinds: ['control'], label: 'Vault', ...part }))
	const bench = await openBench({ urls: [ear.url], watches, books: false, ...options })
	onTestFinished(() => bench.close())
	await node.mine(2)
	await bench.settle()
	const send = (to: Address, data: Hex) => node.send({ from: sender, to, data, gas: 25_000_000n })
	return {
		node,
		bench,
		ear,
		sender,
		send,
		act: (...actions: readonly Action[]) => send(puppet, encodeActions(actions)),
		async told(): Promise<readonly AlertData[]> {
			await node.mine()
			await bench.settle()
			return (await bench.posted()).map(alertOf)
		},
	}
}

const what = ({ change, action, previous, current }: AlertData) =>
	[change, action, previous, current].map((one) => String(one).toLowerCase())

const ways = [
	{ source: 'trace_filter' },
	{ source: 'trace_block' },
	{ source: 'debug_traceBlockByNumber' },
	{ source: 'trace_block', books: true },
	{ source: 'debug_traceBlockByNumber', streams: true, books: true },
] as const

describe.each(divided<(typeof ways)[number]>(ways, (_, at) => at > 2))(
	'default: by $source, books: $books, streams: $streams',
	(options) => {
		test('a new owner is reported once, in its block, at any call depth', async () => {
			const { node, act, send, told, sender } = await open(options)
			const txHash = await act(
				{ do: 'call', to: stranger, data: ownerIs(alice, bob) },
				{ do: 'call', to: vault, data: ownerIs(alice, bob) },
				// Undone frames leave no log.
				{ do: 'call', to: puppet, inner: [{ do: 'call', to: vault, data: ownerIs(bob, carol) }, { do: 'revert' }] },
			)
			await send(stranger, ownerIs(bob, carol))
			const block = await node.rpc('eth_getTransactionByHash', [txHash])
			const [alert, ...more] = await told()
			expect(more).toEqual([])
			expect(alert).toMatchObject({
				...{
					kind: 'control',
					frameType: 'log',
					txHash,
					contract: alert?.to,
					evidence: 'event',
					role: null,
					slot: null,
				},
				...{ event: 'OwnershipTransferred(address,address)', direction: 'self' },
				blockNumber: Number((block as { blockNumber: Hex }).blockNumber),
				id: `31337:${txHash}:log_1:control:${vault}`,
			})
			expect(alert && what(alert)).toEqual(['owner', 'set', alice, bob])
			expect(alert?.initiator?.toLowerCase()).toBe(sender.toLowerCase())
			// Second looks tell nothing again.
			await node.mine(20)
			expect(await told()).toHaveLength(1)
		})
	},
)

describe('behavior', () => {
	testOnce('two upgrades in one block are two alerts, and the second one names the first', async () => {
		const { node, send, told } = await open()
		await node.rpc('evm_setAutomine', [false])
		await send(vault, logs('Upgraded(address)', [bob]))
		await send(vault, logs('Upgraded(address)', [], [carol]))
		const alerts = await told()
		expect(alerts.map(what)).toEqual([
			['implementation', 'set', 'null', bob],
			['implementation', 'set', bob, carol],
		])
		expect(new Set(alerts.map(({ blockNumber }) => blockNumber)).size).toBe(1)
	})

	testInFull('a Safe before and after 1.4 says the same, indexed or not', async () => {
		const { send, told } = await open()
		await send(vault, logs('AddedOwner(address)', [alice]))
		await send(vault, logs('AddedOwner(address)', [], [bob]))
		await send(vault, logs('RemovedOwner(address)', [], [alice]))
		await send(vault, logs('ChangedThreshold(uint256)', [], [2n]))
		expect((await told()).map(what)).toEqual([
			['safe.owner', 'added', 'null', alice],
			['safe.owner', 'added', 'null', bob],
			['safe.owner', 'removed', alice, 'null'],
			['safe.threshold', 'set', 'null', '2'],
		])
	})

	testOnce('an event that any account can cause, that has no row or another form is not reported', async () => {
		const { act, send, told } = await open()
		const asks = logs('OwnershipHandoverRequested(address)', [alice])
		const many: readonly Action[] = Array.from({ length: 100 }, () => ({ do: 'call', to: vault, data: asks }))
		for (let turn = 0; turn < 10; turn++) await act(...many)
		await send(vault, logs('Hello(address)', [alice]))
		await send(
			vault,
			logs('OwnershipTransferred(address,address)', [alice, bob], []).replace(word(bob), 'f'.repeat(64)) as Hex,
		)
		expect(await told()).toEqual([])
	})

	testInFull('20 alerts of one event and block, then one with the count; each event has its own limit', async () => {
		const { act, told } = await open()
		const grants = logs('OwnerAddition(address)', [alice])
		const many: readonly Action[] = Array.from({ length: 50 }, () => ({ do: 'call', to: vault, data: grants }))
		await act(...many, { do: 'call', to: vault, data: ownerIs(alice, bob) })
		const alerts = await told()
		expect(alerts).toHaveLength(22)
		expect(alerts.flatMap(({ count }) => count ?? [])).toEqual([30])
		expect(alerts.filter(({ change, action }) => change === 'owner' && action === 'set')).toHaveLength(1)
	})

	testOnce('an event whose block leaves the chain is retracted', async () => {
		const { node, send, bench } = await open()
		const before = await node.rpc('evm_snapshot', [])
		await send(vault, ownerIs(alice, bob))
		await bench.settle()
		await node.rpc('evm_revert', [before])
		await node.mine(3)
		await bench.settle()
		await bench.settle()
		expect((await bench.posted()).map(({ message }) => message.type)).toEqual(['alert.control', 'alert.removed'])
	})

	testOnce(
		'a setting in force at the first look, such as the owner set by the constructor, is not reported',
		async () => {
			const { node, bench, told } = await open({}, {})
			const fresh = at('ff')
			bench.setWatches([watchOf(fresh, { kinds: ['control'] })])
			await node.mine()
			await bench.settle()
			await node.rpc('anvil_setCode', [fresh, scribe])
			expect(await told()).toEqual([])
		},
	)

	testOnce('the message says who rules it now', async () => {
		const { send, told, bench } = await open()
		await send(vault, ownerIs(alice, bob))
		await told()
		const [sent] = await bench.posted()
		const { subject, text } = composeMessage(sent?.message as Parameters<typeof composeMessage>[0])
		expect(subject).toBe('[local] CONTROL: Vault has a new owner: 0x0000…0B0b; before: 0x0000…11cE')
		for (const part of ['OwnershipTransferred(address,address)', 'an event of the contract'])
			expect(text).toContain(part)
	})
})

describe('cost', () => {
	const asked = (heard: readonly string[]) => heard.filter((body) => /getLogs|Receipts/.test(body))

	testOnce('a watch without code costs no call, nor does a block whose header rules a log out', async () => {
		const { node, sender, send, bench, ear } = await open()
		const from = ear.heard.length
		await node.send({ from: sender, to: bob, valueWei: 1n })
		await send(stranger, ownerIs(alice, bob))
		await bench.settle()
		expect(asked(ear.heard.slice(from))).toEqual([])
		bench.setWatches([watchOf(sender, { kinds: ['control'] })])
		await send(vault, ownerIs(alice, bob))
		await bench.settle()
		expect(asked(ear.heard.slice(from))).toEqual([])
	})

	testInFull('a long span is asked for by contract, and what it hides is found by the headers', async () => {
		const { node, send, ear, told } = await open({ logs: { mostProved: 1000 } })
		await send(vault, ownerIs(alice, bob))
		await node.mine(30)
		await send(vault, ownerIs(bob, carol))
		const from = ear.heard.length
		expect((await told()).map(what)).toEqual([
			['owner', 'set', alice, bob],
			['owner', 'set', bob, carol],
		])
		expect(asked(ear.heard.slice(from)).length).toBeGreaterThan(0)
	})
})
