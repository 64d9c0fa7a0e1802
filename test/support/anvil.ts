/** An Anvil for a test, with a JSON-RPC caller that shares no code with the product's. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
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
	/** In one request. */
	balancesWei(addresses: readonly Address[], block: bigint): Promise<readonly bigint[]>
	code(address: Address, block: bigint): Promise<string>
	accounts(): Promise<readonly Address[]>
}

export interface TestAnvil extends Hand {
	readonly url: string
	stop(): Promise<void>
}

/** The package's own command is a Node script around the program of a package for each platform. */
const packageOfAnvil = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')
const arch = process.arch === 'x64' ? 'amd64' : process.arch
const program = createRequire(packageOfAnvil).resolve(`@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil`)

/**
 * A shell between the two processes ends Anvil even when this process is killed: only this process holds the other end
 * of the shell's input pipe, and at the end of the input the shell kills Anvil.
 */
const guard = `exec 3<&0
"$0" "$@" 3<&- </dev/null &
anvil=$!
(cat <&3; kill -9 "$anvil") >/dev/null 2>&1 &
exec 3<&-
wait "$anvil"`

/** On a free port, which Anvil picks itself. It answers at `/` only: a key in the path needs a proxy before it. */
export async function startTestAnvil(args: readonly string[] = []): Promise<TestAnvil> {
	const child = spawn('/bin/sh', ['-c', guard, program, '--host', '127.0.0.1', '--port', '0', ...args])
	const gone = once(child, 'close')
	let printed = ''
	const url = await new Promise<string>((resolve, reject) => {
		// Both streams are read while Anvil runs; it blocks when a pipe is full.
		const read = (chunk: Buffer) => {
			printed = (printed + chunk).slice(-4_000)
			const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(printed)?.[1]
			if (port !== undefined) resolve(`http://127.0.0.1:${port}`)
		}
		child.stdout.on('data', read)
		child.stderr.on('data', read)
		gone.then(() => reject(new Error(`Anvil ended before it listened: ${printed}`)), reject)
	})
	const stop = async () => {
		child.stdin.end()
		await gone
	}
	return { ...handOn(url), url, stop }
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
			// With automine the hash may be answered before the block is there. A minute of asking, however long it stood.
			for (let asked = 0; ; asked++) {
				const receipt = await rpc<Receipt | null>('eth_getTransactionReceipt', [txHash])
				if (receipt !== null) return receipt
				if (asked === 6_000) throw new Error(`${txHash} is in no block`)
				await sleep(10)
			}
		},
		balanceWei: async (address, block) => BigInt(await rpc<string>('eth_getBalance', [address, hex(block)])),
		async balancesWei(addresses, block) {
			const calls = addresses.map((address, at) => {
				return { jsonrpc: '2.0', id: at, method: 'eth_getBalance', params: [address, hex(block)] }
			})
			const answers = await askNode<{ id: number; result: string }[]>(url, calls)
			const byId = new Map(answers.map(({ id, result }) => [id, BigInt(result)]))
			return calls.map(({ id }) => {
				const wei = byId.get(id)
				if (wei === undefined) throw new Error(`no balance of ${addresses[id]} in block ${block}`)
				return wei
			})
		},
		code: (address, block) => rpc<string>('eth_getCode', [address, hex(block)]),
		accounts: () => rpc<Address[]>('eth_accounts'),
	}
}

export function hex(number: bigint): string {
	return `0x${number.toString(16)}`
}
