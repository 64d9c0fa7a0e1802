/** An Anvil for a test, with a JSON-RPC caller that shares no code with the product's. */

import { setTimeout as sleep } from 'node:timers/promises'
import { startAnvil } from '../../src/devnode/anvil.js'
import { type Devnode, type DevnodeOptions, startDevnode } from '../../src/devnode/devnode.js'
import type { Address, Hash } from '../../src/model/glossary.js'
import { askNode } from './askNode.js'

/** Wei per coin. */
export const ether = 10n ** 18n

export interface Tx {
	readonly from: Address
	/** Absent: a deployment. */
	readonly to?: Address
	readonly valueWei?: bigint
	readonly data?: string
	/** Given: nothing is estimated, so a transaction that will fail is taken too. */
	readonly gas?: bigint
}

export interface Receipt {
	readonly transactionHash: Hash
	readonly blockNumber: string
	readonly blockHash: Hash
	readonly transactionIndex: string
	readonly from: Address
	readonly to: Address | null
	readonly contractAddress: Address | null
	readonly status: '0x0' | '0x1'
	readonly gasUsed: string
	readonly effectiveGasPrice: string
}

/** What a test does to a chain; each method is one or two plain requests. */
export interface Hand {
	/** Throws with the node's code and words when it answers an error. */
	rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
	/**
	 * Resolves when the node has taken it; with automine when it is in a block, or not within two seconds. Anvil answers
	 * before that, and would put what is sent right after it into the same block.
	 */
	send(tx: Tx): Promise<Hash>
	/** Mines this many blocks; resolves to the new head's number. */
	mine(blocks?: number): Promise<bigint>
	automine(on: boolean): Promise<void>
	receipt(txHash: Hash): Promise<Receipt>
	head(): Promise<bigint>
	balanceWei(address: Address, block: bigint): Promise<bigint>
	code(address: Address, block: bigint): Promise<string>
	accounts(): Promise<readonly Address[]>
}

export interface TestAnvil extends Hand {
	readonly url: string
	stop(): Promise<void>
}

export interface TestDevnode extends Hand {
	readonly node: Devnode
	readonly url: string
	stop(): Promise<void>
}

export async function startTestAnvil(args: readonly string[] = []): Promise<TestAnvil> {
	const { url, stop } = await startAnvil({ args })
	return { ...handOn(url), url, stop }
}

/** A devnode; the hand reaches past its door to Anvil itself. */
export async function startTestDevnode(options: DevnodeOptions = {}): Promise<TestDevnode> {
	const node = await startDevnode(options)
	return { ...handOn(node.anvilUrl), node, url: node.url, stop: node.stop }
}

export function handOn(url: string): Hand {
	let id = 0
	const rpc = async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
		id += 1
		const call = { jsonrpc: '2.0', id, method, params }
		const answer = await askNode<{ result: T; error?: { code: number; message: string } }>(url, call)
		if (answer.error) throw new Error(`${method}: ${answer.error.code} ${answer.error.message}`)
		return answer.result
	}
	const head = async () => BigInt(await rpc<string>('eth_blockNumber'))
	/** Null: not known yet. */
	let automines: boolean | null = null
	const inBlock = async (txHash: Hash) => {
		automines ??= await rpc<boolean>('anvil_getAutomine')
		for (let waitMs = 1; automines && waitMs <= 1_024; waitMs *= 2) {
			if ((await rpc('eth_getTransactionReceipt', [txHash])) !== null) return
			await sleep(waitMs)
		}
	}
	return {
		rpc,
		head,
		async send({ from, to, valueWei = 0n, data, gas }) {
			const tx = {
				from,
				...(to && { to }),
				value: hex(valueWei),
				...(data && { data }),
				...(gas !== undefined && { gas: hex(gas) }),
			}
			const txHash = await rpc<Hash>('eth_sendTransaction', [tx])
			// A node that is stopped or replaced meanwhile has taken it all the same.
			await inBlock(txHash).catch(() => undefined)
			return txHash
		},
		async mine(blocks = 1) {
			await rpc('anvil_mine', [hex(BigInt(blocks))])
			return head()
		},
		async automine(on) {
			await rpc('evm_setAutomine', [on])
			automines = on
		},
		async receipt(txHash) {
			// With automine the hash may be answered before the block is there. Ten seconds of asking, however long it stood.
			for (let asked = 0; ; asked++) {
				const receipt = await rpc<Receipt | null>('eth_getTransactionReceipt', [txHash])
				if (receipt !== null) return receipt
				if (asked === 1_000) throw new Error(`${txHash} is in no block`)
				await sleep(10)
			}
		},
		balanceWei: async (address, block) => BigInt(await rpc<string>('eth_getBalance', [address, hex(block)])),
		code: (address, block) => rpc<string>('eth_getCode', [address, hex(block)]),
		accounts: () => rpc<Address[]>('eth_accounts'),
	}
}

export function hex(number: bigint): string {
	return `0x${number.toString(16)}`
}
