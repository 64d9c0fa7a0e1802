import { RpcError } from '../../errors.js'
import type { Hash } from '../../model/glossary.js'
import { misread } from '../rpc/border.js'
import type { Rpc } from '../rpc/rpc.js'
import { treeOf } from '../traces/assemble.js'
import { framed } from '../traces/readRows.js'
import type { Header } from '../wire/wire.js'
import { type Finding, findingOf, fine, notAsked } from './capabilities.js'
import { askOfEach, askTogether, isOfBlock, soon } from './eachBlock.js'
import { readRows } from './probeFilter.js'

/** Probes trace_transaction: it checks hits of trace_filter, and `explain` draws it, also without trace_block. */
export async function probeTransaction(rpc: Rpc, blocks: readonly Header[], signal: AbortSignal): Promise<Finding> {
	const [first, ...others] = firstHashes(blocks)
	if (first === undefined) return notAsked
	const reading = { endpoint: rpc.endpoint, method: 'trace_transaction' }
	const callOf = ({ txHash }: { readonly txHash: Hash }) => ({ method: reading.method, params: [txHash] })
	/** Traces the first of the transactions that the node can trace. */
	const ask = async () => {
		const [answer] = await askTogether(others.length > 0 ? soon(rpc) : rpc, [callOf(first)], signal)
		if (!isOfBlock(answer) || others.length === 0) return { ...first, answer }
		const [other] = await askOfEach(rpc, others, callOf, signal)
		return other === undefined ? { ...first, answer } : { ...other.block, answer: other.answer }
	}
	try {
		const { txHash, block, answer } = await ask()
		if (answer instanceof RpcError) throw answer
		const rows = readRows(rpc, answer, reading.method)
		await treeOf(framed(rows), { txHash, blockHash: block.hash }, reading)
		return fine
	} catch (thrown) {
		signal.throwIfAborted()
		const error = misread(thrown, { endpoint: rpc.endpoint, method: 'trace_transaction' })
		return error.kind === 'unsettled' ? { ability: 'wrong', why: error.message } : findingOf('trace_transaction', error)
	}
}

function firstHashes(blocks: readonly Header[]) {
	return blocks.flatMap((block) => block.txHashes.slice(0, 1).map((txHash) => ({ txHash, block })))
}
