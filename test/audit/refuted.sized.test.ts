// What the balances prove of a block and differs from what was announced of it takes that back, and is announced anew.

import { expect, onTestFinished, test } from 'vitest'
import type { Address, Hash } from '../../src/model/glossary.js'
import { alertOf, type BenchOptions, openBench, watchOf } from '../scan/bench.js'
import { ether, hex, startTestAnvil } from '../support/anvil.js'
import { type Dialect, startDialectGateway } from '../support/dialectGateway.js'
import { listening } from '../support/listening.js'
import { inFull, testInFull, testOnce } from '../support/longRun.js'
import { type Action, createAddress, encodeActions, puppetInit } from '../support/puppet.js'
import { createStateGate } from '../support/stateGate.js'

const ETH = `${ether}`

interface Row {
	readonly type: string
	readonly action: Readonly<Record<string, string>>
	readonly transactionHash: Hash
	readonly traceAddress: readonly number[]
}

/** Rows of `trace_*` are sent otherwise than they are; every other method is honest. */
function liar(lacks: readonly string[] = []) {
	let bend: (row: Row) => Row | null = (row) => row
	const dialect: Dialect = {
		lacks,
		twist: (method, _params, result) =>
			method.startsWith('trace_') && Array.isArray(result)
				? (result as Row[]).map(bend).filter((row) => row !== null)
				: undefined,
	}
	return {
		dialect,
		/** Of the frame of a transaction at this place. */
		lie: (txHash: Hash, action: Readonly<Record<string, string>> | null, place: readonly number[] = []) => {
			const before = bend
			bend = (row) => {
				const isIt = row.transactionHash === txHash && row.traceAddress.join() === place.join()
				if (!isIt) return before(row)
				return action === null ? null : { ...row, action: { ...row.action, ...action } }
			}
		},
	}
}

/** Watched: names of accounts; alice alone by default. */
async function open(
	dialects: readonly Dialect[],
	{ watched = ['alice'], ...options }: { watched?: readonly string[] } & Partial<BenchOptions> = {},
) {
	const node = await startTestAnvil(['--order', 'fifo'])
	await node.automine(false)
	const [alice, bob, carol] = (await node.accounts()) as [Address, Address, Address]
	const puppet = createAddress(carol, 0n)
	await node.send({ from: carol, data: puppetInit, valueWei: 10n * ether, gas: 1_000_000n })
	await node.mine(2)
	const gateways = await Promise.all(dialects.map((one) => startDialectGateway(node.url, one)))
	const names: Readonly<Record<string, Address>> = { alice, bob, carol, puppet }
	const { log, said } = listening()
	const bench = await openBench({
		urls: gateways.map(({ url }) => url),
		watches: watched.map((name) => watchOf(names[name] as Address)),
		log,
		...options,
	})
	onTestFinished(async () => {
		await bench.close()
		for (const gateway of gateways) await gateway.close()
		await node.stop()
	})
	const block = async () => {
		const number = await node.mine(1)
		await bench.settle()
		return number
	}
	await bench.settle()
	await block()
	const nameOf = (address: string | null) =>
		Object.entries(names).find(([, one]) => one === address?.toLowerCase())?.[0] ?? address
	/** In the order of posting: `transfer: alice in 5 from bob to alice`. */
	const told = async () =>
		(await bench.posted()).map((delivery) => {
			const { watch, direction, valueWei, from, to } = alertOf(delivery)
			const what = `${nameOf(watch.address)} ${direction} ${valueWei} from ${nameOf(from)} to ${nameOf(to)}`
			return `${delivery.message.type.slice('alert.'.length)}: ${what}`
		})
	/** The second look, by whatever tells it. */
	const settleAll = async () => {
		await node.mine(30)
		await bench.settle()
	}
	const pay = (from: Address, to: Address, valueWei: bigint) => node.send({ from, to, valueWei, gas: 21_000n })
	const act = (to: Address, valueWei: bigint) =>
		node.send({ from: carol, to: puppet, data: encodeActions([{ do: 'call', to, valueWei }]), gas: 200_000n })
	return { node, bench, said, alice, bob, carol, puppet, gateways, block, told, settleAll, pay, act }
}

