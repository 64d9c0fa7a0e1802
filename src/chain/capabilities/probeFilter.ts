import { RpcError } from '../../errors.js'
import type { Address } from '../../model/glossary.js'
import { misread } from '../rpc/border.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { rowKey } from '../traces/assemble.js'
import { type Row, readRow } from '../traces/parityRows.js'
import { readAll } from '../traces/readRows.js'
import { rowsIn } from '../traces/traceRows.js'
import { type Header, hexOf } from '../wire/wire.js'
import { type Finding, findingOf, fine, notAsked } from './capabilities.js'
import { askTogether, isOfBlock } from './eachBlock.js'

/** A settled block with all of its rows except rewards, as the most trusted method gives them. */
export interface Specimen {
	readonly block: Header
	readonly rows: readonly Row[]
}

export interface FilterFindings {
	readonly finding: Finding
	readonly filterMode: 'union' | 'intersection' | null
	readonly beyondHead: 'refused' | 'empty' | null
}

export const filterNotAsked: FilterFindings = { finding: notAsked, filterMode: null, beyondHead: null }

/** Addresses in the list of a check. */
const CANARIES = 20
/** An address that is not in use: the program's name and zeros. */
export const UNUSED_ADDRESS: Address = '0x7472616365776174636800000000000000000000'

const IGNORES = 'trace_filter gives frames of addresses that were not asked for: it ignores its lists'

function filterCall(from: bigint, to: bigint, lists: object): RpcCall {
	return { method: 'trace_filter', params: [{ fromBlock: hexOf(from), toBlock: hexOf(to), ...lists }] }
}

/**
 * Checks `trace_filter`. An empty answer proves nothing, since several nodes give one wrongly (docs/nodes.md, "What the
 * probe looks at"). The rows of a block must come back when it is asked for without addresses, and when it is asked for
 * by the addresses of its creations, self-destructs and inner payments.
 */
export async function probeFilter(
	rpc: Rpc,
	specimens: readonly Specimen[],
	head: bigint,
	signal: AbortSignal,
): Promise<FilterFindings> {
	const beyond = filterCall(head + 1_000n, head + 1_000n, { toAddress: [UNUSED_ADDRESS] })
	const [first] = specimens
	if (first === undefined) {
		const answers = await askTogether(rpc, [filterCall(head, head, { toAddress: [UNUSED_ADDRESS] }), beyond], signal)
		const finding = answers[0] instanceof RpcError ? findingOf('trace_filter', answers[0]) : notAsked
		return { finding, filterMode: null, beyondHead: beyondOf(answers[1]) }
	}
	const lists = specimens.map(canariesOf)
	const canary = first.rows.find(({ frame, traceAddress }) => traceAddress.length === 0 && frame.from !== frame.to)
	const both = { fromAddress: [canary?.frame.from ?? UNUSED_ADDRESS], toAddress: [UNUSED_ADDRESS] }
	const { number } = first.block
	const calls = [
		beyond,
		filterCall(number, number, both),
		filterCall(number, number, { toAddress: [UNUSED_ADDRESS] }),
		...specimens.flatMap(({ block }, index) => [
			filterCall(block.number, block.number, {}),
			filterCall(block.number, block.number, { fromAddress: lists[index]?.from ?? [] }),
			filterCall(block.number, block.number, { toAddress: lists[index]?.to ?? [] }),
		]),
	]
	const [beyondAnswer, bothAnswer, nobodys, ...answers] = await askTogether(rpc, calls, signal)
	const beyondHead = beyondOf(beyondAnswer)
	try {
		let why = judgeNobodys(rpc, nobodys)
		const isSpoilt = (index: number) => answers.slice(index * 3, index * 3 + 3).some(isOfBlock)
		const allSpoilt = specimens.every((_, index) => isSpoilt(index))
		for (const [index, specimen] of specimens.entries()) {
			if (isSpoilt(index) && !allSpoilt) continue
			const [all, from, to] = answers.slice(index * 3, index * 3 + 3)
			const asked = lists[index] ?? empty
			why ??= await judgeAll(rpc, specimen, all, signal)
			why ??= judgeList(rpc, specimen, from, { side: 'from', list: asked.from })
			why ??= judgeList(rpc, specimen, to, { side: 'to', list: asked.to })
		}
		const filterMode = bothAnswer instanceof RpcError || canary === undefined ? null : modeOf(rpc, canary, bothAnswer)
		return { finding: why === null ? fine : { ability: 'wrong', why }, filterMode, beyondHead }
	} catch (thrown) {
		signal.throwIfAborted()
		const error = misread(thrown, { endpoint: rpc.endpoint, method: 'trace_filter' })
		return { finding: findingOf('trace_filter', error), filterMode: null, beyondHead }
	}
}

interface Canaries {
	readonly from: readonly Address[]
	readonly to: readonly Address[]
}

const empty: Canaries = { from: [], to: [] }

