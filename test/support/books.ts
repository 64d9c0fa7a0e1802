/**
 * What must be told of a scenario, found out twice and without any trace: from the node's balances, and from the ledger
 * that planned it.
 */
import { expect } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Address, Hash } from '../../src/model/glossary.js'
import type { Kind } from '../../src/model/kind.js'
import type { Direction } from '../../src/model/watch.js'
import type { Hand } from './anvil.js'
import type { Scenario } from './scenario.js'

/** One alert that must come, as the planner sees it. */
export interface Due {
	/** The watched address. */
	readonly address: Address
	readonly direction: Direction
	readonly kind: Kind
	readonly txHash: Hash
	readonly block: bigint
	readonly from: Address
	readonly to: Address
	/** Above 0, but for deployments. */
	readonly valueWei: bigint
}

export interface Books {
	readonly watched: readonly Address[]
	/**
	 * By `changeKey`: what came in less what went out, for each watched address and block where it is not 0. This is the
	 * node's `eth_getBalance` less that of the block before, the fees it paid added, and what was burnt on it added.
	 */
	readonly changesWei: ReadonlyMap<string, bigint>
	/** In the order of the chain; within a transaction in the order of the trace. */
	readonly due: readonly Due[]
	/** Contracts that must be told of, to whoever watches them or their creator; as the node's `eth_getCode` confirms. */
	readonly deployments: readonly { readonly address: Address; readonly creator: Address; readonly block: bigint }[]
}

function changeKey(address: Address, block: bigint): string {
	return `${address} in block ${block}`
}

/** Asks the node for every balance. `burnt` and the order of events are the only things taken from the plan. */
export async function keepBooks(scenario: Scenario, hand: Hand): Promise<Books> {
	const { watched, span, transactions } = scenario
	const terms = new Map<string, bigint>()
	const add = (address: Address, block: bigint, wei: bigint) => {
		const key = changeKey(address, block)
		terms.set(key, (terms.get(key) ?? 0n) + wei)
	}
	for (const { from, block, feeWei, consequence } of transactions) {
		add(from, block, feeWei)
		for (const { address, wei } of consequence.burnt) add(address, block, wei)
	}

	const changesWei = new Map<string, bigint>()
	let before = new Map<Address, bigint>()
	for (let block = span.from - 1n; block <= span.to; block++) {
		const balances = await hand.balancesWei(watched, block)
		const now = new Map(watched.map((address, index) => [address, balances[index] ?? 0n]))
		for (const address of block < span.from ? [] : watched) {
			const key = changeKey(address, block)
			const change = (now.get(address) ?? 0n) - (before.get(address) ?? 0n) + (terms.get(key) ?? 0n)
			if (change !== 0n) changesWei.set(key, change)
		}
		before = now
	}
	return { watched, changesWei, due: dueOf(scenario), deployments: await deploymentsOf(scenario, hand) }
}

/** Alerts, or what is due, against both. Every difference is told at once. */
export function expectBooksBalance(alerts: readonly AlertData[], books: Books): void {
	const told: Due[] = alerts.map((alert) => ({
		address: alert.watch.address.toLowerCase() as Address,
		direction: alert.direction,
		kind: alert.kind,
		txHash: alert.txHash,
		block: BigInt(alert.blockNumber),
		from: (alert.from ?? '').toLowerCase() as Address,
		to: alert.to.toLowerCase() as Address,
		valueWei: BigInt(alert.valueWei ?? ''),
	}))
	const ids = alerts.map(({ id }) => id)
	expect(
		ids.filter((id, index) => ids.indexOf(id) !== index),
		'alerts sent twice',
	).toEqual([])
	expect(imbalances(told, books), 'where alerts and balances differ').toEqual([])
	// A block may hold as much coming in as going out: the sums cannot see that, the list of what was done can.
	const [dueLines, toldLines] = [lines(books.due), lines(told)]
	expect(without(dueLines, toldLines), 'not told').toEqual([])
	expect(without(toldLines, dueLines), 'told, though it did not happen').toEqual([])
}

/** Sums of what is sent against the balances, for every watched address and block. */
export function imbalances(told: readonly Due[], { watched, changesWei }: Books): readonly string[] {
	const sums = new Map<string, bigint>()
	for (const { address, block, direction, valueWei } of told) {
		const sign = direction === 'in' ? 1n : direction === 'out' ? -1n : 0n
		const key = changeKey(address, block)
		sums.set(key, (sums.get(key) ?? 0n) + sign * valueWei)
	}
	const strangers = told.filter(({ address }) => !watched.includes(address))
	return [
		...strangers.map(({ address, txHash }) => `${address} is told of ${txHash} and not watched`),
		...[...new Set([...sums.keys(), ...changesWei.keys()])]
			.filter((key) => (sums.get(key) ?? 0n) !== (changesWei.get(key) ?? 0n))
			.map((key) => `${key}: told ${sums.get(key) ?? 0n}, the balance says ${changesWei.get(key) ?? 0n}`),
	]
}

function dueOf({ watched, transactions }: Scenario): readonly Due[] {
	const isWatched = new Set(watched)
	return transactions.flatMap(({ hash, block, consequence }) =>
		consequence.movements.flatMap(({ kind, from, to, valueWei }) => {
			const facts = { kind, txHash: hash, block, from, to, valueWei }
			const sides: readonly (readonly [Address, Direction])[] =
				from === to
					? [[from, 'self']]
					: [
							[from, 'out'],
							[to, 'in'],
						]
			return sides
				.filter(([address]) => isWatched.has(address))
				.map(([address, direction]) => ({ ...facts, address, direction }))
		}),
	)
}

async function deploymentsOf({ transactions }: Scenario, hand: Hand): Promise<Books['deployments']> {
	const deployments: Books['deployments'][number][] = []
	for (const { name, block, hash, consequence } of transactions) {
		for (const { kind, from, to } of consequence.movements) {
			if (kind !== 'deployment') continue
			// One that never had code leaves nothing to look at, nor one that has ended when the block does.
			const last = transactions.findLast(
				(tx) =>
					tx.block === block &&
					[...tx.consequence.ended, ...tx.consequence.born.map(({ address }) => address)].includes(to),
			)
			const stands = last?.consequence.born.some(({ address, remains }) => address === to && remains === 'code')
			const code = await hand.code(to, block)
			if ((code !== '0x') !== stands) throw new Error(`${to} of "${name}" (${hash}) has the code ${code}`)
			deployments.push({ address: to, creator: from, block })
		}
	}
	return deployments
}

function lines(list: readonly Due[]): readonly string[] {
	return list
		.map(({ address, direction, kind, txHash, block, from, to, valueWei }) =>
			[block, txHash, kind, direction, address, 'from', from, 'to', to, valueWei].join(' '),
		)
		.sort()
}

/** As often as it stands more in the one than in the other. */
function without(list: readonly string[], others: readonly string[]): readonly string[] {
	const left = new Map<string, number>()
	for (const other of others) left.set(other, (left.get(other) ?? 0) + 1)
	return list.filter((line) => {
		const count = left.get(line) ?? 0
		left.set(line, count - 1)
		return count <= 0
	})
}
