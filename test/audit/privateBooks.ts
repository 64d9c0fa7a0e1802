// A private network keeps its books by block access lists: no one is asked for a balance, and no request names a watch.

import { expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Address } from '../../src/model/glossary.js'
import { alertOf, type Bench, type BenchOptions, openBench, watchOf } from '../scan/bench.js'
import { readState } from '../state/samples.js'
import { ether, startTestAnvil } from '../support/anvil.js'
import { createChance } from '../support/chance.js'
import { type Dialect, startDialectGateway } from '../support/dialectGateway.js'
import { startEar } from '../support/ear.js'
import { hideLeaves, hideTransactions } from '../support/hiding.js'
import { listening } from '../support/listening.js'
import { createAddress, encodeActions, puppetInit } from '../support/puppet.js'
import { planScenario, playScenario } from '../support/scenario.js'
import { soaked } from '../support/soak.js'

const stranger: Address = '0x00000000000000000000000000000000000abcde'
const pays = (to: Address, valueWei: bigint) => encodeActions([{ do: 'call', to, valueWei }])

/** The same of whatever store the books are kept in. */
export function privateBooks(openStore: NonNullable<BenchOptions['openStore']>): void {
	async function open(dialects: readonly Dialect[], options: Partial<BenchOptions> = {}) {
		const node = await startTestAnvil(['--order', 'fifo'])
		await node.automine(false)
		const [alice, bob, carol] = (await node.accounts()) as [Address, Address, Address]
		const [puppet, payer] = [createAddress(bob, 0n), createAddress(carol, 0n)] as const
		for (const from of [bob, carol]) await node.send({ from, data: puppetInit, valueWei: 10n * ether, gas: 1_000_000n })
		await node.mine(3)
		const gateways = await Promise.all(dialects.map((one) => startDialectGateway(node.url, one)))
		const ears = await Promise.all(gateways.map(({ url }) => startEar(url)))
		const { log, said } = listening()
		const watches = [watchOf(puppet), watchOf(alice)]
		const bench = await openBench({
			urls: ears.map(({ url }) => url),
			watches,
			log,
			isPrivate: true,
			openStore,
			...options,
		})
		onTestFinished(async () => {
			await bench.close()
			for (const gateway of gateways) await gateway.close()
			await node.stop()
		})
		await bench.settle()
		const block = async () => {
			const number = await node.mine()
			await bench.settle()
			return number
		}
		const tell = (method: string) => gateways.reduce((sum, gateway) => sum + gateway.count(method), 0)
		const heard = () => ears.flatMap((ear) => ear.heard).join('\n')
		const books = async () => (await readState(await bench.store.network('local')))?.books ?? new Map()
		const seen = async () => (await bench.store.network('local'))?.booksSeen
		return { node, bench, block, tell, heard, books, seen, said, alice, bob, carol, puppet, payer }
	}

	/** The puppet has its book. */
	async function openPuppet(...[dialects, options]: Parameters<typeof open>) {
		const stage = await open(dialects, options)
		await stage.node.send({ from: stage.bob, to: stage.puppet, valueWei: 1n, gas: 200_000n })
		await stage.block()
		return stage
	}

	/** One block in which a leaf pays the puppet, and it pays as much on. */
	async function payAndPassOn({ node, block, bob, carol, puppet, payer }: Awaited<ReturnType<typeof open>>) {
		await node.send({ from: carol, to: payer, data: pays(puppet, 7n), gas: 200_000n })
		await node.send({ from: bob, to: puppet, data: pays(stranger, 7n), gas: 200_000n })
		return block()
	}

	async function alertsOf(bench: Bench, type: string): Promise<readonly AlertData[]> {
		return (await bench.posted()).filter(({ message }) => message.type === type).map(alertOf)
	}

	test('default: books are opened at the first list that names a watch, and no request names one', async () => {
		const stage = await open([{ accessLists: true }])
		const { node, block, alice, bob, puppet, books } = stage
		await block()
		expect((await books()).size).toBe(0)
		await node.send({ from: bob, to: puppet, valueWei: 5n, gas: 200_000n })
		const hash = await node.send({ from: alice, to: stranger, valueWei: 2n, gas: 30_000n })
		const opened = await block()
		// Its fee alone, its payment, and nothing.
		await node.send({ from: alice, to: stranger, valueWei: 0n, gas: 30_000n })
		await node.send({ from: bob, to: puppet, data: pays(stranger, 3n), gas: 200_000n })
		await block()
		const last = await block()
		for (const address of [alice, puppet]) {
			expect((await books()).get(address)).toMatchObject({ block: opened + 1n, movedWei: 0n })
			expect((await books()).get(address)?.balanceWei).toBe(await node.balanceWei(address, await node.head()))
		}
		expect(await stage.seen()).toMatchObject({ closedTo: Number(last), closed: 2, kept: 2, openCount: 0, reason: null })
		expect((await stage.seen())?.listed?.to).toBe(Number(last))
		expect(await alertsOf(stage.bench, 'alert.unexplained')).toEqual([])
		const everything = stage.heard().toLowerCase()
		for (const one of [alice, puppet, hash]) expect(everything).not.toContain(one.slice(2).toLowerCase())
		expect(everything).not.toMatch(/eth_getbalance|eth_call|eth_getcode|eth_gettransactionreceipt/)
	})

	test('behavior: requests for a block do not depend on whether it moves a watch', async () => {
		const stage = await open([{ accessLists: true }])
		const { node, block, alice, bob, heard } = stage
		const askedFor = async (from: Address) => {
			await node.send({ from, to: stranger, valueWei: 1n, gas: 30_000n })
			const before = heard().split('\n').length
			await block()
			return [
				...heard()
					.split('\n')
					.slice(before)
					.join()
					.matchAll(/"method":"(\w+)"/g),
			].map(([, name]) => name)
		}
		await askedFor(alice)
		const [ofStranger, ofWatch] = [await askedFor(bob), await askedFor(alice)]
		expect(ofWatch).toEqual(ofStranger)
		expect(ofWatch).toContain('eth_getBlockReceipts')
	})

	test('behavior: a second payment, hidden in the block that opens a book, is sent with its amount', async () => {
		const { dialect, hide } = hideTransactions()
		const stage = await open([{ ...dialect, accessLists: true }])
		const { node, block, bob, alice } = stage
		await node.send({ from: bob, to: alice, valueWei: 1n, gas: 30_000n })
		hide(await node.send({ from: bob, to: alice, valueWei: 11n, gas: 30_000n }))
		// Her own costs count, too.
		await node.send({ from: alice, to: stranger, valueWei: 2n, gas: 30_000n })
		const before = await node.balanceWei(alice, await node.head())
		const number = await block()
		const [told, ...others] = await alertsOf(stage.bench, 'alert.unexplained')
		expect(others).toEqual([])
		const at = Number(number)
		expect(told).toMatchObject({ fromBlock: at, toBlock: at, differenceWei: '11', openingWei: String(before) })
		expect(told?.closingWei).toBe(String(await node.balanceWei(alice, number)))
		await node.mine(14)
		await stage.bench.settle()
		expect(await alertsOf(stage.bench, 'alert.removed')).toEqual([])
		expect((await stage.seen())?.unprovedCount).toBe(0)
	})

	test('behavior: of a hidden first payment it is said that there is one, for no one knows how much', async () => {
		const { dialect, hide } = hideTransactions()
		const stage = await open([{ ...dialect, accessLists: true }])
		const { node, block, bob, alice } = stage
		hide(await node.send({ from: bob, to: alice, valueWei: 11n, gas: 30_000n }))
		const at = Number(await block())
		expect(await alertsOf(stage.bench, 'alert.unexplained')).toEqual([])
		expect((await stage.seen())?.unproved).toEqual([
			{
				...{ fromBlock: at, toBlock: at, count: 1, addresses: [alice] },
				why: expect.stringMatching(/^its balance changed without a reported movement; the amount is not known/),
			},
		])
	})

	test('behavior: a payment hidden in the block that opens a book is sent if another endpoint reports it', async () => {
		const { dialect } = hideLeaves(() => true)
		const stage = await open([{ ...dialect, accessLists: true }, { accessLists: true }])
		const { node, block, carol, puppet, payer } = stage
		await node.send({ from: carol, to: payer, data: pays(puppet, 7n), gas: 200_000n })
		await block()
		expect((await alertsOf(stage.bench, 'alert.transfer')).map(({ valueWei, late }) => [valueWei, late])).toEqual([
			['7', true],
		])
		expect((await stage.seen())?.unprovedCount).toBe(0)
	})

	test('behavior: a payment hidden in a block is reported with its exact amount', async () => {
		const { dialect, hide } = hideTransactions()
		const stage = await open([{ ...dialect, accessLists: true }])
		const { node, block, bob, alice } = stage
		await node.send({ from: bob, to: alice, valueWei: 1n, gas: 30_000n })
		await block()
		for (let n = 0; n < 3; n++) await block()
		hide(await node.send({ from: bob, to: alice, valueWei: 11n, gas: 30_000n }))
		const number = await block()
		expect(await alertsOf(stage.bench, 'alert.unexplained')).toMatchObject([
			{ fromBlock: Number(number), toBlock: Number(number), differenceWei: '11', late: false },
		])
		await block()
		expect(await alertsOf(stage.bench, 'alert.unexplained')).toHaveLength(1)
	})

	test('behavior: a payment hidden by one endpoint and reported by another is sent as an event, late', async () => {
		const { dialect } = hideLeaves(() => true)
		const stage = await openPuppet([{ ...dialect, accessLists: true }, { accessLists: true }])
		const { node, block, carol, puppet, payer } = stage
		await node.send({ from: carol, to: payer, data: pays(puppet, 7n), gas: 200_000n })
		await block()
		expect(await alertsOf(stage.bench, 'alert.unexplained')).toEqual([])
		const told = await alertsOf(stage.bench, 'alert.transfer')
		expect(told.map(({ valueWei, late }) => [valueWei, late])).toEqual([
			['1', false],
			['7', true],
		])
		expect(stage.heard().toLowerCase()).not.toContain(puppet.slice(2))
	})

	test('behavior: two hidden payments that make up for each other in one block are reported', async () => {
		const { dialect } = hideLeaves(() => true)
		const stage = await openPuppet([{ ...dialect, accessLists: true }])
		await payAndPassOn(stage)
		expect(await alertsOf(stage.bench, 'alert.unexplained')).toMatchObject([{ differenceWei: '0' }])
		// The second look sees no more than the first did, and explains nothing.
		await stage.node.mine(10)
		await stage.bench.settle()
		await stage.node.mine(4)
		await stage.bench.settle()
		expect(await alertsOf(stage.bench, 'alert.removed')).toEqual([])
	})

	test('behavior: opposite hidden payments are retracted once a second look reports each of them', async () => {
		let isHiding = true
		const { dialect } = hideLeaves(() => isHiding)
		const stage = await openPuppet([{ ...dialect, accessLists: true }])
		await payAndPassOn(stage)
		expect(await alertsOf(stage.bench, 'alert.unexplained')).toHaveLength(1)
		isHiding = false
		await stage.node.mine(14)
		await stage.bench.settle()
		expect(await alertsOf(stage.bench, 'alert.removed')).toHaveLength(1)
		const told = await alertsOf(stage.bench, 'alert.transfer')
		expect(told.map(({ valueWei, late }) => [valueWei, late])).toEqual([
			['1', false],
			['7', true],
			['7', true],
		])
	})

	/** Holds back what it is told to hold back, until it is released. */
	function holding(method: string, dialect: Dialect = {}) {
		let held: Promise<void> = Promise.resolve()
		const twist: Dialect['twist'] = async (asked, params, result) => {
			if (asked === method) await held
			return dialect.twist?.(asked, params, result)
		}
		const hold = () => {
			let release: () => void = () => undefined
			held = new Promise((resolve) => {
				release = resolve
			})
			return () => release()
		}
		return { dialect: { ...dialect, twist, accessLists: true }, hold }
	}

	/** A store that says when something is to be told. */
	function heralded() {
		let onDelivery: () => void = () => undefined
		const around: NonNullable<BenchOptions['around']> = (store) => ({
			...store,
			async commit(change) {
				const state = await store.commit(change)
				if (change.deliveries?.length) onDelivery()
				return state
			},
		})
		const delivery = () =>
			new Promise<void>((resolve) => {
				onDelivery = resolve
			})
		return { around, delivery }
	}

	test.each(['eth_getBlockAccessList', 'eth_getBlockReceipts'])(
		'behavior: while a node does not answer %s the alert stands, and the book is closed when it comes',
		async (method) => {
			const { dialect, hold } = holding(method)
			const { around, delivery } = heralded()
			const stage = await open([dialect], { around })
			const { node, bench, block, bob, alice } = stage
			await node.send({ from: bob, to: alice, valueWei: 1n, gas: 30_000n })
			const opened = await block()
			const before = (await stage.books()).get(alice)
			expect(before).toMatchObject({ block: opened, movedWei: 0n })
			const release = hold()
			onTestFinished(release)
			await node.send({ from: bob, to: alice, valueWei: 5n, gas: 30_000n })
			const head = await node.mine()
			const told = delivery()
			const polling = bench.settle()
			await Promise.race([told, polling])
			// Before the answer came: the auditor has not taken the block in yet.
			expect((await stage.books()).get(alice)).toEqual(before)
			expect(await alertsOf(bench, 'alert.transfer')).toHaveLength(2)
			expect((await bench.store.network('local'))?.checkpoint.number).toBe(head)
			release()
			await polling
			// Had it taken too long, it is asked again after a rest.
			bench.pass(31_000)
			await block()
			expect((await stage.books()).get(alice)).toMatchObject({
				movedWei: 0n,
				balanceWei: await node.balanceWei(alice, head),
			})
			expect((await stage.seen())?.unprovedCount).toBe(0)
			expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
		},
	)

	test('behavior: a second endpoint that does not answer keeps no finding and no block waiting for good', async () => {
		const { dialect } = hideLeaves(() => true)
		const other = holding('trace_block')
		const stage = await openPuppet([{ ...dialect, accessLists: true }, other.dialect], { timeoutMs: 120_000 })
		onTestFinished(other.hold())
		const number = await payAndPassOn(stage)
		expect(await alertsOf(stage.bench, 'alert.unexplained')).toMatchObject([{ differenceWei: '0' }])
		expect((await stage.bench.store.network('local'))?.checkpoint.number).toBe(number)
	})

	test('behavior: after a kill between alerts and their books what the block hides is sent with the next', async () => {
		const { dialect: hiding, hide } = hideTransactions()
		const { dialect, hold } = holding('eth_getBlockAccessList', hiding)
		const { around, delivery } = heralded()
		const stage = await open([dialect], { around })
		const { node, bench, block, bob, alice } = stage
		const pay = (valueWei: bigint) => node.send({ from: bob, to: alice, valueWei, gas: 30_000n })
		await pay(1n)
		await block()
		const release = hold()
		onTestFinished(release)
		await pay(5n)
		hide(await pay(7n))
		const number = await node.mine()
		const end = new AbortController()
		const told = delivery()
		const polling = bench.settle(end.signal).catch(() => undefined)
		await Promise.race([told, polling])
		end.abort()
		release()
		await polling
		expect((await bench.store.network('local'))?.checkpoint.number).toBe(number)
		expect((await stage.books()).get(alice)).toMatchObject({ movedWei: 0n })
		bench.pass(31_000)
		await pay(11n)
		await block()
		expect(await alertsOf(bench, 'alert.unexplained')).toMatchObject([
			{ fromBlock: Number(number), toBlock: Number(number), differenceWei: '7' },
		])
		expect((await alertsOf(bench, 'alert.transfer')).map(({ valueWei }) => valueWei)).toEqual(['1', '5', '11'])
		expect((await stage.books()).get(alice)).toMatchObject({ block: number + 1n, movedWei: 0n })
		expect((await stage.seen())?.unprovedCount).toBe(0)
	})

	/** A node that gives no access lists as long as it is told so. */
	function withholding(dialect: Dialect) {
		const gives = { lists: true }
		const twist: Dialect['twist'] = (method, params, result) =>
			method === 'eth_getBlockAccessList' && !gives.lists ? null : dialect.twist?.(method, params, result)
		return { dialect: { ...dialect, twist, accessLists: true }, gives }
	}

	test('behavior: a list that comes late is asked for again, and what its block hides is reported', async () => {
		const { dialect: hiding, hide } = hideTransactions()
		const { dialect, gives } = withholding(hiding)
		const stage = await open([dialect])
		const { node, bench, block, bob, alice, puppet } = stage
		for (const to of [alice, puppet]) await node.send({ from: bob, to, valueWei: 1n, gas: 200_000n })
		const first = await block()
		gives.lists = false
		await node.send({ from: bob, to: puppet, valueWei: 2n, gas: 200_000n })
		hide(await node.send({ from: bob, to: alice, valueWei: 3n, gas: 200_000n }))
		const late = await block()
		await node.send({ from: alice, to: puppet, valueWei: 4n, gas: 200_000n })
		const second = await block()
		const waiting = { from: Number(late), to: Number(second) }
		expect(await stage.seen()).toMatchObject({ waiting, closedTo: Number(first), listed: { to: Number(first) } })
		expect((await stage.seen())?.reason).toContain(`access list of block ${late} was not given yet`)
		expect((await stage.books()).get(puppet)).toMatchObject({ block: first, movedWei: 6n })
		gives.lists = true
		const last = await block()
		expect(await alertsOf(bench, 'alert.unexplained')).toMatchObject([
			{ fromBlock: Number(late), toBlock: Number(late), differenceWei: '3', late: true },
		])
		const seen = await stage.seen()
		expect(seen).toMatchObject({ reason: null, closed: 2, closedTo: Number(last), openCount: 0, unprovedCount: 0 })
		expect(seen?.waiting).toBeUndefined()
		expect(seen?.listed?.to).toBe(Number(last))
		for (const to of [alice, puppet]) {
			expect((await stage.books()).get(to)).toMatchObject({ movedWei: 0n, balanceWei: await node.balanceWei(to, last) })
		}
		expect((await alertsOf(bench, 'alert.transfer')).map(({ valueWei }) => valueWei).sort()).toEqual([
			...['1', '1', '2', '4', '4'],
		])
	})

	test('behavior: many lists that come late are read some at a time, and nothing is lost meanwhile', async () => {
		const { dialect: hiding, hide } = hideTransactions()
		const { dialect, gives } = withholding(hiding)
		const stage = await open([dialect])
		const { node, bench, block, bob, alice, puppet } = stage
		const pay = (to: Address, valueWei: bigint) => node.send({ from: bob, to, valueWei, gas: 200_000n })
		for (const to of [alice, puppet]) await pay(to, 1n)
		const first = await block()
		gives.lists = false
		await pay(puppet, 2n)
		await block()
		await node.mine(68)
		await bench.settle()
		await pay(puppet, 4n)
		hide(await pay(alice, 3n))
		const late = await block()
		gives.lists = true
		await pay(puppet, 8n)
		await block()
		// The first ones are read: what moved after them is put by as before.
		const begun = await stage.seen()
		expect(begun?.waiting?.to).toBe(Number(first) + 71)
		expect(begun?.listed?.to).toBeLessThanOrEqual(Number(first) + 64)
		const book = (await stage.books()).get(puppet)
		expect(book).toMatchObject(book?.block === first ? { movedWei: 14n } : { block: first + 1n, movedWei: 12n })
		let last = late
		while ((await stage.seen())?.waiting !== undefined) {
			bench.pass(31_000)
			last = await block()
		}
		expect(await alertsOf(bench, 'alert.unexplained')).toMatchObject([
			{ fromBlock: Number(late), toBlock: Number(late), differenceWei: '3' },
		])
		expect(await stage.seen()).toMatchObject({ reason: null, closedTo: Number(last), openCount: 0, unprovedCount: 0 })
		for (const to of [alice, puppet]) {
			expect((await stage.books()).get(to)).toMatchObject({ movedWei: 0n, balanceWei: await node.balanceWei(to, last) })
		}
	})

	test('behavior: a list that never comes is given up, which is said; the blocks after it are proved', async () => {
		const { dialect: hiding, hide } = hideTransactions()
		let isGone = false
		const gone = new Set<unknown>()
		const twist: Dialect['twist'] = (method, params, result) => {
			if (method !== 'eth_getBlockAccessList') return hiding.twist?.(method, params, result)
			if (isGone) gone.add(params[0])
			return gone.has(params[0]) ? null : undefined
		}
		const stage = await open([{ ...hiding, twist, accessLists: true }])
		const { node, bench, block, bob, carol, alice, puppet } = stage
		bench.setWatches([alice, puppet, carol].map((one) => watchOf(one)))
		const pay = (to: Address, valueWei: bigint) => node.send({ from: bob, to, valueWei, gas: 200_000n })
		for (const to of [alice, puppet, carol]) await pay(to, 1n)
		await block()
		isGone = true
		await pay(puppet, 2n)
		hide(await pay(alice, 3n))
		const never = await block()
		isGone = false
		hide(await pay(carol, 5n))
		const after = await block()
		expect((await stage.seen())?.waiting).toEqual({ from: Number(never), to: Number(after) })
		await block()
		expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
		bench.pass(61_000)
		await block()
		// What carol got stands in a list; but her book stands before the block of which no one knows what it did.
		expect((await stage.seen())?.unproved).toMatchObject([
			{ fromBlock: Number(never), addresses: [carol], count: 1 },
			{ fromBlock: Number(after), toBlock: Number(after), addresses: [carol], count: 1 },
			{
				...{ fromBlock: Number(never), toBlock: Number(never), count: 3, addresses: [] },
				why: 'the access list of a block was not given',
			},
		])
		expect((await stage.seen())?.waiting).toBeUndefined()
		for (const to of [alice, puppet]) await pay(to, 4n)
		const last = await block()
		expect((await stage.books()).get(puppet)).toMatchObject({ block: last, movedWei: 0n })
		const seen = await stage.seen()
		expect(seen).toMatchObject({ reason: null, closed: 3, listed: { from: Number(after), to: Number(last) } })
		const named = (seen?.unproved ?? []).flatMap(({ addresses }) => addresses)
		expect([...new Set(named)].toSorted()).toEqual([alice, carol].toSorted())
		hide(await pay(carol, 6n))
		const hidden = await block()
		expect(await alertsOf(bench, 'alert.unexplained')).toMatchObject([
			{ fromBlock: Number(hidden), toBlock: Number(hidden), differenceWei: '6' },
		])
	})

	test('behavior: a watch that comes back: what it moved meanwhile is not checked against its book', async () => {
		const stage = await open([{ accessLists: true }])
		const { node, bench, block, bob, alice, puppet } = stage
		await node.send({ from: bob, to: alice, valueWei: 1n, gas: 30_000n })
		await block()
		bench.setWatches([watchOf(puppet)])
		await node.send({ from: bob, to: alice, valueWei: 2n, gas: 30_000n })
		await block()
		bench.setWatches([watchOf(puppet), watchOf(alice)])
		await node.send({ from: bob, to: alice, valueWei: 3n, gas: 30_000n })
		await block()
		expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
		expect((await stage.books()).get(alice)?.balanceWei).toBe(await node.balanceWei(alice, await node.head()))
	})

	test('behavior: after a reorganisation the books stand on what took the place', async () => {
		const { dialect, hide } = hideTransactions()
		const stage = await open([{ ...dialect, accessLists: true }])
		const { node, bench, block, bob, alice, puppet } = stage
		await node.send({ from: bob, to: alice, valueWei: 1n, gas: 30_000n })
		await node.send({ from: bob, to: puppet, valueWei: 1n, gas: 200_000n })
		await block()
		const before = await node.rpc('evm_snapshot')
		hide(await node.send({ from: bob, to: alice, valueWei: 5n, gas: 30_000n }))
		await block()
		expect(await alertsOf(bench, 'alert.unexplained')).toHaveLength(1)
		await node.rpc('evm_revert', [before])
		await node.send({ from: bob, to: alice, valueWei: 6n, gas: 30_000n })
		await node.mine()
		await node.mine()
		await bench.settle()
		hide(await node.send({ from: bob, to: puppet, valueWei: 7n, gas: 200_000n }))
		await block()
		const told = await alertsOf(bench, 'alert.unexplained')
		expect(told.map(({ differenceWei }) => differenceWei)).toEqual(['5', '7'])
		expect(await alertsOf(bench, 'alert.removed')).toHaveLength(1)
		expect((await stage.books()).get(alice)?.balanceWei).toBe(await node.balanceWei(alice, await node.head()))
	})

	test('behavior: on a chain without lists no books are kept, and it says why', async () => {
		const stage = await open([{}])
		await stage.node.send({ from: stage.bob, to: stage.alice, valueWei: 1n, gas: 30_000n })
		await stage.block()
		expect((await stage.books()).size).toBe(0)
		expect(await stage.seen()).toMatchObject({ kept: 0, closedTo: null, openCount: 0 })
		expect((await stage.seen())?.reason).toContain('name no access lists')
	})

	test('behavior: blocks that wait for lists leave the chain: the books stand on what took their place', async () => {
		const { dialect: hiding, hide } = hideTransactions()
		const { dialect, gives } = withholding(hiding)
		const stage = await open([dialect])
		const { node, bench, block, bob, alice, puppet } = stage
		const pay = (to: Address, valueWei: bigint) => node.send({ from: bob, to, valueWei, gas: 200_000n })
		for (const to of [alice, puppet]) await pay(to, 1n)
		await block()
		gives.lists = false
		await pay(alice, 2n)
		await block()
		const before = await node.rpc('evm_snapshot')
		await pay(puppet, 3n)
		await block()
		await node.rpc('evm_revert', [before])
		await pay(alice, 4n)
		await node.mine(2)
		await bench.settle()
		gives.lists = true
		await block()
		expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
		hide(await pay(puppet, 5n))
		hide(await pay(alice, 6n))
		const last = await block()
		expect((await alertsOf(bench, 'alert.unexplained')).map(({ differenceWei }) => differenceWei).sort()).toEqual([
			'5',
			'6',
		])
		for (const to of [alice, puppet]) {
			expect((await stage.books()).get(to)).toMatchObject({ movedWei: 0n, balanceWei: await node.balanceWei(to, last) })
		}
		expect((await stage.seen())?.reason).toBeNull()
	})

	const scenarios = [
		{ title: 'four of five lists late', late: 80, never: 0 },
		{ title: 'one of five lists never, some late', late: 20, never: 20 },
	] as const

	test.each(scenarios)(
		'default: over a scenario of everything that moves coins nothing is unexplained: $title',
		async ({ late, never }) => {
			const plan = planScenario({ seed: 11, blocks: soaked(34, 60) })
			const node = await startTestAnvil(plan.anvilArgs)
			const chance = createChance(late + never)
			let isOver = false
			const gone = new Map<unknown, boolean>()
			const twist: Dialect['twist'] = (method, params) => {
				if (!['eth_getBlockAccessList', 'eth_getBlockReceipts'].includes(method)) return undefined
				if (!gone.has(params[0])) gone.set(params[0], method === 'eth_getBlockAccessList' && chance.percent(never))
				return gone.get(params[0]) || (!isOver && chance.percent(late)) ? null : undefined
			}
			const gateway = await startDialectGateway(node.url, { twist, accessLists: true })
			const watches = plan.watched.map((address) => watchOf(address))
			const bench = await openBench({ urls: [gateway.url], watches, isPrivate: true, openStore })
			onTestFinished(async () => {
				await bench.close()
				await gateway.close()
				await node.stop()
			})
			await bench.settle()
			const hand = {
				...node,
				async mine(blocks?: number) {
					const head = await node.mine(blocks)
					if (never > 0) bench.pass(31_000)
					await bench.settle()
					return head
				},
			}
			const seen = async () => (await bench.store.network('local'))?.booksSeen
			await playScenario(plan, hand)
			isOver = true
			do {
				bench.pass(31_000)
				await hand.mine(1)
			} while ((await seen())?.waiting !== undefined)
			expect((await alertsOf(bench, 'alert.unexplained')).map(({ id, reason }) => [id, reason])).toEqual([])
			const state = await readState(await bench.store.network('local'))
			expect(state?.books.size).toBeGreaterThan(3)
			for (const [address, { block, balanceWei }] of state?.books ?? []) {
				expect(balanceWei).toBe(await node.balanceWei(address, never === 0 ? await node.head() : block))
			}
			if (never > 0) expect(state?.booksSeen?.unprovedCount).toBeGreaterThan(0)
		},
	)
}
