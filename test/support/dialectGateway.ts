/**
 * Speaks the dialects of other nodes in front of an Anvil, on loopback. Each option is one thing that some node or
 * provider does, and the default is what Anvil does itself.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { askNode } from './askNode.js'
import { accessListOf } from './dialectAccessLists.js'
import { bendFilterCall, bendRows, filterRows, rewardOf } from './dialectRows.js'
import { bendTraces } from './dialectTraces.js'
import { orCut } from './orCut.js'

export interface Dialect {
	readonly clientVersion?: string
	/** What two lists in one question mean. */
	readonly lists?: 'either' | 'both'
	/** Unknown fields in a filter are errors (Reth), or are not looked at. */
	readonly tags?: 'refused' | 'known'
	/** `blocks`: most that one question may span, both ends counted. */
	readonly range?: {
		readonly blocks: number
		readonly code: number
		readonly message: string
		readonly status?: number
	}
	/** Addresses in one list; more are a body too large (413). */
	readonly mostAddresses?: number
	/** A range that ends beyond the head: Erigon answers nothing at all, Reth an error, Anvil what there is. */
	readonly beyondHead?: 'nothing' | 'refused' | 'partial'
	/** op-reth 1.9: one block alone gives nothing. */
	readonly falseEmpty?: 'single' | 'always'
	/** Frames that an address list does not find (Besu: suicides and creations). */
	readonly blindTo?: readonly ('suicide' | 'create')[]
	/** Rows of self-destructs have heir and balance 0x0, and a filter finds them by these. */
	readonly blankEnds?: boolean
	readonly ignoresLists?: boolean
	/** Erigon before August 2026: an error object among the rows, in this many answers. */
	readonly errorsInside?: number
	readonly numbers?: 'hex' | 'decimal'
	readonly checksums?: boolean
	readonly shuffled?: boolean
	readonly failedResult?: 'absent' | 'null'
	readonly creation?: 'unsaid' | 'as type' | 'all of the transaction'
	/** A row for each block: fields of a transaction null or absent, nothing paid or 2 coins that no one pays. */
	readonly rewards?: { readonly fields: 'null' | 'absent'; readonly valueWei: bigint; readonly author: string }
	/** Blocks look mined, so that their rewards are paid. */
	readonly mined?: boolean
	readonly ots?: null | number | 'unimplemented'
	/** Methods that are not there. */
	readonly lacks?: readonly string[]
	/** How `debug_traceBlockByNumber` comes: geth's wrapper, without hashes, without wrapper. */
	readonly traces?: 'wrapped' | 'without hashes' | 'bare'
	readonly tracers?: readonly ('callTracer' | 'flatCallTracer')[]
	/** `safe` and `finalized` are not known: null, or an error like Nethermind's. */
	readonly noTags?: 'null' | 'error'
	/** Calls in one HTTP request; 1: no batches. */
	readonly batch?: number
	/** Headers name access lists (EIP-7928), which are given; they are made of what Anvil traces. */
	readonly accessLists?: boolean
	/** Receipts that are null at first, as when the node has not indexed the block yet. */
	readonly lateReceipts?: number
	/** The last word: what is answered instead, or will be; `undefined` leaves it. */
	readonly twist?: (method: string, params: readonly unknown[], result: unknown) => unknown
}

export interface DialectGateway {
	readonly url: string
	/** Calls so far, by method. */
	count(method: string): number
	/** Parameters of all calls of a method so far. */
	asked(method: string): readonly (readonly unknown[])[]
	/** Of all methods. */
	total(): number
	/** Filters of all `trace_filter` calls so far. */
	readonly filters: readonly object[]
	dialect: Dialect
	close(): Promise<void>
}

export interface GatewayCall {
	readonly id: unknown
	readonly method: string
	readonly params: readonly unknown[]
}

export interface Refusal {
	readonly error: { readonly code: number; readonly message: string }
	readonly status?: number
}

/** Asks the Anvil behind. */
export type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>

/** What Anvil has answered, for tests on a chain that does not change. */
export type Answers = Map<string, Promise<unknown>>

