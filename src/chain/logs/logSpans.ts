import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { controlTopics } from '../../core/events/controlLogs.js'
import { mayIndexNothing, topics } from '../../core/events/tokenLogs.js'
import { firstOf, lengthOf } from '../../core/spans.js'
import { RpcError } from '../../errors.js'
import type { AddressSet, Span } from '../../model/chain.js'
import type { Address, Hash, Hex } from '../../model/glossary.js'
import type { KnownTokens } from '../../model/token.js'
import { askAll } from '../blocks/batchedCalls.js'
import { afterAnswer, afterRefusal, type Bounds } from '../limits/spanSize.js'
import type { Rpc } from '../rpc/rpc.js'
import { hexOf, malformed, type Reading } from '../wire/wire.js'
import { topicOf } from './proofs/bloom.js'
import { type Log, readLogs } from './proofs/wireLogs.js'

const METHOD = 'eth_getLogs'
/** The span size is learnt in the same way as that of the trace sources. */
const BOUNDS: Bounds = { first: 100, most: 10_000 }

interface Question {
	readonly span: Span
	readonly addresses: AddressSet
	/** Contracts whose own logs are read. */
	readonly contracts: ReadonlySet<Address>
	readonly known: KnownTokens
}

/**
 * The logs of a span that may move a token of the addresses, or tell who rules the contracts, as an endpoint finds
 * them: asked for by topics, in as many requests as needed. Logs that the endpoint leaves out cannot be noticed here.
 * Throws RpcError.
 */
export async function readLogSpan(
	rpc: Rpc,
	{ span, addresses, contracts, known }: Question,
	signal: AbortSignal,
): Promise<readonly Log[]> {
	const reading: Reading = { endpoint: rpc.endpoint, method: METHOD }
	const logs = new Map<string, Log>()
	for (let next = span.from; next <= span.to; ) {
		const size = rpc.limits.spanSize(METHOD, BOUNDS)
		const piece = firstOf({ from: next, to: span.to }, size.blocks)
		const asked = Number(lengthOf(piece))
		try {
			let rows = 0
			for (const list of listsOf(addresses, rpc.limits.list.now())) {
				for (const answer of await askFor(rpc, { piece, list, filtersOf: tokenFilters }, signal)) {
					rows += Array.isArray(answer) ? answer.length : 0
					await keep(answer, piece)
				}
			}
			for (const list of listsOf(contracts, rpc.limits.list.now())) {
				for (const answer of await askFor(rpc, { piece, list, filtersOf: controlFilters }, signal))
					await keep(answer, piece)
			}
			for (const filter of addresses.size === 0 ? [] : unindexedFilters(known)) {
				const [answer] = await askAll(rpc, [{ method: METHOD, params: [withRange(filter, piece)] }], signal)
				await keep(answer, piece)
			}
			rpc.limits.setSpanSize(METHOD, afterAnswer(rpc.limits.spanSize(METHOD, BOUNDS), asked, rows, BOUNDS))
			next = piece.to + 1n
		} catch (error) {
			if (!(error instanceof RpcError) || !isTooMuch(error) || asked === 1) throw error
			rpc.limits.setSpanSize(METHOD, afterRefusal(size, asked, error.facts.limit))
		}
	}
	return [...logs.values()]

	async function keep(answer: unknown, piece: Span): Promise<void> {
		for (const log of await readLogs(answer, reading)) {
			if (isSliceOver()) await nextSlice()
			// Reth before 1.9 answers a range beyond its head with the newest block's logs (reth#18098).
			if (log.block.number < piece.from || log.block.number > piece.to) {
				throw malformed(reading, `a log is of block ${log.block.number}, which was not asked for`)
			}
			logs.set(`${log.block.hash}:${log.txHash}:${log.index}`, log)
		}
	}
}

/** Halves the list of addresses where it was too long. */
async function askFor(
	rpc: Rpc,
	{
		piece: span,
		list,
		filtersOf,
	}: {
		readonly piece: Span
		readonly list: readonly Address[]
		readonly filtersOf: (list: readonly Address[]) => readonly Filter[]
	},
	signal: AbortSignal,
): Promise<readonly unknown[]> {
	try {
		const calls = filtersOf(list).map((filter) => ({ method: METHOD, params: [withRange(filter, span)] }))
		return await askAll(rpc, calls, signal)
	} catch (error) {
		if (!(error instanceof RpcError) || list.length === 1 || !isTheList(error, span)) throw error
		const half = Math.ceil(list.length / 2)
		rpc.limits.list.learn(half)
		const first = await askFor(rpc, { piece: span, list: list.slice(0, half), filtersOf }, signal)
		return [...first, ...(await askFor(rpc, { piece: span, list: list.slice(half), filtersOf }, signal))]
	}
}

interface Filter {
	readonly address?: readonly Address[]
	readonly topics: readonly (readonly Hex[] | null)[]
}

/** From, to, and the recipient of ERC-1155, which is one topic further on. */
function tokenFilters(list: readonly Address[]): readonly Filter[] {
	const parties = list.map(topicOf)
	const { transfer, single, batch, deposit, withdrawal } = topics
	return [
		{ topics: [[transfer, deposit, withdrawal], parties] },
		{ topics: [[transfer, single, batch], null, parties] },
		{ topics: [[single, batch], null, null, parties] },
	]
}

function controlFilters(list: readonly Address[]): readonly Filter[] {
	return [{ address: list, topics: [[...controlTopics]] }]
}

function unindexedFilters(known: KnownTokens): readonly Filter[] {
	const address = [...known.values()].flatMap((token) => (mayIndexNothing(token) ? [token.address] : []))
	return address.length === 0 ? [] : [{ address, topics: [[topics.transfer]] }]
}

function withRange(filter: Filter, { from, to }: Span): object {
	return { fromBlock: hexOf(from), toBlock: hexOf(to), ...filter }
}

function* listsOf(addresses: Pick<AddressSet, 'keys'>, size: number): Generator<readonly Address[]> {
	let list: Address[] = []
	const keys = addresses.keys()
	for (let next = keys.next(); next.done !== true; next = keys.next()) {
		list.push(next.value)
		if (list.length < size) continue
		yield list
		list = []
	}
	if (list.length > 0) yield list
}

/** Topics of a log that can be addresses. */
export function partiesOf({ topics: [, ...rest] }: { readonly topics: readonly Hash[] }): readonly Address[] {
	return rest.flatMap((topic) => (topic.startsWith(`0x${'0'.repeat(24)}`) ? [`0x${topic.slice(26)}` as Address] : []))
}

function isTooMuch({ kind }: RpcError): boolean {
	return kind === 'too-large' || kind === 'timeout'
}

function isTheList({ kind, facts, message }: RpcError, span: Span): boolean {
	if (/\btopics?\b|addresses/i.test(message) && (kind === 'too-large' || kind === 'bad-params')) return true
	return kind === 'too-large' && (span.from === span.to || facts.status === 413)
}
