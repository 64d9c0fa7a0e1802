import { restOf } from '../core/spans.js'
import { RpcError } from '../errors.js'
import type { AddressSet, Block, BlockRef, Chain, Clock, Hash, Head, Log, Part, Span } from '../model.js'
import { withDeadline } from './deadline.js'
import type { Dialect } from './dialect.js'
import { createDialects } from './dialects.js'
import type { Endpoints } from './endpoints.js'
import { fullLevel, readCreator, readFailureData } from './ots.js'
import type { SourceSetting } from './probe.js'
import { createReader } from './reader.js'
import type { Rpc } from './rpc.js'
import { blockCall, needBlock } from './sources/ask.js'
import { readTransaction } from './transaction.js'
import { type Header, isObject, readBlock, readBlockAt, readReceipt } from './wire.js'

export interface ChainOptions {
	readonly endpoints: Pick<Endpoints, 'use' | 'close'>
	/** Default: what each endpoint is seen to do best. */
	readonly source?: SourceSetting
	/** Default: the wall clock. */
	readonly clock?: Clock
	readonly log: Log
}

const CREATOR_MS = 3_000
/** After a timeout the same is asked again, for fewer blocks. */
const SMALLER_TRIES = 2

export function createChain({ endpoints, source = 'auto', clock = Date.now, log }: ChainOptions): Chain {
	const dialects = createDialects({ setting: source, clock, log })
	const reader = createReader({ setting: source, dialects, log })
	/** The newest header that each endpoint has told. */
	const newest = new WeakMap<Rpc, Header>()
	let head = 0n

	async function readPart(rpc: Rpc, span: Span, addresses: AddressSet, signal: AbortSignal): Promise<Part> {
		if (addresses.size === 0) return headerOnly(rpc, span, signal)
		try {
			const question = { span, addresses, newest: newest.get(rpc) ?? null, head }
			return await reader.readFirst(rpc, question, signal)
		} catch (error) {
			// What it has told may be what is not true any more.
			if (error instanceof RpcError && error.kind === 'unsettled') newest.delete(rpc)
			throw error
		}
	}

	async function readFirst(span: Span, addresses: AddressSet, signal: AbortSignal): Promise<Part> {
		for (let tries = 0; ; tries++) {
			try {
				const need = { block: span.to }
				return await endpoints.use((rpc) => readPart(rpc, span, addresses, signal), signal, need)
			} catch (error) {
				const isSlow = error instanceof RpcError && error.kind === 'timeout' && span.to > span.from
				if (!isSlow || tries === SMALLER_TRIES) throw error
			}
		}
	}

	return {
		async head(signal) {
			return endpoints.use(async (rpc) => {
				const told = await readHead(rpc, dialects.known(rpc), signal)
				newest.set(rpc, told.latest)
				head = told.latest.number
				return told
			}, signal)
		},
		async block(number, signal) {
			return endpoints.use((rpc) => readBlockOf(rpc, number, signal), signal)
		},
		async locate(txHash, signal) {
			return endpoints.use((rpc) => locateAt(rpc, txHash, signal), signal)
		},
		async transaction(txHash, signal) {
			return endpoints.use(async (rpc) => {
				const dialect = await dialects.of(rpc, signal)
				const found = await readTransaction(rpc, txHash, dialect, signal)
				if (found === null) return null
				const mayTell = found.trace.succeeded === false && (dialect.otsLevel ?? 0) >= fullLevel
				return { ...found, failureData: mayTell ? await readFailureData(rpc, txHash, signal) : null }
			}, signal)
		},
		async creator(contract, signal) {
			try {
				// Some nodes search their history for it; the alert does not wait for that.
				return await withDeadline(
					CREATOR_MS,
					(limited) => endpoints.use((rpc) => creatorAt(rpc, limited), limited),
					signal,
				)
			} catch {
				signal.throwIfAborted()
				return null
			}

			async function creatorAt(rpc: Rpc, limited: AbortSignal) {
				const { otsLevel } = await dialects.of(rpc, limited)
				return (otsLevel ?? 0) >= fullLevel ? readCreator(rpc, contract, limited) : null
			}
		},
		async *walk(span, addresses, signal) {
			for (let rest: Span | null = span; rest !== null; ) {
				const part: Part = await readFirst(rest, addresses, signal)
				yield part
				rest = restOf(rest, part.span.to)
			}
		},
		async close() {
			await endpoints.close()
		},
	}
}

interface ToldHead extends Head {
	readonly latest: Header
}

/** The head, and what its tags say where the endpoint is known to have them or not known at all. */
async function readHead(rpc: Rpc, dialect: Dialect | null, signal: AbortSignal): Promise<ToldHead> {
	const reading = { endpoint: rpc.endpoint, method: 'eth_getBlockByNumber' }
	const asks = { safe: dialect?.safeTag ?? true, finalized: dialect?.finalizedTag ?? true }
	const tags = ['latest', ...(asks.safe ? ['safe'] : []), ...(asks.finalized ? ['finalized'] : [])]
	const calls = tags.map((tag) => ({ method: reading.method, params: [tag, false] }))
	const answers = await rpc.batch(calls, signal)
	const blockBy = (tag: string): Header | null => {
		const answer = answers[tags.indexOf(tag)]
		if (answer instanceof RpcError && (tag === 'latest' || !isAboutTag(answer))) throw answer
		return isObject(answer) && !(answer instanceof RpcError) ? readBlock(answer, reading) : null
	}
	const latest = blockBy('latest')
	if (latest === null) throw new RpcError(`${rpc.endpoint} has no head`, { kind: 'no-data', ...reading })
	return { latest, safe: blockBy('safe')?.number ?? null, finalized: blockBy('finalized')?.number ?? null }
}

/** Nodes without a tag say so in many ways: Nethermind with -39001, geth and Erigon with "finalized block not found". */
function isAboutTag({ kind, facts }: RpcError): boolean {
	return (
		kind === 'no-data' ||
		kind === 'bad-params' ||
		kind === 'unsupported' ||
		(kind === 'server' && (facts.status ?? 500) < 500)
	)
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
	const { method, params } = blockCall(span.to)
	const last = needBlock(await rpc.call(method, params, signal), span.to, rpc.endpoint)
	return { span, last, blocks: new Map(), transactions: [] }
}
