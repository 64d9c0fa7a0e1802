/** The room reads headers and receipts, and their fees and withdrawals. Here: calls in batches. */

import { RpcError } from '../../errors.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { address, type Header, hexOf, isObject, quantity, readBlockAt, unsettled } from '../wire/wire.js'

/** Makes several calls, batched and answered in their order; throws the first failure. */
export async function askAll(rpc: Rpc, calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
	if (calls.length === 0) return []
	const answers = await rpc.batch(calls, signal)
	for (const answer of answers) if (answer instanceof RpcError) throw answer
	return answers
}

export function blockCall(number: bigint): RpcCall {
	return { method: 'eth_getBlockByNumber', params: [hexOf(number), false] }
}

/** A header that must exist: an endpoint without the block cannot be trusted about its contents. Throws RpcError. */
export function needBlock(raw: unknown, number: bigint, endpoint: string): Header {
	const method = 'eth_getBlockByNumber'
	const block = readBlockAt(raw, number, { endpoint, method })
	if (block === null) throw new RpcError(`${endpoint} has no block ${number}`, { kind: 'no-data', endpoint, method })
	return block
}

/** Calls for the headers of consecutive blocks, except the last one where it is known. */
export function headerCalls(numbers: readonly bigint[], last: Header | null): readonly RpcCall[] {
	return numbers.filter((number) => number !== last?.number).map(blockCall)
}

/** Reads the answers to `headerCalls`; throws `unsettled` when the headers are not one chain. */
export function readHeaders(
	answers: readonly unknown[],
	numbers: readonly bigint[],
	last: Header | null,
	endpoint: string,
): readonly Header[] {
	const given = answers.values()
	const headers = numbers.map((number) =>
		last?.number === number ? last : needBlock(given.next().value, number, endpoint),
	)
	for (const [index, header] of headers.entries()) {
		const parent = headers[index - 1]
		if (parent === undefined || header.parentHash === parent.hash) continue
		const reading = { endpoint, method: 'eth_getBlockByNumber' }
		throw unsettled(reading, `block ${header.number} does not follow block ${parent.number}`)
	}
	return headers
}

/** Polygon's state sync has no sender and pays for no gas. */
export function isStateSync(raw: unknown): boolean {
	if (!isObject(raw)) return false
	const from = address(raw.from)
	return from !== null && BigInt(from) === 0n && quantity(raw.gas) === 0n && (quantity(raw.value) ?? 0n) === 0n
}
