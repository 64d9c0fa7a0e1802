// The script that a user would write with viem: one address after the other, everything asked for that the alert should
// say.
import { createPublicClient, http } from 'viem'
import { cut } from '../src/core/spans.js'
import type { Address } from '../src/model/glossary.js'

interface Trace {
	readonly action: { readonly from?: string; readonly to?: string; readonly value?: string }
	readonly blockNumber: number
	readonly error?: string
}

/** Anvil takes 300. */
const MOST_BLOCKS = 250

/** Resolves to how many payments it found. */
export async function naive(url: string, addresses: readonly Address[], from: bigint, to: bigint): Promise<number> {
	const client = createPublicClient({ transport: http(url) })
	const request = client.request as (call: { method: string; params: unknown }) => Promise<unknown>
	let found = 0
	const sides = ['fromAddress', 'toAddress'] as const
	const questions = addresses.flatMap((address) =>
		sides.flatMap((side) => cut({ from, to }, MOST_BLOCKS).map((span) => ({ address, side, span }))),
	)
	for (const { address, side, span } of questions) {
		const filter = { fromBlock: hex(span.from), toBlock: hex(span.to), [side]: [address] }
		const traces = (await request({ method: 'trace_filter', params: [filter] })) as readonly Trace[]
		for (const { action, error, blockNumber } of traces) {
			if (error !== undefined || BigInt(action.value ?? 0) === 0n) continue
			await client.getBlock({ blockNumber: BigInt(blockNumber) })
			found += 1
		}
	}
	return found
}

function hex(number: bigint): string {
	return `0x${number.toString(16)}`
}
