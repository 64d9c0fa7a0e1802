import { RpcError } from '../errors.js'
import type { BlockRef, Part } from '../model/chain.js'

/** Parts are read by several requests, and maybe by several endpoints: they must be of one chain. */
export async function* unbroken(parts: AsyncGenerator<Part>): AsyncGenerator<Part> {
	let before: BlockRef | null = null
	for await (const part of parts) {
		if (before !== null && part.parentHash !== undefined && part.parentHash !== before.hash) {
			const from = part.span.from
			const words = `The chain changed while it was read: block ${from} does not follow block ${before.number}`
			throw new RpcError(words, { kind: 'unsettled', endpoint: '' })
		}
		before = part.last
		yield part
	}
}