testOnce('default: a false amount, 1 ETH for 5 wei, is retracted, and the 5 wei are announced', async () => {
	const { dialect, lie } = liar()
	const { bench, alice, bob, block, told, settleAll, pay } = await open([dialect])
	const txHash = await pay(bob, alice, 5n)
	lie(txHash, { value: hex(ether) })
	await block()
	const due = [
		`transfer: alice in ${ETH} from bob to alice`,
		`removed: alice in ${ETH} from bob to alice`,
		'transfer: alice in 5 from bob to alice',
	]
	expect(await told()).toEqual(due)
	const ids = (await bench.posted()).map((delivery) => alertOf(delivery).id)
	expect(new Set(ids)).toEqual(new Set([`31337:${txHash}:root:transfer:${alice}`]))
	// The second look meets the same lie, and changes nothing.
	await settleAll()
	expect(await told()).toEqual(due)
})

// Anvil shows the self-destruct to itself, which does nothing, as one that pays alice once more.
testOnce(
	'behavior: a self-destruct that only repeats a payment is retracted, and one that pays as much stands',
	async () => {
		const { node, bench, alice, carol, puppet, block, told, settleAll } = await open([{}])
		const run = (...actions: readonly Action[]) =>
			node.send({ from: carol, to: puppet, data: encodeActions(actions), gas: 300_000n })
		const transfer = `alice in ${ETH} from puppet to alice`
		const pay = { do: 'call', to: alice, valueWei: ether } as const
		const balance = async () => await node.balanceWei(alice, await node.head())
		const before = await balance()
		await run(pay, { do: 'selfdestruct', heir: puppet })
		await block()
		expect((await balance()) - before).toBe(ether)
		const due = [`transfer: ${transfer}`, `transfer: ${transfer}`, `removed: ${transfer}`]
		expect(await told()).toEqual(due)
		expect((await bench.posted()).map((delivery) => alertOf(delivery).traceAddress.join())).toEqual(['0', '1', '1'])
		await run({ do: 'call', to: carol, valueWei: 7n * ether }, pay, { do: 'selfdestruct', heir: alice })
		await block()
		expect((await balance()) - before).toBe(3n * ether)
		const all = [...due, `transfer: ${transfer}`, `transfer: ${transfer}`]
		expect(await told()).toEqual(all)
		await settleAll()
		expect(await told()).toEqual(all)
	},
)

testInFull(
	'behavior: an event that the proved reading lacks is retracted, and no later look announces it',
	async () => {
		const { dialect, lie } = liar()
		const { alice, bob, block, told, settleAll, pay } = await open([dialect])
		lie(await pay(bob, alice, 0n), { value: hex(ether) })
		await block()
		const due = [`transfer: alice in ${ETH} from bob to alice`, `removed: alice in ${ETH} from bob to alice`]
		expect(await told()).toEqual(due)
		await settleAll()
		expect(await told()).toEqual(due)
	},
)

testInFull('behavior: both watches of one frame get an alert of what it moved', async () => {
	const { dialect, lie } = liar()
	const { alice, block, told, settleAll, act } = await open([dialect], { watched: ['alice', 'puppet'] })
	lie(await act(alice, 5n), { value: hex(ether) }, [0])
	await block()
	await settleAll()
	const all = await told()
	expect([...all].sort()).toEqual(
		[
			`transfer: alice in ${ETH} from puppet to alice`,
			`transfer: puppet out ${ETH} from puppet to alice`,
			`removed: alice in ${ETH} from puppet to alice`,
			`removed: puppet out ${ETH} from puppet to alice`,
			'transfer: alice in 5 from puppet to alice',
			'transfer: puppet out 5 from puppet to alice',
		].sort(),
	)
})

testInFull('behavior: a payment to another watch than was announced is retracted for both of its parties', async () => {
	const { dialect, lie } = liar()
	const { alice, bob, block, told, settleAll, act } = await open([dialect], { watched: ['bob', 'puppet'] })
	lie(await act(alice, 5n), { to: bob }, [0])
	await block()
	await settleAll()
	expect([...(await told())].sort()).toEqual(
		[
			'transfer: bob in 5 from puppet to bob',
			'transfer: puppet out 5 from puppet to bob',
			'removed: bob in 5 from puppet to bob',
			'removed: puppet out 5 from puppet to bob',
			'transfer: puppet out 5 from puppet to alice',
		].sort(),
	)
})

testInFull(
	'behavior: two endpoints, the first lies: what the second reports and balances prove is announced',
	async () => {
		const { dialect, lie } = liar(['debug_traceBlockByNumber'])
		const { alice, bob, block, told, settleAll, pay } = await open([dialect, {}])
		lie(await pay(bob, alice, 5n), { value: hex(ether) })
		await block()
		const due = [
			`transfer: alice in ${ETH} from bob to alice`,
			`removed: alice in ${ETH} from bob to alice`,
			'transfer: alice in 5 from bob to alice',
		]
		expect(await told()).toEqual(due)
		await settleAll()
		expect(await told()).toEqual(due)
	},
)

