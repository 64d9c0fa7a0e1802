// A transaction that cannot be traced costs itself, not its block: whatever a node says of it, the payments beside it
// are sent at once, and what is left is a gap that names it.
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { typed } from '../support/commandLine.js'
import { type Dialect, Refused, startDialectGateway } from '../support/dialectGateway.js'
import { divided, testInFull } from '../support/longRun.js'
import {
	booksOpened,
	hookServer,
	inProcess,
	other,
	settings,
	siteOf,
	stranger,
	told,
	treasury,
	vault,
	watchlist,
} from './site.js'

const sources = ['debug', 'trace'] as const

interface Entry {
	readonly txHash?: string
	readonly transactionHash?: string
}

/** What is wrong, in one block or in all. */
interface Fault {
	/** Of the stranger's transaction. */
	hash: string
	/** The stranger's transaction is never given; otherwise it is, alone. */
	isLost: boolean
	isOn: boolean
	change: (entries: readonly Entry[], hash: string) => unknown
}

const error = { code: -32000, message: 'tracing failed: insufficient funds for gas * price + value' }
const foreign = `0x${'fe'.repeat(32)}`
const refuse = () => {
	throw new Refused({ error })
}
const isOf = (hash: string) => (entry: Entry) => (entry.txHash ?? entry.transactionHash) === hash
const without = (entries: readonly Entry[], hash: string) => entries.filter((entry) => !isOf(hash)(entry))
/** The same entry under a hash that no header names. */
const withForeign = (entries: readonly Entry[]) => [
	...entries,
	...entries.map((entry) => ({
		...entry,
		...('txHash' in entry ? { txHash: foreign } : { transactionHash: foreign }),
	})),
]

const faults: readonly [name: string, change: Fault['change']][] = [
	['the block is refused', refuse],
	['it is absent', without],
	['its entry is an error', (entries, hash) => [...without(entries, hash), { txHash: hash, error: 'unrecognized' }]],
	[
		'a row of it is malformed',
		(entries, hash) =>
			entries.map((entry) => (isOf(hash)(entry) ? { ...entry, result: 7, action: { from: 7 } } : entry)),
	],
	['foreign entries stand beside', withForeign],
]

async function start(source: 'debug' | 'trace') {
	const node = await startTestAnvil()
	const fault: Fault = { hash: '', isLost: false, isOn: false, change: refuse }
	const twist: Dialect['twist'] = (method, params, result) => {
		if (!fault.isOn) return undefined
		const isOne = method === 'debug_traceTransaction' || method === 'trace_transaction'
		if (isOne && fault.isLost && params[0] === fault.hash) return refuse()
		const isBlock = method === 'debug_traceBlockByNumber' || method === 'trace_block'
		if (!isBlock || (result as readonly Entry[]).length === 0) return undefined
		return fault.change(result as readonly Entry[], fault.hash)
	}
	const traces = ['trace_filter', 'trace_block', 'trace_transaction']
	const lacks = source === 'debug' ? traces : ['trace_filter', 'debug_traceBlockByNumber', 'debug_traceTransaction']
	const gateway = await startDialectGateway(node.url, { twist, lacks })
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }),
		'watchlists/a.yaml': watchlist([`{address: ${vault}, kinds: [transfer, unexplained]}`]),
	})
	await node.send({ from: treasury, to: other, valueWei: 1n })
	await node.mine(2)
	const running = here.start(['run'])
	await booksOpened(running)
	let paid = 100n
	/** A block with a payment to the vault, and one by the stranger, which is the faulty one. */
	const block = async (tx: { readonly to: typeof vault; readonly valueWei: bigint }) => {
		await node.automine(false)
		paid += 1n
		const good = await node.send({ from: treasury, to: vault, valueWei: paid })
		fault.hash = await node.send({ from: stranger, ...tx })
		await node.mine(1)
		await node.automine(true)
		return { good, paid: String(paid) }
	}
	const events = () =>
		told(hook.hits).map(({ type, data }) => `${type} ${data.valueWei ?? data.fromBlock ?? data.differenceWei}`)
	const until = (isDone: () => boolean) => hook.until(isDone)
	return { node, here, running, fault, block, events, until, hook }
}

test.each(divided<(typeof sources)[number]>(sources, (source) => source === 'debug'))(
	'default: a transaction that the answer about its block spoils is read alone, and no gap is made (%s)',
	async (source) => {
		const { fault, block, events, until, running, hook } = await start(source)
		fault.isOn = true
		const expected = []
		for (const [name, change] of faults) {
			fault.change = change
			const { paid } = await block({ to: vault, valueWei: 7n })
			expected.push(`alert.transfer ${paid}`, 'alert.transfer 7')
			await until(() => events().length >= expected.length)
			expect(events().toSorted(), name).toEqual(expected.toSorted())
		}
		const hashes = told(hook.hits).map(({ data }) => data.txHash)
		expect(hashes).not.toContain(foreign)
		expect((await running.stop()).code).toBe(0)
	},
	60_000,
)

