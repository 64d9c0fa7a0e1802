import type { RpcCall } from '../rpc/rpc.js'
import { address, type Header, isObject, quantity, unsettled } from '../wire/wire.js'
import { blockCall, needBlock } from './batchedCalls.js'

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
