import type { Rpc } from '../rpc/rpc.js'
import { blockCall, needBlock } from '../sources/ask.js'
import type { Header } from '../wire.js'
import { askOfEach } from './eachBlock.js'

/** Far enough below the head to be settled on most chains, and to be indexed. */
const BELOW_HEAD = 20n
/** Further below, each half as far again, in case the last ones were empty: a day or more on most chains. */
const FURTHER = Array.from({ length: 20 }, (_, step) => BigInt(Math.round(30 * 1.5 ** step)))
/** In all blocks together: some hundreds of kilobytes of traces. */
const MOST_TRANSACTIONS = 250
const MOST_BLOCKS = 4

/**
 * Blocks with transactions to hold a node's answers against each other, the fullest first; none on a chain that is too
 * young or too quiet to prove anything.
 */
export async function findProbeBlocks(rpc: Rpc, head: bigint, signal: AbortSignal): Promise<readonly Header[]> {
	const near = await readHeaders(rpc, candidatesNear(head), signal)
	const found = pick(near)
	if (found.length > 0) return found
	const far = FURTHER.map((distance) => head - distance).filter((number) => number > 0n)
	return pick(await readHeaders(rpc, far, signal))
}

/** Ten settled blocks, or on a young chain the newest there are; never genesis, of which nodes tell nothing. */
function candidatesNear(head: bigint): readonly bigint[] {
	const top = head >= BELOW_HEAD + 10n ? head - BELOW_HEAD : head
	return Array.from({ length: 10 }, (_, index) => top - BigInt(index)).filter((number) => number > 0n)
}

async function readHeaders(rpc: Rpc, numbers: readonly bigint[], signal: AbortSignal): Promise<readonly Header[]> {
	if (numbers.length === 0) return []
	const answered = await askOfEach(rpc, numbers, blockCall, signal)
	return answered.map(({ block, answer }) => needBlock(answer, block, rpc.endpoint))
}

function pick(headers: readonly Header[]): readonly Header[] {
	const full = headers.filter((block) => block.txHashes.length > 0)
	const byCount = full.toSorted((a, b) => b.txHashes.length - a.txHashes.length)
	const picked: Header[] = []
	let transactions = 0
	for (const block of byCount) {
		if (picked.length === MOST_BLOCKS) break
		if (transactions + block.txHashes.length > MOST_TRANSACTIONS) continue
		transactions += block.txHashes.length
		picked.push(block)
	}
	// On a chain of very large blocks the smallest has to do.
	return picked.length > 0 ? picked : byCount.slice(-1)
}
