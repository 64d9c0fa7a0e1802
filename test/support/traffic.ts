/**
 * Life on a chain: payments in and out, deployments, payments inside contracts, and things that come to nothing. It
 * writes down what each transaction moves from how it was made, and has the node's balances bear that out; nothing of
 * the product is asked.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, Hash, Hex } from '../../src/model/glossary.js'
import type { Kind } from '../../src/model/kind.js'
import type { Direction } from '../../src/model/watch.js'
import { ether, type Hand, type Receipt } from './anvil.js'
import type { Chance } from './chance.js'
import { type Action, createAddress, encodeActions, puppetInit } from './puppet.js'

/** An alert that must be told, in the words of the contract. */
export interface DueAlert {
	/** `<chainId>:<txHash>:<trace>:<kind>:<address>` */
	readonly id: string
	readonly address: Address
	readonly kind: Kind
	readonly direction: Direction
	readonly from: Address
	readonly to: Address
	readonly valueWei: bigint
	readonly block: bigint
}

export interface Traffic {
	/** Transactions at random, in one block: a few, or so many; resolves when they are mined. */
	step(transactions?: number): Promise<void>
	/** Everything that happened to these addresses, by block. Throws where the node's balances say otherwise. */
	due(addresses: readonly Address[]): Promise<readonly DueAlert[]>
	/** Contracts that pay and create; the second takes part in the first one's calls only. */
	readonly puppets: readonly [Address, Address]
}

interface Movement {
	/** `root`, or the indexes of the frame: `0_1`. */
	readonly trace: string
	readonly kind: Kind
	readonly from: Address
	readonly to: Address
	readonly valueWei: bigint
}

interface Deed {
	readonly from: Address
	readonly to?: Address
	readonly valueWei?: bigint
	readonly data?: Hex
	readonly moves: readonly Movement[]
	readonly fails?: true
}

const gas = 3_000_000n
/** Init code of a contract of one byte: PUSH1 1, PUSH1 0, RETURN. */
const tinyInit: Hex = '0x60016000f3'

/**
 * Deploys the puppets with coins to spend; `accounts` have coins and are paid. Works on a chain of automatic mining.
 */
export async function startTraffic(hand: Hand, accounts: readonly Address[], chance: Chance): Promise<Traffic> {
	const chainId = BigInt(await hand.rpc<string>('eth_chainId'))
	const [owner] = accounts as [Address]
	const start = (await hand.head()) + 1n
	const mined: { readonly deed: Deed; readonly receipt: Receipt }[] = []
	/** Of creations by the first puppet, failed ones included. */
	let created = 0n

	async function work(deeds: readonly Deed[]): Promise<void> {
		const together = deeds.length > 1
		if (together) await hand.automine(false)
		const hashes: Hash[] = []
		for (const { moves: _, fails: __, ...tx } of deeds) hashes.push(await hand.send({ ...tx, gas }))
		if (together) {
			await hand.mine()
			await hand.automine(true)
		}
		for (const [at, deed] of deeds.entries()) {
			const receipt = await minedReceipt(hand, hashes[at] as Hash)
			if ((receipt.status === '0x0') !== (deed.fails === true))
				throw new Error(`${receipt.transactionHash}: not as meant`)
			mined.push({ deed, receipt })
		}
	}

	async function deployPuppet(): Promise<Address> {
		const nonce = BigInt(await hand.rpc<string>('eth_getTransactionCount', [owner, 'latest']))
		const address = createAddress(owner, nonce)
		const move: Movement = { trace: 'root', kind: 'deployment', from: owner, to: address, valueWei: 0n }
		await work([{ from: owner, data: puppetInit, moves: [move] }])
		await work([
			{ from: owner, to: address, valueWei: 100n * ether, moves: [transfer('root', owner, address, 100n * ether)] },
		])
		return address
	}
	const puppets = [await deployPuppet(), await deployPuppet()] as const
	const [puppet, helper] = puppets

	/** At most a thousandth of a coin, so that no puppet runs out of coins in a thousand steps. */
	const wei = () => BigInt(1 + chance.number(1_000_000)) * (chance.percent(50) ? 1n : 10n ** 9n)
	const someone = () => chance.pick(accounts)
	/** By the puppet; the transaction itself may carry coins to it. */
	const acting = (actions: readonly Action[], moves: readonly Movement[], valueWei = 0n): Deed => {
		const from = someone()
		const root = valueWei === 0n ? [] : [transfer('root', from, puppet, valueWei)]
		return { from, to: puppet, valueWei, data: encodeActions(actions), moves: [...root, ...moves] }
	}

	const deeds: Readonly<Record<string, () => Promise<Deed> | Deed>> = {
		payment() {
			const [from, to, valueWei] = [someone(), someone(), wei()]
			return { from, to, valueWei, moves: [transfer('root', from, to, valueWei)] }
		},
		async deployment() {
			const [from, valueWei] = [someone(), chance.percent(50) ? 0n : wei()]
			const nonce = BigInt(await hand.rpc<string>('eth_getTransactionCount', [from, 'pending']))
			const to = createAddress(from, nonce)
			return { from, valueWei, data: tinyInit, moves: [{ trace: 'root', kind: 'deployment', from, to, valueWei }] }
		},
		internal() {
			const payees = Array.from({ length: 1 + chance.number(3) }, () => ({ to: someone(), valueWei: wei() }))
			const moves = payees.map(({ to, valueWei }, at) => transfer(String(at), puppet, to, valueWei))
			return acting(
				payees.map(({ to, valueWei }) => ({ do: 'call', to, valueWei })),
				moves,
				chance.percent(50) ? wei() : 0n,
			)
		},
		deep() {
			const [to, valueWei, passed] = [someone(), wei(), wei()]
			const inner: Action[] = [{ do: 'call', to, valueWei }]
			return acting(
				[{ do: 'call', to: helper, valueWei: passed, inner }],
				[transfer('0', puppet, helper, passed), transfer('0_0', helper, to, valueWei)],
			)
		},
		create() {
			created += 1n
			const valueWei = chance.percent(50) ? 0n : wei()
			const to = createAddress(puppet, created)
			return acting(
				[{ do: 'create', init: tinyInit, valueWei }],
				[{ trace: '0', kind: 'deployment', from: puppet, to, valueWei }],
			)
		},
		/** The helper pays and takes it back; the puppet does not mind. */
		caught() {
			const inner: Action[] = [{ do: 'call', to: someone(), valueWei: wei() }, { do: 'revert' }]
			const [to, valueWei] = [someone(), wei()]
			return acting(
				[
					{ do: 'call', to: helper, valueWei: wei(), inner },
					{ do: 'call', to, valueWei },
				],
				[transfer('1', puppet, to, valueWei)],
			)
		},
		failing() {
			const actions: Action[] = [{ do: 'call', to: someone(), valueWei: wei() }, { do: 'revert' }]
			return { from: someone(), to: puppet, valueWei: wei(), data: encodeActions(actions), moves: [], fails: true }
		},
	}
	const names = ['payment', 'payment', 'deployment', 'internal', 'deep', 'create', 'caught', 'failing']

	return {
		puppets,
		async step(transactions) {
			const count = transactions ?? (chance.percent(25) ? 2 + chance.number(3) : 1)
			const made: Deed[] = []
			// Nonces are counted before anything is sent, so only one transaction of a block deploys.
			for (let at = 0; at < count; at++) {
				const name = chance.pick(names)
				made.push(await (deeds[name === 'deployment' && count > 1 ? 'payment' : name] as () => Deed)())
			}
			await work(made)
		},
		async due(addresses) {
			const alerts = mined.flatMap(({ deed, receipt }) =>
				deed.moves.flatMap((move) => alertsOf(move, receipt, chainId, addresses)),
			)
			for (const address of addresses)
				await bearOut(
					hand,
					address,
					start,
					alerts,
					mined.map(({ receipt }) => receipt),
				)
			return alerts
		},
	}
}

