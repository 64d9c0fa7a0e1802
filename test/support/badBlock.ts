/** Blocks that a node answers for ever as if the chain were moving: the header stays, and the traces do not fit it. */
import type { Dialect } from './dialectGateway.js'

export interface BadAnswer {
	readonly name: string
	/** Only the parent in its header is wrong: a reading that does not compare it gives the whole block. */
	readonly isReadable?: true
	/** What it is seen in. */
	readonly method: 'trace_block' | 'debug_traceBlockByNumber' | 'eth_getBlockByNumber'
	/** For the dialect of a gateway: these blocks are answered so. */
	twist(numbers: ReadonlySet<bigint>): NonNullable<Dialect['twist']>
}

type Row = Readonly<Record<string, unknown>>

function answering(name: string, method: BadAnswer['method'], change: (result: readonly Row[]) => unknown): BadAnswer {
	return {
		name,
		method,
		twist: (numbers) => (asked, params, result) => {
			const [number] = params
			if (asked !== method || typeof number !== 'string' || !numbers.has(BigInt(number))) return undefined
			return change(result as readonly Row[])
		},
	}
}

/** The header of these blocks is answered so, by number and as the newest. */
function heading(name: string, change: Row): BadAnswer {
	const method = 'eth_getBlockByNumber'
	const twist: BadAnswer['twist'] = (numbers) => (asked, _params, result) => {
		if (asked !== method || result === null) return undefined
		const header = result as Row
		return numbers.has(BigInt(header.number as string)) ? { ...header, ...change } : undefined
	}
	return { name, method, twist }
}

export const wrongHash = `0x${'ab'.repeat(32)}`

export const noTraces = answering('trace_block says null', 'trace_block', () => null)

export const otherHash = heading('a header says another hash', { hash: wrongHash })

export const badAnswers: readonly BadAnswer[] = [
	noTraces,
	answering('trace_block says rows of another block hash', 'trace_block', (rows) =>
		rows.map((row) => ({ ...row, blockHash: wrongHash })),
	),
	answering('trace_block says no rows', 'trace_block', () => []),
	answering('a root frame failed and its receipt says success', 'trace_block', (rows) =>
		rows.map((row) => ({ ...row, error: 'Reverted', result: null })),
	),
	answering('a call of trace_block says no type', 'trace_block', (rows) =>
		rows.map((row) => ({ ...row, action: { ...(row.action as Row), callType: null } })),
	),
	answering('the tracer says null', 'debug_traceBlockByNumber', () => null),
	answering('the list of the tracer lacks a transaction', 'debug_traceBlockByNumber', () => []),
	answering('a root call failed in the tracer and its receipt says success', 'debug_traceBlockByNumber', (entries) =>
		entries.map((entry) => ({ ...entry, result: { ...(entry.result as Row), error: 'execution reverted' } })),
	),
	{ ...heading('a header says another parent', { parentHash: wrongHash }), isReadable: true },
	otherHash,
]
