import { describe, expect, onTestFinished, test } from 'vitest'
import type { Delivery } from '../../src/model/delivery.js'
import type { Address } from '../../src/model/glossary.js'
import { type Hand, hex, startTestAnvil } from '../support/anvil.js'
import { Refused, startDialectGateway } from '../support/dialectGateway.js'
import { sized, testOnce } from '../support/longRun.js'
import { randomOf } from '../support/random.js'
import { soaked } from '../support/soak.js'
import { alertOf, type BenchOptions, openBench, watchOf } from './bench.js'

const gasPrice = hex(20_000_000_000n)

interface Payment {
	readonly from: Address
	readonly to: Address
	readonly valueWei: bigint
	readonly nonce: number
}

/** With every field fixed, the same payment is the same transaction in whatever block it is mined. */
function pay(node: Hand, { from, to, valueWei, nonce }: Payment): Promise<string> {
	const tx = { from, to, value: hex(valueWei), nonce: hex(BigInt(nonce)), gas: hex(21_000n), gasPrice }
	return node.rpc('eth_sendTransaction', [tx])
}

async function setUp(
	watched: number,
	{ settle = 12, around }: { settle?: number; around?: BenchOptions['around'] } = {},
) {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	await node.automine(false)
	const accounts = await node.accounts()
	const bench = await openBench({
		urls: [node.url],
		watches: accounts.slice(0, watched).map((address) => watchOf(address)),
		network: { settle },
		...(around && { around }),
	})
	onTestFinished(() => bench.close())
	await node.mine()
	await bench.settle()
	return { node, accounts, bench }
}

const typeOf = ({ message }: Delivery) => message.type
const [first, second] = [0, 1]