export async function startDialectGateway(
	anvilUrl: string,
	dialect: Dialect,
	answers?: Answers,
): Promise<DialectGateway> {
	const calls: GatewayCall[] = []
	const ask: Ask = (method, params) => {
		const key = JSON.stringify([method, params])
		const known = answers?.get(key)
		if (known !== undefined) return known
		const asked = askAnvil(method, params)
		answers?.set(key, asked)
		return asked
	}
	const askAnvil: Ask = async (method, params) => {
		const call = { jsonrpc: '2.0', id: 1, method, params }
		const { result, error } = await askNode<{ result?: unknown; error?: Refusal['error'] }>(anvilUrl, call)
		if (error !== undefined) throw new Refused({ error })
		return result
	}
	const gateway: DialectGateway & { errorsLeft: number; lateLeft: number } = {
		url: '',
		dialect,
		errorsLeft: dialect.errorsInside ?? 0,
		lateLeft: dialect.lateReceipts ?? 0,
		count: (method) => calls.filter((call) => call.method === method).length,
		asked: (method) => calls.filter((call) => call.method === method).map(({ params }) => params),
		total: () => calls.length,
		get filters() {
			return calls.filter(({ method }) => method === 'trace_filter').map(({ params }) => params[0] as object)
		},
		async close() {
			server.closeAllConnections()
			server.close()
			await once(server, 'close')
		},
	}

	async function answer(call: GatewayCall): Promise<unknown> {
		calls.push(call)
		const { id, method, params } = call
		try {
			const result = await resultOf(method, params)
			const twisted = await gateway.dialect.twist?.(method, params, result)
			return { jsonrpc: '2.0', id, result: (twisted === undefined ? result : twisted) ?? null }
		} catch (error) {
			if (!(error instanceof Refused)) throw error
			return { jsonrpc: '2.0', id, ...error.refusal }
		}
	}

	async function resultOf(method: string, params: readonly unknown[]): Promise<unknown> {
		const now = gateway.dialect
		if (now.lacks?.includes(method)) throw new Refused(notThere(method))
		switch (method) {
			case 'web3_clientVersion':
				return now.clientVersion ?? ask(method, params)
			case 'ots_getApiLevel':
				if (now.ots === null) throw new Refused(notThere(method))
				return typeof now.ots === 'number' ? now.ots : 8
			case 'eth_getBlockByNumber':
				return bendHeader(now, params, ask)
			case 'eth_getTransactionReceipt':
			case 'eth_getBlockReceipts':
				if (gateway.lateLeft > 0) gateway.lateLeft -= 1
				else return ask(method, params)
				return null
			case 'trace_block': {
				const rows = (await ask(method, params)) as object[]
				return bendRows(now, [...rows, ...(await rewardOf(now, Number(params[0]), ask))])
			}
			case 'trace_transaction':
				return bendRows(now, (await ask(method, params)) as object[])
			case 'trace_filter': {
				if (gateway.errorsLeft > 0) {
					gateway.errorsLeft -= 1
					return [{ error: { code: -32000, message: 'first run for txIndex 0 error: nonce too high' } }]
				}
				const bent = bendFilterCall(now, params[0] as object, BigInt((await ask('eth_blockNumber', [])) as string))
				return bent === null ? [] : bendRows(now, await filterRows(now, bent, ask))
			}
			case 'eth_getBlockAccessList':
				if (now.accessLists !== true) throw new Refused(notThere(method))
				return (await accessListOf(params[0], ask)).list
			case 'debug_traceBlockByNumber':
				return bendTraces(now, params, ask)
			default:
				if (method.startsWith('ots_') && (now.ots === null || now.ots === 'unimplemented')) {
					throw new Refused({ error: { code: -32603, message: 'unimplemented' } })
				}
				return ask(method, params)
		}
	}

	const server = createServer((request, response) => {
		const chunks: Buffer[] = []
		request.on('data', (chunk: Buffer) => chunks.push(chunk))
		const answerAll = async () => {
			const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as GatewayCall | GatewayCall[]
			const most = gateway.dialect.batch ?? 1_000
			const send = (value: unknown, status = 200) =>
				response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
			if (Array.isArray(body) && body.length > most) {
				const message = most === 1 ? 'batches are not supported' : `Batch of more than ${most} requests are not allowed`
				send({ jsonrpc: '2.0', id: null, error: { code: 31, message } })
				return
			}
			const answers = await Promise.all((Array.isArray(body) ? body : [body]).map(answer))
			const status = answers.map((one) => (one as Refusal).status).find((one) => one !== undefined)
			send(Array.isArray(body) ? answers : answers[0], status)
		}
		request.on('end', () => orCut(response, answerAll()))
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	return Object.assign(gateway, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

export class Refused extends Error {
	readonly refusal: Refusal

	constructor(refusal: Refusal) {
		super(refusal.error.message)
		this.refusal = refusal
	}
}

function notThere(method: string): Refusal {
	return { error: { code: -32601, message: `the method ${method} does not exist/is not available` } }
}

async function bendHeader(dialect: Dialect, params: readonly unknown[], ask: Ask): Promise<unknown> {
	const isTag = params[0] === 'safe' || params[0] === 'finalized'
	if (isTag && dialect.noTags === 'null') return null
	if (isTag && dialect.noTags === 'error') {
		throw new Refused({ error: { code: -39001, message: 'Unknown block error' } })
	}
	const told = (await ask('eth_getBlockByNumber', params)) as { readonly hash: string } | null
	const lists = told !== null && dialect.accessLists === true ? await accessListOf(told.hash, ask) : null
	const header = lists === null ? told : { ...told, blockAccessListHash: lists.hash }
	return header !== null && dialect.mined === true ? { ...header, difficulty: '0x20000' } : header
}
