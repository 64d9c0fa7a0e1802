import { createTimeSlices } from '../../base/timeSlices.js'
import { misread } from '../rpc/border.js'
import type { Rpc } from '../rpc/rpc.js'
import { checkCoverage } from '../sources/headers.js'
import { checkBlock, groupRows, treeOf } from '../traces/assemble.js'
import type { Row } from '../traces/parityRows.js'
import { framed } from '../traces/readRows.js'
import { type Header, hexOf } from '../wire.js'
import { type Capabilities, type Finding, findingOf, fine, notAsked } from './capabilities.js'
import { askOfEach, isOfBlock } from './eachBlock.js'
import { readRows, type Specimen } from './probeFilter.js'

/** What asking for whole blocks of rows came to. */
interface BlockFindings {
	readonly finding: Finding
	readonly specimens: readonly Specimen[]
	readonly rewards: Capabilities['rewards']
}

/** Every transaction of a header has its root row, and each tree is whole. */
export async function probeWholeBlocks(
	rpc: Rpc,
	head: bigint,
	blocks: readonly Header[],
	signal: AbortSignal,
): Promise<BlockFindings> {
	const callOf = ({ number }: { readonly number: bigint }) => ({ method: 'trace_block', params: [hexOf(number)] })
	try {
		if (blocks.length === 0) {
			// That this very block cannot be traced says nothing of others.
			const [answer] = await rpc.batch([callOf({ number: head })], signal).catch((error: unknown) => [error])
			if (answer instanceof Error && !isOfBlock(answer)) throw answer
			return { finding: notAsked, specimens: [], rewards: 'none' }
		}
		const answered = await askOfEach(rpc, blocks, callOf, signal)
		const specimens = answered.map(({ block, answer }) => ({ block, rows: readRows(rpc, answer, 'trace_block') }))
		for (const specimen of specimens) await checkSpecimen(rpc, specimen, signal)
		return {
			finding: fine,
			specimens: specimens.map(withoutRewards),
			rewards: rewardsIn(specimens.flatMap(({ rows }) => rows)),
		}
	} catch (thrown) {
		signal.throwIfAborted()
		const error = misread(thrown, { endpoint: rpc.endpoint, method: 'trace_block' })
		// A trace that lacks something says it of a settled block: that will not pass.
		const lasting =
			error.kind === 'unsettled' ? { ability: 'wrong' as const, why: error.message } : findingOf('trace_block', error)
		return { finding: lasting, specimens: [], rewards: 'none' }
	}
}

async function checkSpecimen(rpc: Rpc, { block, rows }: Specimen, signal: AbortSignal): Promise<void> {
	const reading = { endpoint: rpc.endpoint, method: 'trace_block' }
	const traced = new Set<string>()
	const slices = createTimeSlices()
	for (const { txHash, ...group } of await groupRows(rows, slices)) {
		checkBlock(group, block, reading)
		if (txHash === null) continue
		await treeOf(framed(group.rows), { txHash, blockHash: block.hash }, slices, reading)
		traced.add(txHash)
	}
	const missing = block.txHashes.filter((txHash) => !traced.has(txHash))
	if (missing.length > 0) await checkCoverage(rpc, [{ block, missing }], reading, signal)
}

function withoutRewards({ block, rows }: Specimen): Specimen {
	return { block, rows: rows.filter(({ frame }) => frame.type !== 'reward') }
}

function rewardsIn(rows: readonly Row[]): Capabilities['rewards'] {
	const rewards = rows.filter(({ frame }) => frame.type === 'reward')
	if (rewards.length === 0) return 'none'
	return rewards.some(({ frame }) => frame.valueWei > 0n) ? 'paid' : 'zero'
}
