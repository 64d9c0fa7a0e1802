/** Answers to debug_traceBlockByNumber as other nodes give them. */
import { type Ask, type Dialect, Refused } from './dialectGateway.js'

interface Traced {
	readonly txHash: string
	readonly result: unknown
}

/** A call of callTracer, as Anvil gives it. */
interface RawCall {
	readonly type: string
	readonly from?: string
	readonly to?: string
	readonly error?: string
	readonly calls?: readonly RawCall[]
}

/** Each call of callTracer is answered as `bend` says, given the call above it. */
function bending(bend: (call: RawCall, above: RawCall | null) => unknown): NonNullable<Dialect['twist']> {
	const bent = (call: RawCall, above: RawCall | null): unknown => ({
		...(bend(call, above) as object),
		...(call.calls && { calls: call.calls.map((one) => bent(one, call)) }),
	})
	return (method, _params, result) => {
		if (method === 'debug_traceTransaction') return bent(result as RawCall, null)
		if (method !== 'debug_traceBlockByNumber') return undefined
		return (result as Traced[]).map((one) => ({ ...one, result: bent(one.result as RawCall, null) }))
	}
}

/** Besu repeats the `to` of the call above as the caller. Of a creation that runs it does not know it yet. */
export const asBesuCalls = bending((call, above) => {
	if (above === null || call.type === 'SELFDESTRUCT') return call
	return { ...call, from: above.type.startsWith('CREATE') ? undefined : above.to }
})

/** zkSync gives a call that reverted a reason instead of an error; here it is empty, as after `revert("")`. */
export const asZkSyncCalls = bending((call) => {
	const hasReverted = call.error === 'execution reverted'
	return { ...call, error: hasReverted ? null : (call.error ?? null), revertReason: hasReverted ? '' : null }
})

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
