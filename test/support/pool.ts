/** Endpoints of one network on loopback, with a clock that the test moves. */

import { createEndpoints, type Endpoints } from '../../src/chain/endpoints/endpoints.js'
import { createRpc } from '../../src/chain/rpc/rpc.js'
import { RpcError } from '../../src/errors.js'
import type { Log } from '../../src/model/ports.js'
import { type FaultyNode, startFaultyNode } from './faultyNode.js'

export const never = new AbortController().signal
/** Where the clock of a pool starts. */
const startMs = 1_000_000

export interface Pool extends Endpoints {
	readonly nodes: readonly FaultyNode[]
	/** Level, then message; `endpoint` as A, B, C. */
	readonly told: string[]
	/** What it waited for between tries. */
	readonly waits: number[]
	pass(ms: number): void
	nowMs(): number
	/** The letter of the endpoint that answered. */
	ask(need?: { block?: bigint }): Promise<string>
}

/** Nodes A, B, C … in order of preference; waiting moves the clock, and jitter is in the middle. */
export async function openPool(count: number, options: { readonly timeoutMs?: number } = {}): Promise<Pool> {
	const nodes = await Promise.all(Array.from({ length: count }, startFaultyNode))
	for (const node of nodes) {
		node.results.set('test_name', () => letterOf(node.host))
		node.results.set('eth_getBlockByNumber', ([tag]) => headerAt(tag === 'latest' ? node.head : Number(tag)))
	}
	const letterOf = (host: unknown) => String.fromCharCode(65 + nodes.findIndex((node) => node.host === host))
	let nowMs = startMs
	const told: string[] = []
	const tell = (level: string) => (facts: object, message: string) => {
		told.push(`${level} ${letterOf((facts as { endpoint?: string }).endpoint)}: ${message}`)
	}
	const log: Log = { debug() {}, info: tell('info'), warn: tell('warn'), error: tell('error'), child: () => log }
	const waits: number[] = []
	const time = {
		now: () => nowMs,
		random: () => 0.5,
		async wait(ms: number, signal: AbortSignal) {
			signal.throwIfAborted()
			waits.push(ms)
			nowMs += ms
		},
	}
	const retry = count > 1 ? { withinMs: 3_000 } : {}
	const rpcs = nodes.map(({ host }) =>
		createRpc({ url: `http://${host}/secret-key`, timeoutMs: 2_000, retry, ...options, ...time, clock: time.now }),
	)
	const pool = createEndpoints({
		rpcs,
		chainId: 1,
		clock: time.now,
		log,
		...time,
	})
	return {
		...pool,
		nodes,
		told,
		waits,
		nowMs: () => nowMs,
		pass(ms) {
			nowMs += ms
		},
		async close() {
			await pool.close()
			await Promise.all(nodes.map((node) => node.close()))
		},
		async ask(need) {
			return String(await pool.use((rpc) => rpc.call('test_name', [], never), never, need))
		},
	}
}

/** Of the one chain that all of them are on; all old. */
export function headerAt(number: number, fork = 0): object {
	const hashOf = (n: number) => `0x${(fork * 1_000_000_000 + n).toString(16).padStart(64, '0')}`
	const hex = `0x${number.toString(16)}`
	return { number: hex, hash: hashOf(number), parentHash: hashOf(number - 1), timestamp: '0x1', transactions: [] }
}

export function at<T>(list: readonly T[], index: number): T {
	const found = list[index]
	if (found === undefined) throw new RangeError(`nothing at ${index}`)
	return found
}

export async function errorOf(promise: Promise<unknown>): Promise<RpcError> {
	const error = await promise.catch((thrown: unknown) => thrown)
	if (!(error instanceof RpcError)) throw new Error('an RpcError was expected', { cause: error })
	return error
}
