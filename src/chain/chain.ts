import { firstOf, lengthOf, restOf } from '../core/spans.js'
import { RpcError } from '../errors.js'
import type { AddressSet, Block, BlockRef, Chain, Hash, Head, Log, Part, Span } from '../model.js'
import { afterAnswer, afterRefusal, type Pace, startPace } from './pace.js'
import type { Rpc } from './rpc.js'
import { askAll, blockCall, needBlock } from './sources/ask.js'
import { traceFilterSource } from './sources/traceFilter.js'
import { isObject, readBlock, readBlockAt, readReceipt } from './wire.js'

/** Endpoints in order of preference; `use` gives a job to the first that is able, and to the next when it fails. */
export interface EndpointsPort {
	use<T>(job: (rpc: Rpc) => Promise<T>, signal: AbortSignal, need?: { readonly block?: bigint }): Promise<T>
	close(): Promise<void>
}

export interface ChainOptions {
	readonly endpoints: EndpointsPort
	readonly log: Log
}

/** Blocks in the first request: what the strictest node known (Reth) takes. */
const FIRST_BLOCKS = 100
const MOST_BLOCKS = 10_000

export function createChain({ endpoints, log }: ChainOptions): Chain {
	const paces = new Map<string, Pace>()
	const unknown = new Set<string>()
	const source = traceFilterSource({
		onUnknown(type) {
			if (unknown.has(type)) return
			unknown.add(type)
			log.warn({ type }, 'a node told of a kind of trace that is not known; it is taken to move nothing')
		},
	})

	/** Reads the first blocks of a span, as many as the endpoint bears. */
	async function readFirst(rpc: Rpc, span: Span, addresses: AddressSet, signal: AbortSignal): Promise<Part> {
		for (;;) {
			const pace = paces.get(rpc.endpoint) ?? startPace(FIRST_BLOCKS)
			const piece = addresses.size === 0 ? span : firstOf(span, pace.blocks)
			const asked = Number(lengthOf(piece))
			try {
				const part =
					addresses.size === 0
						? await headerOnly(rpc, piece, signal)
						: await source.read({ rpc, span: piece, addresses, last: null }, signal)
				paces.set(rpc.endpoint, afterAnswer(pace, asked, MOST_BLOCKS))
				return part
			} catch (error) {
				if (!isTooMuch(error) || asked === 1) throw error
				const next = afterRefusal(pace, asked, error.facts.limit)
				paces.set(rpc.endpoint, next)
				log.debug({ endpoint: rpc.endpoint, asked, next: next.blocks }, 'asking for fewer blocks at once')
			}
		}
	}

	return {
		async head(signal) {
			return endpoints.use((rpc) => readHead(rpc, signal), signal)
		},
		async block(number, signal) {
			return endpoints.use((rpc) => readBlockOf(rpc, number, signal), signal)
		},
		async locate(txHash, signal) {
			return endpoints.use((rpc) => locateAt(rpc, txHash, signal), signal)
		},
		async *walk(span, addresses, signal) {
			for (let rest: Span | null = span; rest !== null; ) {
				const todo: Span = rest
				const part: Part = await endpoints.use((rpc) => readFirst(rpc, todo, addresses, signal), signal, {
					block: todo.to,
				})
				yield part
				rest = restOf(todo, part.span.to)
			}
		},
		async close() {
			await endpoints.close()
		},
	}
}

/** Tags of settled blocks that nodes know; null where one does not. */
async function readHead(rpc: Rpc, signal: AbortSignal): Promise<Head> {
	const method = 'eth_getBlockByNumber'
	const tags = ['latest', 'safe', 'finalized']
	const [latest, safe, finalized] = await rpc.batch(
		tags.map((tag) => ({ method, params: [tag, false] })),
		signal,
	)
	if (latest instanceof RpcError) throw latest
	const reading = { endpoint: rpc.endpoint, method }
	const block = readBlock(latest, reading)
	if (block === null) throw new RpcError(`${rpc.endpoint} has no head`, { kind: 'no-data', ...reading })
	const numberOf = (raw: unknown) =>
		raw instanceof RpcError || !isObject(raw) ? null : (readBlock(raw, reading)?.number ?? null)
	return { latest: block, safe: numberOf(safe), finalized: numberOf(finalized) }
}

async function readBlockOf(rpc: Rpc, number: bigint, signal: AbortSignal): Promise<Block | null> {
	const { method, params } = blockCall(number)
	return readBlockAt(await rpc.call(method, params, signal), number, { endpoint: rpc.endpoint, method })
}

async function locateAt(rpc: Rpc, txHash: Hash, signal: AbortSignal): Promise<BlockRef | null> {
	const method = 'eth_getTransactionReceipt'
	const raw = await rpc.call(method, [txHash], signal)
	return readReceipt(raw, { endpoint: rpc.endpoint, method })?.block ?? null
}

async function headerOnly(rpc: Rpc, span: Span, signal: AbortSignal): Promise<Part> {
	const [raw] = await askAll(rpc, [blockCall(span.to)], signal)
	return { span, last: needBlock(raw, span.to, rpc.endpoint), blocks: new Map(), transactions: [] }
}

function isTooMuch(error: unknown): error is RpcError {
	return error instanceof RpcError && (error.kind === 'too-large' || error.kind === 'timeout')
}
