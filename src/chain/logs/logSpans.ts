import { createTimeSlices } from '../../base/timeSlices.js'
import { firstOf, lengthOf } from '../../core/spans.js'
import { topics } from '../../core/tokenLogs.js'
import { RpcError } from '../../errors.js'
import type { AddressSet, Span } from '../../model/chain.js'
import type { Address, Hash, Hex } from '../../model/glossary.js'
import type { KnownTokens } from '../../model/token.js'
import { afterAnswer, afterRefusal, type Bounds } from '../endpoints/spanSize.js'
import type { Rpc } from '../rpc/rpc.js'
import { askAll } from '../sources/ask.js'
import { hexOf, malformed, type Reading } from '../wire.js'
import { topicOf } from './bloom.js'
import { type Log, readLogs } from './wireLogs.js'

const METHOD = 'eth_getLogs'
/** Its size is learnt as that of the sources of traces is. */
const BOUNDS: Bounds = { first: 100, most: 10_000 }

interface Question {
	readonly span: Span
	readonly addresses: AddressSet
	readonly known: KnownTokens
}

/**
 * The logs of a span that may tell of a token of the addresses, as an endpoint finds them: asked for by topics, in as
 * many questions as it needs. What it leaves out cannot be seen here. Throws RpcError.
 */
export async function readLogSpan(
	rpc: Rpc,
	{ span, addresses, known }: Question,
	signal: AbortSignal,
): Promise<readonly Log[]> {
	const reading: Reading = { endpoint: rpc.endpoint, method: METHOD }
	const logs = new Map<string, Log>()
	const slices = createTimeSlices()
	for (let next = span.from; next <= span.to; ) {
		const size = rpc.limits.spanSize(METHOD, BOUNDS)
		const piece = firstOf({ from: next, to: span.to }, size.blocks)
		const asked = Number(lengthOf(piece))
		try {
			let rows = 0
			for (const list of listsOf(addresses, rpc.limits.list.now())) {
				for (const answer of await askFor(rpc, piece, list, signal)) {
					rows += Array.isArray(answer) ? answer.length : 0
					await keep(answer, piece)
				}
			}
			for (const filter of unindexedFilters(known)) {
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
		for (const log of await readLogs(answer, reading, slices)) {
			if (slices.isOver()) await slices.next()
			// Reth before 1.9 puts the newest block's logs in the place of a range beyond its head (reth#18098).
			if (log.block.number < piece.from || log.block.number > piece.to) {
				throw malformed(reading, `a log is of block ${log.block.number}, which was not asked for`)
			}
			logs.set(`${log.block.hash}:${log.txHash}:${log.index}`, log)
		}
	}
}

/** With fewer addresses at once where the list was too long. */
async function askFor(
	rpc: Rpc,
	span: Span,
	list: readonly Address[],
	signal: AbortSignal,
): Promise<readonly unknown[]> {
	try {
		const calls = filtersOf(list.map(topicOf)).map((filter) => ({ method: METHOD, params: [withRange(filter, span)] }))
		return await askAll(rpc, calls, signal)
	} catch (error) {
		if (!(error instanceof RpcError) || list.length === 1 || !isTheList(error, span)) throw error
		const half = Math.ceil(list.length / 2)
		rpc.limits.list.learn(half)
		const first = await askFor(rpc, span, list.slice(0, half), signal)
		return [...first, ...(await askFor(rpc, span, list.slice(half), signal))]
	}
}

interface Filter {
	readonly address?: readonly Address[]
	readonly topics: readonly (readonly Hex[] | null)[]
}

/** From, to, and the recipient of ERC-1155, which stands one topic later. */
function filtersOf(parties: readonly Hex[]): readonly Filter[] {
	const { transfer, single, batch, deposit, withdrawal } = topics
	return [
		{ topics: [[transfer, deposit, withdrawal], parties] },
		{ topics: [[transfer, single, batch], null, parties] },
		{ topics: [[single, batch], null, null, parties] },
	]
}

/** Tokens without decimals may be of the old kind that indexes nobody: no topic finds those. */
function unindexedFilters(known: KnownTokens): readonly Filter[] {
	const address = [...known.values()].flatMap((token) => (token.decimals === null ? [token.address] : []))
	return address.length === 0 ? [] : [{ address, topics: [[topics.transfer]] }]
}

function withRange(filter: Filter, { from, to }: Span): object {
	return { fromBlock: hexOf(from), toBlock: hexOf(to), ...filter }
}

function* listsOf(addresses: AddressSet, size: number): Generator<readonly Address[]> {
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