testInFull.each(sources)(
	'default: a transaction that nothing gives becomes a gap that names it, and its alert comes late (%s)',
	async (source) => {
		const { here, fault, block, events, until, running, hook, node } = await start(source)
		Object.assign(fault, { isOn: true, isLost: true, change: without })
		const { paid } = await block({ to: vault, valueWei: 7n })
		await until(() => events().length >= 2)
		const { hash } = fault
		const gapAt = Number(await node.head())
		expect(new Set(events())).toEqual(new Set([`alert.transfer ${paid}`, `system.gap ${gapAt}`]))
		const listed = (await typed(['gaps', 'list', '--json'], { cwd: here.folder })).stdout
		expect(JSON.parse(listed)).toMatchObject({ block: gapAt, transactions: [hash] })
		const [line] = JSON.parse((await typed(['status', '--json'], { cwd: here.folder })).stdout).networks[0].gaps
		expect(line).toMatchObject({ fromBlock: gapAt, reason: expect.stringContaining(hash) })
		const [gap] = told(hook.hits).filter(({ type }) => type === 'system.gap')
		expect(JSON.stringify(gap)).toContain(hash)

		fault.isOn = false
		expect((await inProcess(here).run(['gaps', 'retry', String(gapAt)])).code).toBe(0)
		await until(() => events().includes('alert.transfer 7') && events().includes(`system.recovered ${gapAt}`))
		const late = told(hook.hits).find(({ type, data }) => type === 'alert.transfer' && data.valueWei === '7')
		expect(late.data).toMatchObject({ txHash: hash, late: true })
		expect(new Set(events())).toEqual(
			new Set([`alert.transfer ${paid}`, `system.gap ${gapAt}`, 'alert.transfer 7', `system.recovered ${gapAt}`]),
		)
		expect((await running.stop()).code).toBe(0)
	},
	60_000,
)

testInFull.each(['debug'] as const)(
	'behavior: a transaction that failed by its receipt needs no trace (%s)',
	async (source) => {
		const { here, fault, events, until, running, node } = await start(source)
		Object.assign(fault, { isOn: true, isLost: true, change: without })
		// Its first byte is no instruction.
		const broken = await node.receipt(await node.send({ from: treasury, data: '0x60fe60005360016000f3' }))
		await node.automine(false)
		await node.send({ from: treasury, to: vault, valueWei: 5n })
		fault.hash = await node.send({ from: stranger, to: broken.contractAddress ?? other, gas: 100_000n })
		await node.mine(1)
		await until(() => events().length >= 1)
		expect((await node.receipt(fault.hash as `0x${string}`)).status).toBe('0x0')
		await node.automine(true)
		await node.send({ from: treasury, to: vault, valueWei: 6n })
		await until(() => events().length >= 2)
		expect(events()).toEqual(['alert.transfer 5', 'alert.transfer 6'])
		expect((await typed(['gaps', 'list', '--json'], { cwd: here.folder })).stdout).toBe('')
		expect((await running.stop()).code).toBe(0)
	},
	60_000,
)

testInFull.each(['trace'] as const)(
	'behavior: a lost transaction in each of several blocks stops neither new blocks, a backfill, nor replay (%s)',
	async (source) => {
		const { here, fault, block, events, until, running, node } = await start(source)
		Object.assign(fault, { isOn: true, isLost: true, change: without })
		const paid: string[] = []
		for (let count = 0; count < 2; count++) {
			paid.push((await block({ to: other, valueWei: 1n })).paid)
			await until(() => paid.every((wei) => events().includes(`alert.transfer ${wei}`)))
		}
		expect((await running.stop()).code).toBe(0)
		const head = await node.head()
		const span = ['--from', String(head - 1n), '--to', String(head), '--format', 'json']
		const replayed = await typed(['replay', '--network', 'local', ...span], { cwd: here.folder })
		const values = replayed.stdout
			.trim()
			.split('\n')
			.map((line) => JSON.parse(line).data.valueWei)
		// The lost one is only the last, since of the others the node gives each transaction alone.
		expect({ values, code: replayed.code }).toEqual({ values: paid, code: 75 })
		expect(replayed.stderr).toContain(`was read but for transaction ${fault.hash}`)

		here.write('watchlists/b.yaml', watchlist([`{address: ${treasury}, kinds: [transfer], from_block: ${head - 1n}}`]))
		await inProcess(here).run(['once'])
		const outgoing = () => events().filter((each) => paid.some((wei) => each === `alert.transfer ${wei}`))
		await until(() => outgoing().length >= 4)
		expect(outgoing().toSorted()).toEqual([...paid, ...paid].map((wei) => `alert.transfer ${wei}`).toSorted())
	},
	60_000,
)

const unindexed: readonly (readonly [string, () => null])[] = [
	[
		'"transaction indexing is in progress"',
		() => {
			throw new Refused({ error: { code: -32000, message: 'transaction indexing is in progress' } })
		},
	],
	['null', () => null],
]

testInFull.each(unindexed)(
	'behavior: receipts that the index answers with %s are taken from the block',
	async (_name, receipt) => {
		const node = await startTestAnvil()
		const gateway = await startDialectGateway(node.url, {
			lacks: ['trace_filter', 'trace_block', 'trace_transaction'],
			twist: (method) => (method === 'eth_getTransactionReceipt' ? receipt() : undefined),
		})
		onTestFinished(async () => {
			await gateway.close()
			await node.stop()
		})
		const hook = await hookServer()
		for (const valueWei of [1n, 2n]) await node.send({ from: treasury, to: vault, valueWei })
		const here = siteOf({
			'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }),
			'watchlists/a.yaml': watchlist([`{address: ${vault}, kinds: [transfer], from_block: 1}`]),
		})
		expect((await inProcess(here).run(['once'])).code).toBe(0)
		expect(new Set(told(hook.hits).map(({ data }) => data.valueWei))).toEqual(new Set(['1', '2']))
		expect((await typed(['gaps', 'list', '--json'], { cwd: here.folder })).stdout).toBe('')
		const span = ['--from', '1', '--to', 'latest', '--format', 'json']
		const replayed = await typed(['replay', '--network', 'local', ...span], { cwd: here.folder })
		const values = replayed.stdout
			.trim()
			.split('\n')
			.map((line) => JSON.parse(line).data.valueWei)
		expect({ values, code: replayed.code }).toEqual({ values: ['1', '2'], code: 0 })
	},
	60_000,
)
