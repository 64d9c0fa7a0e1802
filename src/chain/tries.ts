import { RpcError } from '../errors.js'
import type { Hash } from '../model/glossary.js'
import type { Tries } from '../model/ports.js'
import { tryWays } from './tryWays.js'
import type { Way } from './ways.js'

/** The hash of a block, by the first endpoint that can tell. Throws the last RpcError when none can. */
async function hashByWays(ways: readonly Way[], number: bigint, signal: AbortSignal): Promise<Hash | null> {
	const first = new Map(ways.toReversed().map((way) => [way.endpoint, way]))
	let failure: unknown = new RpcError(`nobody tells block ${number}`, { kind: 'no-data', endpoint: '' })
	for (const way of [...first.values()].reverse()) {
		const headers = [
			async () => (await way.chain().block(number, signal))?.hash ?? null,
			async () => (await way.chain().block(number + 1n, signal))?.parentHash ?? null,
		]
		for (const ask of headers) {
			try {
				return await ask()
			} catch (error) {
				signal.throwIfAborted()
				if (!(error instanceof RpcError)) throw error
				failure = error
			}
		}
	}
	throw failure
}

/** Every way to read a block, as the poll reaches it. */
export function triesOf(ways: readonly Way[]): Tries {
	return {
		tryAll: (doubt, addresses, signal) => tryWays(ways, doubt, addresses, signal),
		hashOf: (number, signal) => hashByWays(ways, number, signal),
	}
}
