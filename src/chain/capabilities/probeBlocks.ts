import { newestOf } from '../../core/newest.js'
import { RpcError } from '../../errors.js'
import { blockCall, needBlock } from '../blocks/batchedCalls.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Header } from '../wire/wire.js'
import { askOfEach } from './eachBlock.js'

/** Far enough below the head to be settled on most chains, and to be indexed. */
const BELOW_HEAD = 20n
/** Further below, each 1.5 times the one before, if the newest blocks are empty: over a day on most chains. */
const FURTHER = Array.from({ length: 20 }, (_, step) => BigInt(Math.round(30 * 1.5 ** step)))
/** Most transactions in all probed blocks: some hundreds of kilobytes of traces. */
const MOST_TRANSACTIONS = 250
const MOST_BLOCKS = 4

export interface ProbeBlocks {
	/** The claimed head, or the newest block that the endpoint shows if it does not show that one. */
	readonly head: bigint
	/** Blocks with transactions to check answers by, the fullest first; none on a chain too young or too quiet. */
	readonly blocks: readonly Header[]
}

/** Throws RpcError `no-data` where the endpoint shows no block at all. */
export async function findProbeBlocks(rpc: Rpc, claimed: bigint, signal: AbortSignal): Promise<ProbeBlocks> {
	const near = await readHeaders(rpc, candidatesNear(claimed), signal)
	const found = pick(near ?? [])
	if (found.length > 0) return { head: claimed, blocks: found }
	const further = FURTHER.map((distance) => claimed - distance).filter((number) => number > 0n)
	const far = near && (await readHeaders(rpc, [claimed, ...further], signal))
	if (far !== null) return { head: claimed, blocks: pick(far) }
	const isShown = async (number: bigint) => (await readHeaders(rpc, [number], signal)) !== null
	if (await isShown(claimed)) return { head: claimed, blocks: [] }
	// Downwards, since old blocks may be pruned.
	for (let step = 1n; step < 2n * claimed; step *= 2n) {
		const from = step < claimed ? claimed - step : 0n
		if (await isShown(from)) return findProbeBlocks(rpc, await newestOf({ from, to: claimed }, isShown), signal)
	}
	const { endpoint } = rpc
	throw new RpcError(`${endpoint} shows none of its blocks`, { kind: 'no-data', endpoint, forNow: true })
}

/** Ten settled blocks, or the newest ones on a young chain; never genesis, which nodes do not trace. */
function candidatesNear(head: bigint): readonly bigint[] {
	const top = head >= BELOW_HEAD + 10n ? head - BELOW_HEAD : head
	return Array.from({ length: 10 }, (_, index) => top - BigInt(index)).filter((number) => number > 0n)
}

/** Null where the endpoint lacks one of them. */
async function readHeaders(
	rpc: Rpc,
	numbers: readonly bigint[],
	signal: AbortSignal,
): Promise<readonly Header[] | null> {
	if (numbers.length === 0) return []
	try {
		const answered = await askOfEach(rpc, numbers, blockCall, signal)
		return answered.map(({ block, answer }) => needBlock(answer, block, rpc.endpoint))
	} catch (error) {
		if (error instanceof RpcError && error.kind === 'no-data') return null
		throw error
	}
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
	// On a chain of very large blocks the smallest is used.
	return picked.length > 0 ? picked : byCount.slice(-1)
}
