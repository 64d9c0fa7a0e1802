import { RpcError } from '../../errors.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'

/**
 * Asks the same of several blocks; those that were answered, in order. One block that a node cannot bear, by a
 * stranger's doing, says nothing of what it does with all others. Throws the first failure where none was answered, or
 * where the method or the endpoint is refused.
 */
export async function askOfEach<B>(
	rpc: Rpc,
	blocks: readonly B[],
	callOf: (block: B) => RpcCall,
	signal: AbortSignal,
): Promise<readonly { readonly block: B; readonly answer: unknown }[]> {
	let answers = await rpc.batch(blocks.map(callOf), signal)
	// One of them may have spoilt it for all.
	if (blocks.length > 1 && answers.every(isOfBlock)) {
		const alone = blocks.map(async (block) => (await rpc.batch([callOf(block)], signal))[0])
		answers = await Promise.all(alone)
	}
	const failures = answers.filter((answer) => answer instanceof RpcError)
	const [first] = failures
	if (first !== undefined && (failures.length === answers.length || !failures.every(isOfBlock))) throw first
	return blocks.flatMap((block, index) => {
		const answer = answers[index]
		return answer instanceof RpcError ? [] : [{ block, answer }]
	})
}

/** Whether a failure may be this one block's. */
export function isOfBlock(answer: unknown): boolean {
	if (!(answer instanceof RpcError)) return false
	const { kind, facts } = answer
	if (kind === 'server') return facts.status !== undefined && facts.status < 500
	return kind === 'timeout' || kind === 'too-large' || kind === 'no-data'
}
