import { DeadlinePassed, withDeadline } from '../base/deadline.js'
import { firstOf, lengthOf, restOf } from '../core/spans.js'
import { RpcError } from '../errors.js'
import type { AddressSet, Block, BlockRef, Head, Part, Span } from '../model/chain.js'
import type { Clock, Hash } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { Capabilities } from './capabilities/capabilities.js'
import { probeSettingOf } from './capabilities/choice.js'
import type { SourceSetting } from './capabilities/probe.js'
import { createCapabilitiesRegistry } from './capabilities/registry.js'
import type { Endpoints } from './endpoints/endpoints.js'
import { fullLevel, readCreator, readFailureData } from './ots.js'
import { inOrder, type Job } from './prefetch.js'
import { createReader } from './reader.js'
import type { Rpc } from './rpc/rpc.js'
import { blockCall, needBlock } from './sources/ask.js'
import { readTransaction } from './transaction.js'
import { type Header, isObject, readBlock, readBlockAt, readReceipt } from './wire.js'

export interface ChainOptions {
	readonly endpoints: Pick<Endpoints, 'use' | 'close'>
	/** Default: what each endpoint is seen to do best. */
	readonly source?: SourceSetting
	/** Whole blocks only, and no question about one address or transaction. Default: false. */
	readonly isPrivate?: boolean
	/** Default: the wall clock. */
	readonly clock?: Clock
	readonly log: Log
}

/** An alert waits no longer for the confirmation of a creator; a node that was slower is not asked again for a while. */
const CREATOR_MS = 250
const CREATOR_REST_MS = 600_000
const FIRST_BLOCKS = 100
const MOST_BLOCKS = 10_000
/** Answers that may wait in memory, or be on their way. */
const MOST_AHEAD = 3
/** After a timeout the same is asked again, for fewer blocks. */
const SMALLER_TRIES = 2

export function createChain(options: ChainOptions): Chain {
	const { endpoints, source = 'auto', isPrivate = false, clock = Date.now, log } = options
	const registry = createCapabilitiesRegistry({ setting: probeSettingOf({ setting: source, isPrivate }), clock, log })
	const reader = createReader({ setting: source, isPrivate, registry, log })
	/** The newest header that each endpoint has told. */
	const newest = new WeakMap<Rpc, Header>()
	let head = 0n
	let creatorsRestUntilMs = 0
	/** Pieces under way at a time, and their blocks: little until the endpoint has shown what it bears. */
	let width = 1
	let pieceBlocks = FIRST_BLOCKS

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

	/** A whole piece, in as many parts as the endpoint makes of it. Learns how much may be asked ahead. */
	async function readPiece(piece: Span, addresses: AddressSet, signal: AbortSignal): Promise<readonly Part[]> {
		const parts: Part[] = []
		try {
			for (let rest: Span | null = piece; rest !== null; ) {
				const part: Part = await readFirst(rest, addresses, signal)
				parts.push(part)
				rest = restOf(rest, part.span.to)
			}
		} catch (error) {
			if (!signal.aborted) width = 1
			throw error
		}
		width = Math.min(MOST_AHEAD, width + 1)
		// As the endpoint bears it: a piece that came in one part may be longer next time; a short one says nothing.
		const length = Number(lengthOf(parts[0]?.span ?? piece))
		if (parts.length > 1) pieceBlocks = length
		else if (length >= pieceBlocks) pieceBlocks = Math.min(MOST_BLOCKS, pieceBlocks * 2)
		return parts
	}

	return {
		async head(signal) {
			return endpoints.use(async (rpc) => {
				const told = await readHead(rpc, registry.known(rpc), signal)
				newest.set(rpc, told.latest)
				head = told.latest.number
				return told
			}, signal)
		},
		async block(number, signal) {
			return endpoints.use((rpc) => readBlockOf(rpc, number, signal), signal)
		},
		async locate(txHash, signal) {
			// Unasked, it is in no block: withdrawn now, and told again when its block is looked at.
			if (isPrivate) return null
			return endpoints.use((rpc) => locateAt(rpc, txHash, signal), signal)
		},
		async transaction(txHash, signal) {
			return endpoints.use(async (rpc) => {
				const capabilities = await registry.of(rpc, signal)
				const found = await readTransaction(rpc, txHash, capabilities, signal)
				if (found === null) return null
				const mayTell = found.trace.succeeded === false && (capabilities.otsLevel ?? 0) >= fullLevel
				return { ...found, failureData: mayTell ? await readFailureData(rpc, txHash, signal) : null }
			}, signal)
		},
		async creator(contract, signal) {
			if (isPrivate || clock() < creatorsRestUntilMs) return null
			try {
				// Some nodes search their history for it.
				return await withDeadline(
					CREATOR_MS,
					(limited) => endpoints.use((rpc) => creatorAt(rpc, limited), limited),
					signal,
				)
			} catch (error) {
				signal.throwIfAborted()
				if (error instanceof DeadlinePassed) creatorsRestUntilMs = clock() + CREATOR_REST_MS
				return null
			}

			async function creatorAt(rpc: Rpc, limited: AbortSignal) {
				// As far as it is known: to ask what an endpoint can do takes longer than this may.
				const otsLevel = registry.known(rpc)?.otsLevel ?? 0
				return otsLevel >= fullLevel ? readCreator(rpc, contract, limited) : null
			}
		},
		async *walk(span, addresses, signal) {
			function* pieces(): Generator<Job<readonly Part[]>> {
				for (let rest: Span | null = span; rest !== null; ) {
					const piece: Span = firstOf(rest, pieceBlocks)
					yield (limited) => readPiece(piece, addresses, limited)
					rest = restOf(rest, piece.to)
				}
			}
			let before: BlockRef | null = null
			for await (const parts of inOrder(pieces(), { width: () => width, signal })) {
				for (const part of parts) {
					if (before !== null) checkFollows(part, before)
					before = part.last
					yield part
				}
			}
		},
		async close() {
			await endpoints.close()
		},
	}
}

/** Parts are read one after the other, or by several endpoints: they must be of one chain. */
function checkFollows({ span, parentHash }: Part, before: BlockRef): void {
	if (parentHash === undefined || parentHash === before.hash) return
	throw new RpcError(`The chain changed while it was read: block ${span.from} does not follow block ${before.number}`, {
		kind: 'unsettled',
		endpoint: '',
	})
}

interface ToldHead extends Head {
	readonly latest: Header
}

/** The head, and what its tags say where the endpoint is known to have them or not known at all. */
async function readHead(rpc: Rpc, capabilities: Capabilities | null, signal: AbortSignal): Promise<ToldHead> {
	const reading = { endpoint: rpc.endpoint, method: 'eth_getBlockByNumber' }
	const asks = { safe: capabilities?.safeTag ?? true, finalized: capabilities?.finalizedTag ?? true }
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