/** The most telling addresses: of self-destructs and creations, then of inner calls, then of roots. */
function canariesOf({ rows }: Specimen): Canaries {
	const rank = ({ frame, traceAddress }: Row) => (frame.type !== 'call' ? 0 : traceAddress.length > 0 ? 1 : 2)
	const found = rows.filter(({ frame }) => frame.error === null).toSorted((a, b) => rank(a) - rank(b))
	const roots = rows.filter(({ traceAddress }) => traceAddress.length === 0).slice(0, 2)
	const list = (side: 'from' | 'to') => {
		const all = [...roots, ...found].map(({ frame }) => frame[side]).filter((address) => address !== null)
		const some = [...new Set(all)].slice(0, CANARIES)
		// A list is never empty, because that would ask for everything or for nothing.
		return some.length > 0 ? some : [UNUSED_ADDRESS]
	}
	return { from: list('from'), to: list('to') }
}

/** Asks without addresses; a wider range shows what is wrong. Null: no fault, or the node refuses such requests. */
async function judgeAll(
	rpc: Rpc,
	{ block, rows }: Specimen,
	answer: unknown,
	signal: AbortSignal,
): Promise<string | null> {
	if (answer instanceof RpcError) {
		if (['too-large', 'timeout', 'bad-params'].includes(answer.kind)) return null
		throw answer
	}
	const answered = readRows(rpc, answer)
	const given = keysOf(answered)
	const lacking = rows.filter((row) => !given.has(rowKey(row)))
	if (lacking.length === 0) return judgeMarks(rows, answered, block)
	if (given.size > 0) return `trace_filter leaves out ${nameRows(lacking)} of block ${block.number}`
	const [range] = await askTogether(rpc, [filterCall(block.number - 1n, block.number, {})], signal)
	const wider = range instanceof RpcError ? new Set() : keysOf(readRows(rpc, range))
	return wider.size > 0
		? `trace_filter answers nothing for a single block (${block.number}) although it has transactions`
		: `trace_filter answers nothing for block ${block.number} although it has transactions: ` +
				'the node may lack the state or the index'
}

/** The answer to a question by these addresses of the block. */
function judgeList(
	rpc: Rpc,
	{ block, rows }: Specimen,
	answer: unknown,
	{ side, list }: { readonly side: 'from' | 'to'; readonly list: readonly Address[] },
): string | null {
	if (answer instanceof RpcError) throw answer
	const asked = new Set(list)
	const isAsked = ({ frame }: Row) => frame[side] !== null && asked.has(frame[side])
	const answered = readRows(rpc, answer)
	const given = keysOf(answered)
	const lacking = rows.filter((row) => isAsked(row) && row.frame.error === null && !given.has(rowKey(row)))
	if (lacking.length > 0)
		return `trace_filter by ${side}Address leaves out ${nameRows(lacking)} of block ${block.number}`
	const foreign = answered.some((row) => row.frame.type !== 'reward' && row.frame.error === null && !isAsked(row))
	return foreign ? IGNORES : judgeMarks(rows, answered, block)
}

/** The filter must mark the same rows as failed, or failed payments would look like real ones. */
function judgeMarks(rows: readonly Row[], answered: readonly Row[], { number }: Specimen['block']): string | null {
	const failed = new Set(rows.filter(({ frame }) => frame.error !== null).map(rowKey))
	const unmarked = answered.some((row) => row.frame.error === null && failed.has(rowKey(row)))
	return unmarked ? `trace_filter does not say what failed in block ${number}, as trace_block does` : null
}

/** A node that ignores the lists gives frames of any address. */
function judgeNobodys(rpc: Rpc, answer: unknown): string | null {
	if (answer instanceof RpcError) throw answer
	return keysOf(readRows(rpc, answer)).size === 0 ? null : IGNORES
}

/** Whether two lists in one request mean either or both. */
function modeOf(rpc: Rpc, canary: Row, answer: unknown): 'union' | 'intersection' {
	return keysOf(readRows(rpc, answer)).has(rowKey(canary)) ? 'union' : 'intersection'
}

/** How the endpoint answers a request beyond its head. */
function beyondOf(answer: unknown): 'refused' | 'empty' | null {
	if (answer instanceof RpcError) return answer.kind === 'no-data' || answer.kind === 'bad-params' ? 'refused' : null
	return rowsIn(answer)?.length === 0 ? 'empty' : null
}

export function readRows(rpc: Rpc, answer: unknown, method = 'trace_filter'): readonly Row[] {
	const reading = { endpoint: rpc.endpoint, method }
	return readAll(answer, readRow, reading)
}

function keysOf(rows: readonly Row[]): ReadonlySet<string | null> {
	return new Set(rows.filter(({ frame }) => frame.type !== 'reward').map(rowKey))
}

function nameRows(rows: readonly Row[]): string {
	const names = new Map<string, string>([
		['suicide', 'self-destructs'],
		['create', 'creations'],
		['create2', 'creations'],
		['call', 'calls'],
	])
	return [...new Set(rows.map(({ frame }) => names.get(frame.type) ?? frame.type))].join(' and ')
}