testInFull(
	'behavior: an endpoint that lies in traces and balances, and alone has state, retracts nothing',
	async () => {
		const { dialect, lie } = liar(['debug_traceBlockByNumber'])
		const lies = { of: '', from: 1n << 60n }
		const second: Dialect = {
			...dialect,
			lacks: ['eth_call', 'debug_traceBlockByNumber'],
			twist: (method, params, result) => {
				if (method !== 'eth_getBalance') return dialect.twist?.(method, params, result)
				// By number only, so that the lie knows its block.
				if (typeof params[1] !== 'string') return 'no'
				const isLie = params[0] === lies.of && BigInt(params[1]) >= lies.from
				return isLie ? hex(BigInt(result as string) + ether - 5n) : undefined
			},
		}
		const first: Dialect = { lacks: ['debug_traceBlockByNumber', 'eth_call', 'eth_getBalance'] }
		const { node, bench, alice, bob, block, told, pay } = await open([first, second])
		const txHash = await pay(bob, alice, 5n)
		Object.assign(lies, { of: alice, from: (await node.head()) + 1n })
		lie(txHash, { value: hex(ether) })
		await block()
		expect(await told()).toEqual(['transfer: alice in 5 from bob to alice'])
		const { books } = (await bench.store.summary()).networks.get('local')?.seen ?? {}
		expect(books?.unproved?.map(({ why }) => why).join()).toMatch(
			/different transactions, and only .* returns balances/,
		)
	},
)

testOnce('behavior: a private network proves it by the access list of the block', async () => {
	const { dialect, lie } = liar()
	const { alice, bob, block, told, settleAll, pay } = await open([{ ...dialect, accessLists: true }], {
		isPrivate: true,
	})
	await pay(bob, alice, 1n)
	await block()
	lie(await pay(bob, alice, 5n), { value: hex(ether) })
	await block()
	await settleAll()
	expect(await told()).toEqual([
		'transfer: alice in 1 from bob to alice',
		`transfer: alice in ${ETH} from bob to alice`,
		`removed: alice in ${ETH} from bob to alice`,
		'transfer: alice in 5 from bob to alice',
	])
})

testInFull('behavior: a kill between the alert and the books loses no retraction and makes no second one', async () => {
	const { dialect, lie } = liar()
	const kill = new AbortController()
	let isArmed = false
	const { bench, alice, bob, block, told, settleAll, pay } = await open([dialect], {
		around: (store) => ({
			...store,
			async commit(change) {
				if (isArmed && kill.signal.aborted) throw new Error('killed')
				const state = await store.commit(change)
				if (isArmed && change.deliveries?.length) kill.abort()
				return state
			},
		}),
	})
	lie(await pay(bob, alice, 5n), { value: hex(ether) })
	isArmed = true
	await expect(block()).rejects.toThrow()
	expect(await told()).toEqual([`transfer: alice in ${ETH} from bob to alice`])
	isArmed = false
	await block()
	await bench.settle()
	await settleAll()
	expect(await told()).toEqual([
		`transfer: alice in ${ETH} from bob to alice`,
		`removed: alice in ${ETH} from bob to alice`,
		'transfer: alice in 5 from bob to alice',
	])
})

testInFull.each([
	['another amount', { value: hex(ether) }],
	['nothing', { value: '0x0' }],
])('behavior: a second look that reports %s, and that balances contradict, retracts nothing', async (_, action) => {
	const { dialect, lie } = liar(['debug_traceBlockByNumber'])
	const { node, bench, said, alice, bob, block, told, pay } = await open([{}, dialect])
	const txHash = await pay(bob, alice, 5n)
	await block()
	lie(txHash, action)
	await node.mine(30)
	await bench.settle()
	expect(await told()).toEqual(['transfer: alice in 5 from bob to alice'])
	expect(said.join()).toContain('a second reading of settled blocks does not account for the balances')
})

