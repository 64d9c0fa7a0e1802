// Alerts do not wait for the books: the scanner writes them, and the auditor takes in the same blocks afterwards.
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { alertOf, type Bench, openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { hideTransactions } from '../support/hiding.js'

/** A network whose node holds back what it knows of balances, once it is told to. */
async function open() {
	const node = await startTestAnvil(['--order', 'fifo'])
	await node.automine(false)
	const [treasury, payer] = (await node.accounts()) as [Address, Address]
	const { dialect, hide } = hideTransactions()
	let held = Promise.resolve()
	const gateway = await startDialectGateway(node.url, {
		...dialect,
		twist: async (method, params, result) => {
			if (method === 'eth_call') await held
			return dialect.twist?.(method, params, result)
		},
	})
	let onDelivery: () => void = () => undefined
	const bench = await openBench({
		urls: [gateway.url],
		watches: [watchOf(treasury)],
		around: (store) => ({
			...store,
			async commit(change) {
				const state = await store.commit(change)
				if (change.deliveries?.length) onDelivery()
				return state
			},
		}),
	})
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	for (let n = 0; n < 3; n++) {
		await node.mine(1)
		await bench.settle()
	}
	const hold = () => {
		let release: () => void = () => undefined
		held = new Promise((resolve) => {
			release = resolve
		})
		return () => release()
	}
	const book = async () => (await bench.store.network('local'))?.books.get(treasury)
	const pay = (valueWei: bigint) => node.send({ from: payer, to: treasury, valueWei, gas: 21_000n })
	const delivery = () =>
		new Promise<void>((resolve) => {
			onDelivery = resolve
		})
	return { node, bench, treasury, hide, hold, book, pay, delivery }
}

async function toldOf(bench: Bench, type: string) {
	return (await bench.posted()).filter(({ message }) => message.type === type).map(alertOf)
}

test('behavior: a block that was scanned and not taken in at the end is read again and proved', async () => {
	const { node, bench, treasury, hide, hold, book, pay, delivery } = await open()
	const release = hold()
	await pay(5n)
	hide(await pay(7n))
	const first = await node.mine(1)
	const end = new AbortController()
	const told = delivery()
	const polling = bench.settle(end.signal).catch(() => undefined)
	await Promise.race([told, polling])
	expect(await toldOf(bench, 'alert.transfer')).toHaveLength(1)
	end.abort()
	release()
	await polling
	const { checkpoint, audit } = (await bench.store.network('local')) ?? {}
	expect([checkpoint?.number, audit?.taken]).toEqual([first, first - 1n])
	await pay(11n)
	const head = await node.mine(1)
	await bench.settle()
	expect(await toldOf(bench, 'alert.unexplained')).toMatchObject([
		{ fromBlock: Number(first), toBlock: Number(first), differenceWei: '7' },
	])
	expect(await book()).toMatchObject({ block: head, movedWei: 0n, balanceWei: await node.balanceWei(treasury, head) })
})

test('behavior: a hidden payment beside a sent alert has its own alert, with its block and amount', async () => {
	const { node, bench, hide, pay } = await open()
	await pay(5n)
	hide(await pay(7n))
	const head = await node.mine(1)
	await bench.settle()
	expect(await toldOf(bench, 'alert.transfer')).toMatchObject([{ valueWei: '5' }])
	expect(await toldOf(bench, 'alert.unexplained')).toMatchObject([
		{ fromBlock: Number(head), toBlock: Number(head), differenceWei: '7', late: false },
	])
})
