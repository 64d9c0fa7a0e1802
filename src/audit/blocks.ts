import { RpcError } from '../errors.js'
import type { Block, Part } from '../model/chain.js'
import type { Chain } from '../model/ports.js'

/** The error of a block that was replaced by a reorganisation. `during`: what was under way. The next poll retries. */
export function replaced(number: bigint, during: string): RpcError {
	return new RpcError(`block ${number} was replaced while ${during}`, { kind: 'unsettled', endpoint: '' })
}

/** Reads a block that was in the chain before. Throws RpcError `unsettled` if it is gone. */
export async function blockAgain(
	number: bigint,
	during: string,
	chain: Pick<Chain, 'block'>,
	signal: AbortSignal,
): Promise<Block> {
	const block = await chain.block(number, signal)
	if (block === null) throw replaced(number, during)
	return block
}

/** Takes the header from the part, or asks the chain for it. */
export async function headerIn(
	{ last, blocks }: Pick<Part, 'last' | 'blocks'>,
	number: bigint,
	chain: Pick<Chain, 'block'>,
	signal: AbortSignal,
): Promise<Block | null> {
	return number === last.number ? last : (blocks.get(number) ?? (await chain.block(number, signal)))
}