/** A node that mines at once still mines a moment after it has answered. */
async function minedReceipt(hand: Hand, hash: Hash): Promise<Receipt> {
	for (let tries = 0; tries < 500; tries++) {
		const receipt = await hand.rpc<Receipt | null>('eth_getTransactionReceipt', [hash])
		if (receipt !== null) return receipt
		await sleep(10)
	}
	throw new Error(`${hash} is in no block`)
}

function transfer(trace: string, from: Address, to: Address, valueWei: bigint): Movement {
	return { trace, kind: 'transfer', from, to, valueWei }
}

function alertsOf(move: Movement, receipt: Receipt, chainId: bigint, addresses: readonly Address[]): DueAlert[] {
	const { trace, kind, from, to, valueWei } = move
	const sides = [...new Set([from, to])].filter((address) => addresses.includes(address))
	return sides.map((address) => ({
		id: `${chainId}:${receipt.transactionHash}:${trace}:${kind}:${address}`,
		address,
		kind,
		direction: from === to ? 'self' : address === from ? 'out' : 'in',
		from,
		to,
		valueWei,
		block: BigInt(receipt.blockNumber),
	}))
}

/** In every block the balance changes by what is written down, less the fees. */
async function bearOut(
	hand: Hand,
	address: Address,
	start: bigint,
	alerts: readonly DueAlert[],
	receipts: readonly Receipt[],
): Promise<void> {
	const changes = new Map<bigint, bigint>()
	const add = (block: bigint, wei: bigint) => changes.set(block, (changes.get(block) ?? 0n) + wei)
	for (const alert of alerts) {
		if (alert.address !== address || alert.direction === 'self') continue
		add(alert.block, alert.direction === 'in' ? alert.valueWei : -alert.valueWei)
	}
	for (const { from, blockNumber, gasUsed, effectiveGasPrice } of receipts) {
		if (from === address) add(BigInt(blockNumber), -BigInt(gasUsed) * BigInt(effectiveGasPrice))
	}
	let before = await hand.balanceWei(address, start - 1n)
	for (let block = start; block <= (await hand.head()); block++) {
		const now = await hand.balanceWei(address, block)
		if (now - before !== (changes.get(block) ?? 0n)) {
			throw new Error(`${address} changed by ${now - before} wei in block ${block}, not by ${changes.get(block) ?? 0n}`)
		}
		before = now
	}
}
