/** Answers to debug_traceBlockByNumber as other nodes give them. */
import { type Ask, type Dialect, Refused } from './dialectGateway.js'

interface Traced {
	readonly txHash: string
	readonly result: unknown
}

export async function bendTraces(dialect: Dialect, params: readonly unknown[], ask: Ask): Promise<unknown> {
	const [number, options] = params as [string, { tracer: 'callTracer' | 'flatCallTracer' }]
	if (BigInt(number) === 0n) throw new Refused({ error: { code: -32000, message: 'genesis is not traceable' } })
	const traces = await traced(dialect, number, options.tracer, ask)
	if (dialect.traces === 'without hashes') return traces.map(({ result }) => ({ result }))
	return dialect.traces === 'bare' ? traces.map(({ result }) => result) : traces
}

async function traced(
	{ tracers = ['callTracer', 'flatCallTracer'] }: Dialect,
	number: string,
	tracer: 'callTracer' | 'flatCallTracer',
	ask: Ask,
): Promise<readonly Traced[]> {
	const { transactions } = (await ask('eth_getBlockByNumber', [number, false])) as { transactions: string[] }
	if (!tracers.includes(tracer)) {
		// Older Erigon says it of each transaction.
		return transactions.map((txHash) => ({ txHash, result: undefined, error: 'tracer not found' }))
	}
	if (tracer === 'callTracer') return (await ask('debug_traceBlockByNumber', [number, { tracer }])) as Traced[]
	// Anvil answers its own flatCallTracer with nothing.
	const rows = (await ask('trace_block', [number])) as { transactionHash: string }[]
	return transactions.map((txHash) => ({ txHash, result: rows.filter((row) => row.transactionHash === txHash) }))
}
