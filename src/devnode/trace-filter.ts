/**
 * `trace_filter` as documented for the embedded node, on top of Anvil's own, which knows no tags and refuses more than
 * 300 blocks (measured with 1.7.1). If both address lists are given, a trace must match either of them.
 */
import { codes, RpcFault } from './jsonrpc.js'
import type { Upstream } from './upstream.js'

/** Blocks per request; Anvil allows `to - from <= 300`. */
const chunkBlocks = 300n

const tags = ['earliest', 'latest', 'safe', 'finalized', 'pending'] as const
type Tag = (typeof tags)[number]

export interface TraceFilter {
	/** Both ends included. */
	readonly fromBlock: Tag | bigint
	readonly toBlock: Tag | bigint
	/** Empty: any address. */
	readonly fromAddress: readonly string[]
	readonly toAddress: readonly string[]
	/** Number of matches to skip. */
	readonly after: number
	/** Maximum number of matches to return; null: all. */
	readonly count: number | null
}

/** A filter in Anvil's format. */
type Chunk = Record<string, unknown>

/** Reads the parameters of `trace_filter`. @throws RpcFault (-32602) that names the field. */
export function readTraceFilter(params: unknown): TraceFilter {
	const [filter, ...more] = Array.isArray(params) ? params : []
	if (typeof filter !== 'object' || filter === null || Array.isArray(filter) || more.length > 0) {
		throw wrong('trace_filter takes one object, in an array')
	}
	const known = ['fromBlock', 'toBlock', 'fromAddress', 'toAddress', 'after', 'count']
	const unknown = Object.keys(filter).find((key) => !known.includes(key))
	if (unknown !== undefined) throw wrong(`unknown field "${unknown}"; there are ${known.join(', ')}`)
	return {
		fromBlock: readBlock('fromBlock', filter.fromBlock ?? 'earliest'),
		toBlock: readBlock('toBlock', filter.toBlock ?? 'latest'),
		fromAddress: readAddresses('fromAddress', filter.fromAddress ?? []),
		toAddress: readAddresses('toAddress', filter.toAddress ?? []),
		after: readAmount('after', filter.after ?? 0),
		count: filter.count === undefined || filter.count === null ? null : readAmount('count', filter.count),
	}
}

/**
 * The requests to Anvil, in order. Their results together are the whole answer if neither `after` nor `count` is set; a
 * single request carries both.
 */
export async function planTraceFilter(filter: TraceFilter, node: Upstream, signal: AbortSignal): Promise<Chunk[]> {
	const head = BigInt((await node.call('eth_blockNumber', [], signal)) as string)
	const resolve = async (block: Tag | bigint) => {
		if (typeof block === 'bigint') return block
		if (block === 'earliest') return 0n
		// Anvil has no traces of pending blocks, so the newest block is used.
		if (block === 'latest' || block === 'pending') return head
		const header = (await node.call('eth_getBlockByNumber', [block, false], signal)) as { number: string } | null
		if (header === null) throw wrong(`the node knows no ${block} block`)
		return BigInt(header.number)
	}
	const from = await resolve(filter.fromBlock)
	const to = await resolve(filter.toBlock)
	if (from > to) throw wrong(`fromBlock ${hex(from)} is after toBlock ${hex(to)}`)

	// Blocks beyond the head have no traces.
	const last = to < head ? to : head
	const lists: Chunk = {}
	if (filter.fromAddress.length > 0) lists.fromAddress = filter.fromAddress
	if (filter.toAddress.length > 0) lists.toAddress = filter.toAddress
	const chunks: Chunk[] = []
	for (let start = from; start <= last; start += chunkBlocks) {
		const end = start + chunkBlocks - 1n
		chunks.push({ fromBlock: hex(start), toBlock: hex(end < last ? end : last), ...lists })
	}
	const [only, ...others] = chunks
	if (only === undefined || others.length > 0) return chunks
	return [{ ...only, after: filter.after, ...(filter.count === null ? {} : { count: filter.count }) }]
}

/** Sends the requests one by one, and stops when `count` is reached. */
export async function gatherTraces(
	{ after, count }: TraceFilter,
	chunks: readonly Chunk[],
	node: Upstream,
	signal: AbortSignal,
): Promise<unknown[]> {
	const traces: unknown[] = []
	const enough = count === null ? Infinity : after + count
	for (const chunk of chunks) {
		if (traces.length >= enough) break
		for (const trace of (await node.call('trace_filter', [chunk], signal)) as unknown[]) traces.push(trace)
	}
	return traces.slice(after, enough)
}

function readBlock(field: string, value: unknown): Tag | bigint {
	const tag = tags.find((known) => known === value)
	if (tag !== undefined) return tag
	if (typeof value === 'string' && /^0x[0-9a-f]{1,16}$/i.test(value)) return BigInt(value)
	throw wrong(`${field} must be a 0x-hex block number or one of ${tags.join(', ')}, not ${JSON.stringify(value)}`)
}

function readAddresses(field: string, value: unknown): string[] {
	if (!Array.isArray(value)) throw wrong(`${field} must be an array of addresses`)
	for (const address of value) {
		if (typeof address === 'string' && /^0x[0-9a-f]{40}$/i.test(address)) continue
		throw wrong(`${field}: ${JSON.stringify(address)} is not an address (0x and 40 hex digits)`)
	}
	return value
}

function readAmount(field: string, value: unknown): number {
	if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
	throw wrong(`${field} must be a whole number of at least 0, not ${JSON.stringify(value)}`)
}

function wrong(why: string) {
	return new RpcFault(codes.invalidParams, `Invalid params: ${why}`)
}

function hex(number: bigint): string {
	return `0x${number.toString(16)}`
}