testInFull('behavior: the second look waits for no balance, and what balances contradict stands', async () => {
	const { dialect, lie } = liar(['debug_traceBlockByNumber'])
	const gate = createStateGate()
	const held = (own: Dialect): Dialect => ({
		...own,
		twist: (method, params, result) => gate.twist(method, params, result) ?? own.twist?.(method, params, result),
	})
	const { node, bench, alice, bob, block, told, pay } = await open([held({}), held(dialect)])
	onTestFinished(() => gate.release())
	const settled = async () => (await bench.store.network('local'))?.settled.number
	const txHash = await pay(bob, alice, 5n)
	const number = await block()
	const first = 'transfer: alice in 5 from bob to alice'
	lie(txHash, { value: hex(ether) })
	gate.hold()
	await pay(bob, alice, 7n)
	await node.mine(30)
	await bench.scan()
	// The scanner is done: the new payment is announced, and nothing is retracted without a balance.
	const both = [first, 'transfer: alice in 7 from bob to alice']
	expect(await told()).toEqual(both)
	expect(await settled()).toBeLessThan(number)
	gate.release()
	await bench.follower.idle()
	await node.mine(1)
	await bench.settle()
	await node.mine(1)
	await bench.settle()
	expect(await told()).toEqual(both)
	expect(await settled()).toBeGreaterThan(number)
})

inFull(() => {
	test('behavior: an outgoing amount', async () => {
		const { dialect, lie } = liar()
		const { alice, bob, block, told, pay } = await open([dialect])
		lie(await pay(alice, bob, 5n), { value: hex(ether) })
		await block()
		expect(await told()).toEqual([
			`transfer: alice out ${ETH} from alice to bob`,
			`removed: alice out ${ETH} from alice to bob`,
			'transfer: alice out 5 from alice to bob',
		])
	})

	test('behavior: an outgoing payment that was reported as incoming is corrected', async () => {
		const { dialect, lie } = liar()
		const { alice, puppet, block, told, act } = await open([dialect], { watched: ['puppet'] })
		lie(await act(alice, 5n), { from: alice, to: puppet }, [0])
		await block()
		expect(await told()).toEqual([
			'transfer: puppet in 5 from alice to puppet',
			'removed: puppet in 5 from alice to puppet',
			'transfer: puppet out 5 from puppet to alice',
		])
	})

	test('behavior: the endowment of a deployment', async () => {
		const { dialect, lie } = liar()
		const { node, alice, block, told } = await open([dialect])
		lie(await node.send({ from: alice, data: puppetInit, valueWei: 5n, gas: 1_000_000n }), { value: hex(ether) })
		await block()
		const made = createAddress(alice, 0n)
		expect((await told()).map((line) => line.toLowerCase())).toEqual([
			`deployment: alice out ${ETH} from alice to ${made}`,
			`removed: alice out ${ETH} from alice to ${made}`,
			`deployment: alice out 5 from alice to ${made}`,
		])
	})

	test('behavior: of two sets of postings that close the book, the one that keeps announcements counts', async () => {
		const first = liar(['debug_traceBlockByNumber'])
		const second = liar(['debug_traceBlockByNumber'])
		const { alice, bob, carol, block, told, pay } = await open([first.dialect, second.dialect, {}])
		const [one, other] = [await pay(bob, alice, 5n), await pay(carol, alice, 7n)]
		// The first leaves one of two payments out, the second tells one of both: only the third is honest.
		first.lie(other, { value: '0x0' })
		second.lie(one, { value: '0xc' })
		second.lie(other, { value: '0x0' })
		await block()
		expect(await told()).toEqual(['transfer: alice in 5 from bob to alice', 'transfer: alice in 7 from carol to alice'])
	})
})

testInFull(
	'behavior: below the remembered blocks, a witness reports only what the first reading left out',
	async () => {
		const { dialect, lie } = liar()
		const { node, bench, gateways, alice, bob, block, told, pay } = await open([dialect])
		const [gateway] = gateways
		if (gateway !== undefined) gateway.dialect = { ...dialect, lacks: ['eth_call', 'eth_getBalance'] }
		await pay(bob, alice, 5n)
		lie(await pay(bob, alice, 7n), { value: '0x0' })
		await block()
		const first = 'transfer: alice in 5 from bob to alice'
		expect(await told()).toEqual([first])
		// More than are remembered below the settled block.
		await node.mine(300)
		await bench.settle()
		await block()
		expect((await bench.store.network('local'))?.announcements.size).toBe(0)
		if (gateway !== undefined) gateway.dialect = dialect
		bench.pass(60_000)
		await node.mine(1)
		// One that waits for its receiver would not be posted twice; the report counts what was announced.
		expect((await bench.settle()).alerts).toMatchObject({ transfer: 1 })
		expect(await told()).toEqual([first, 'transfer: alice in 7 from bob to alice'])
	},
)
