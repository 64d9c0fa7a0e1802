import type { Hash } from '../../model/glossary.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { address, type Header, isObject, quantity, type Reading, unsettled } from '../wire/wire.js'
import { askAll, blockCall, needBlock } from './batchedCalls.js'

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

/**
 * Every transaction of a header must have been traced. The one exception is Polygon's state sync, which is in the
 * header's list and which Bor does not trace. It has no sender and pays for no gas. Throws `unsettled`.
 */
export async function checkCoverage(
	rpc: Rpc,
	uncovered: readonly { readonly block: Header; readonly missing: readonly Hash[] }[],
	reading: Reading,
	signal: AbortSignal,
): Promise<void> {
	for (const { block, missing } of uncovered) {
		if (missing.length > 1) {
			throw unsettled(
				reading,
				`${missing.length} of ${block.txHashes.length} transactions of block ${block.number} are missing`,
			)
		}
	}
	const txHashes = uncovered.flatMap(({ missing }) => missing)
	const calls = txHashes.map((txHash) => ({ method: 'eth_getTransactionByHash', params: [txHash] }))
	const answers = await askAll(rpc, calls, signal)
	for (const [index, txHash] of txHashes.entries()) {
		if (!isStateSync(answers[index])) throw unsettled(reading, `transaction ${txHash} is missing`)
	}
}

function isStateSync(raw: unknown): boolean {
	if (!isObject(raw)) return false
	const from = address(raw.from)
	return from !== null && BigInt(from) === 0n && quantity(raw.gas) === 0n && (quantity(raw.value) ?? 0n) === 0n
}