describe('reorganisations', () => {
	testOnce('an event that left the chain is retracted under the same id, and answers its alert', async () => {
		const { node, accounts, bench } = await setUp(1)
		const [from, to] = [accounts[first], accounts[second]] as [Address, Address]
		const before = await node.rpc('evm_snapshot')
		await pay(node, { from, to, valueWei: 5n, nonce: 0 })
		await node.mine()
		await bench.settle()
		await node.rpc('evm_revert', [before])
		await node.mine(2)
		await bench.settle()
		const [alert, removal, ...more] = await bench.posted()
		if (alert === undefined || removal === undefined) throw new Error('two deliveries were expected')
		expect(more).toEqual([])
		expect([typeOf(alert), typeOf(removal)]).toEqual(['alert.transfer', 'alert.removed'])
		expect(alertOf(removal).id).toBe(alertOf(alert).id)
		expect(removal.answers).toBe(alert.id)
		expect(removal.id).not.toBe(alert.id)
	})

	testOnce('behavior: a kill after each write of the poll that finds it: the retraction is sent, once', async () => {
		let writesLeft = Number.POSITIVE_INFINITY
		const { node, accounts, bench } = await setUp(1, {
			around: (store) => ({
				...store,
				async commit(change) {
					if (writesLeft-- === 0) throw new Error('killed')
					return await store.commit(change)
				},
			}),
		})
		const [from, to] = [accounts[first], accounts[second]] as [Address, Address]
		const due: string[] = []
		let isKilled = true
		for (let writes = 0; isKilled; writes++) {
			const before = await node.rpc('evm_snapshot')
			await pay(node, { from, to, valueWei: BigInt(1 + writes), nonce: 0 })
			await node.mine()
			await bench.settle()
			await node.rpc('evm_revert', [before])
			await node.mine(2)
			writesLeft = writes
			isKilled = await bench.settle().then(
				() => false,
				(error) => String(error).includes('killed'),
			)
			writesLeft = Number.POSITIVE_INFINITY
			await bench.settle()
			due.push('alert.transfer', 'alert.removed')
			expect((await bench.posted()).map(typeOf), `after ${writes} writes`).toEqual(due)
		}
		expect(due.length).toBeGreaterThan(4)
	})

	testOnce('behavior: a transaction mined again in another block is no new alert and no withdrawal', async () => {
		const { node, accounts, bench } = await setUp(1)
		const [from, to] = [accounts[first], accounts[second]] as [Address, Address]
		const before = await node.rpc('evm_snapshot')
		const payment = { from, to, valueWei: 5n, nonce: 0 }
		const hash = await pay(node, payment)
		await node.mine()
		await bench.settle()
		await node.rpc('evm_revert', [before])
		await node.mine(2)
		expect(await pay(node, payment)).toBe(hash)
		await node.mine(1)
		await bench.settle()
		expect((await bench.posted()).map(typeOf)).toEqual(['alert.transfer'])
		await node.mine(20)
		await bench.settle()
		expect((await bench.posted()).map(typeOf)).toEqual(['alert.transfer'])
	})

	testOnce(
		'behavior: a transaction that moves another amount when mined again is retracted and sent anew',
		async () => {
			const { node, accounts, bench } = await setUp(1)
			const [to, from] = [accounts[first], accounts[second]] as [Address, Address]
			// Whoever calls it, it pays all that it has to the watch.
			const payer = '0x00000000000000000000000000000000000fa7e5'
			await node.rpc('anvil_setCode', [payer, `0x60006000600060004773${to.slice(2)}5af100`])
			await node.rpc('anvil_setBalance', [payer, hex(7n)])
			const fields = { from, to: payer, value: '0x0', nonce: '0x0', gas: hex(100_000n), gasPrice }
			const before = await node.rpc('evm_snapshot')
			const hash = await node.rpc('eth_sendTransaction', [fields])
			await node.mine()
			await bench.settle()
			await node.rpc('evm_revert', [before])
			await node.rpc('anvil_setBalance', [payer, hex(12n)])
			expect(await node.rpc('eth_sendTransaction', [fields])).toBe(hash)
			await node.mine(2)
			await bench.settle()
			await node.mine(20)
			await bench.settle()
			const told = await bench.posted()
			const said = told.map((one) => [typeOf(one), alertOf(one).valueWei])
			expect(said).toEqual([
				['alert.transfer', '7'],
				['alert.removed', '7'],
				['alert.transfer', '12'],
			])
			expect(new Set(told.map((one) => alertOf(one).id)).size).toBe(1)
			expect(new Set(told.map(({ id }) => id)).size).toBe(3)
			expect(told[1]?.answers).toBe(told[0]?.id)
		},
	)

	testOnce(
		'behavior: an event that a reorganisation puts behind the checkpoint is late, one mined later is not',
		async () => {
			const { node, accounts, bench } = await setUp(1)
			const [from, to] = [accounts[first], accounts[second]] as [Address, Address]
			const before = await node.rpc('evm_snapshot')
			await node.mine(3)
			await bench.settle()
			await node.rpc('evm_revert', [before])
			await pay(node, { from, to, valueWei: 5n, nonce: 0 })
			await node.mine(4)
			await bench.settle()
			await pay(node, { from, to, valueWei: 6n, nonce: 1 })
			await node.mine()
			await bench.settle()
			expect((await bench.posted()).map(alertOf)).toMatchObject([
				{ valueWei: '5', late: true, lateReason: 'entered the chain in a reorganisation' },
				{ valueWei: '6', late: false },
			])
		},
	)

	testOnce(
		'behavior: such an event is late also in the poll after one that found the reorganisation and failed',
		async () => {
			const node = await startTestAnvil(['--no-mining'])
			let fails = false
			const gateway = await startDialectGateway(node.url, {
				twist(method) {
					if (fails && method.startsWith('trace_'))
						throw new Refused({ error: { code: -32000, message: 'header not found' } })
				},
			})
			const [from, to] = (await node.accounts()) as [Address, Address]
			const bench = await openBench({ urls: [gateway.url], watches: [watchOf(to)], gaps: false })
			onTestFinished(async () => {
				await bench.close()
				await gateway.close()
				await node.stop()
			})
			await node.mine(2)
			await bench.settle()
			const before = await node.rpc('evm_snapshot')
			await node.mine(3)
			await bench.settle()
			await node.rpc('evm_revert', [before])
			await node.send({ from, to, valueWei: 5n, gas: 21_000n })
			await node.mine(4)
			fails = true
			await expect(bench.poll()).rejects.toThrow('header not found')
			fails = false
			bench.pass(12_000)
			await bench.settle()
			expect((await bench.posted()).map(alertOf)).toMatchObject([
				{ late: true, lateReason: 'entered the chain in a reorganisation' },
			])
		},
	)

	testOnce(
		'behavior: blocks read ahead of a reorganisation are not taken for the chain after the next one',
		async () => {
			const { node, accounts, bench } = await setUp(1, { settle: 3 })
			const [from, to] = [accounts[first], accounts[second]] as [Address, Address]
			const sent: string[] = []
			const genesis = await node.rpc('evm_snapshot')
			await node.mine()
			await bench.settle()
			const checkpoint = await node.head()
			// The checkpoint is replaced, while the blocks after it are asked for already: they are read anew from before it.
			await node.rpc('evm_revert', [genesis])
			await node.rpc('anvil_setNextBlockBaseFeePerGas', [hex(1_100_000_000n)])
			await node.mine()
			const replaced = await node.rpc('evm_snapshot')
			sent.push(await pay(node, { from, to, valueWei: 5n, nonce: 0 }))
			await node.mine(2)
			await bench.settle()
			await node.mine()
			await bench.settle()
			expect((await bench.store.network('local'))?.settled.number).toBe(checkpoint)
			// Those are replaced too, and the poll goes back to where what was read ahead began.
			await node.rpc('evm_revert', [replaced])
			sent.push(await pay(node, { from, to, valueWei: 6n, nonce: 0 }))
			await node.mine(3)
			await bench.settle()
			const said = (await bench.posted()).map((one) => `${typeOf(one)} ${sent.indexOf(alertOf(one).txHash)}`)
			expect(said.toSorted()).toEqual(['alert.removed 0', 'alert.transfer 0', 'alert.transfer 1'])
		},
	)

	testOnce(
		'behavior: a reorganisation replaces blocks of a watch that has left: they are read when it comes back',
		async () => {
			const { node, accounts, bench } = await setUp(2)
			const [from, to] = [accounts[first], accounts[second]] as [Address, Address]
			const before = await node.rpc('evm_snapshot')
			await node.mine(3)
			await bench.settle()
			bench.setWatches([watchOf(from)])
			await bench.settle()
			await node.rpc('evm_revert', [before])
			await pay(node, { from, to, valueWei: 5n, nonce: 0 })
			await node.mine(4)
			await bench.settle()
			bench.setWatches([watchOf(from), watchOf(to)])
			await node.mine()
			await bench.settle()
			const told = (await bench.posted()).map((one) => [typeOf(one), alertOf(one).direction])
			expect(told).toEqual([
				['alert.transfer', 'out'],
				['alert.transfer', 'in'],
			])
		},
	)

	test.each(soaked(sized([1], [2]), [1, 2, 3, 4, 5, 6, 7, 8]))(
		'property: seed %i: what was reported, less what was retracted, is the chain',
		async (seed) => {
			const { node, accounts, bench } = await setUp(3)
			const random = randomOf(seed)
			const pick = (n: number) => Math.floor(random() * n)
			const snapshots: { readonly id: unknown; readonly head: bigint; readonly nonces: readonly number[] }[] = []
			let nonces = accounts.map(() => 0)
			const lost: Payment[] = []
			let sent: { readonly payment: Payment; readonly depth: number }[] = []

			const send = async (payment: Payment) => {
				await pay(node, payment)
				nonces = nonces.with(accounts.indexOf(payment.from), payment.nonce + 1)
				sent.push({ payment, depth: snapshots.length })
			}
			for (let round = 0; round < sized(32, 90); round++) {
				snapshots.push({ id: await node.rpc('evm_snapshot'), head: await node.head(), nonces })
				for (let n = pick(3); n > 0; n--) {
					// Now and then exactly what a reorganisation threw out, if its turn is still to come.
					const again = lost.find(({ from, nonce }) => nonces[accounts.indexOf(from)] === nonce)
					const at = pick(5)
					const from = accounts[at] as Address
					const payment = {
						from,
						to: accounts[pick(5)] as Address,
						valueWei: BigInt(1 + pick(1000)),
						nonce: nonces[at] ?? 0,
					}
					await send(again !== undefined && random() < 0.6 ? again : payment)
				}
				await node.mine()
				// Up to ten blocks deep, counted in blocks: less than what it takes to settle.
				const head = await node.head()
				const reachable = snapshots.filter((snapshot) => head - snapshot.head <= 10n).length
				if (random() < 0.12 && reachable > 1) {
					const back = snapshots.length - 1 - pick(reachable)
					const place = snapshots[back]
					if (place === undefined) throw new Error('no such snapshot')
					await node.rpc('evm_revert', [place.id])
					snapshots.length = back
					nonces = [...place.nonces]
					lost.push(...sent.filter((one) => one.depth > back).map(({ payment }) => payment))
					sent = sent.filter((one) => one.depth <= back)
					await node.mine(1 + pick(2))
				}
				if (random() < 0.6) await bench.settle()
			}
			await node.mine(30)
			await bench.settle()

			const onChain = await paymentsOf(node, new Set(accounts.slice(0, 3)))
			const balance = new Map<string, number>()
			for (const delivery of await bench.posted()) {
				const { id } = alertOf(delivery)
				const count = (balance.get(id) ?? 0) + (typeOf(delivery) === 'alert.removed' ? -1 : 1)
				// Never sent twice without a withdrawal in between, never withdrawn untold.
				expect(count === 0 || count === 1).toBe(true)
				balance.set(id, count)
			}
			const standing = [...balance].filter(([, count]) => count === 1).map(([id]) => id)
			expect(standing.toSorted()).toEqual(onChain.toSorted())
			expect(onChain.length).toBeGreaterThan(10)
			expect((await bench.posted()).filter((one) => typeOf(one) === 'alert.removed').length).toBeGreaterThan(0)
			expect(new Set((await bench.posted()).map(({ id }) => id)).size).toBe((await bench.posted()).length)
		},
	)
})

/** Alert ids of the payments in all blocks, read from the blocks themselves. */
async function paymentsOf(node: Hand, watched: ReadonlySet<Address>): Promise<string[]> {
	const ids: string[] = []
	for (let number = 2n; number <= (await node.head()); number++) {
		const block = await node.rpc<{ transactions: { hash: string; from: Address; to: Address }[] }>(
			'eth_getBlockByNumber',
			[hex(number), true],
		)
		for (const { hash, from, to } of block.transactions) {
			for (const address of new Set([from, to])) {
				if (watched.has(address)) ids.push(`31337:${hash}:root:transfer:${address}`)
			}
		}
	}
	return ids
}
