import type { Hash } from '../../model/glossary.js'
import { misread } from '../rpc/border.js'
import type { Rpc } from '../rpc/rpc.js'
import { checkBlock, groupRows, treeOf } from '../traces/assemble.js'
import type { Row } from '../traces/parityRows.js'
import { framed } from '../traces/readRows.js'
import { type Header, hexOf } from '../wire/wire.js'
import { type Capabilities, type Finding, findingOf, findingOfAnswers, fine, notAsked } from './capabilities.js'
import { askOfEach, checkCoverage, checkEach, isOfBlock } from './eachBlock.js'
import { readRows, type Specimen } from './probeFilter.js'

interface BlockFindings {
	readonly finding: Finding
	readonly specimens: readonly Specimen[]
	readonly rewards: Capabilities['rewards']
}

/** Checks that every transaction of a header has its root row, and that each tree is whole. */
export async function probeWholeBlocks(
	rpc: Rpc,
	head: bigint,
	blocks: readonly Header[],
	signal: AbortSignal,
): Promise<BlockFindings> {
	const callOf = ({ number }: { readonly number: bigint }) => ({ method: 'trace_block', params: [hexOf(number)] })
	const reading = { endpoint: rpc.endpoint, method: 'trace_block' }
	try {
		if (blocks.length === 0) {
			// That one block cannot be traced says nothing about others.
			const [answer] = await rpc.batch([callOf({ number: head })], signal).catch((error: unknown) => [error])
			if (answer instanceof Error && !isOfBlock(answer)) throw answer
			return blocksNotAsked
		}
		const answered = await askOfEach(rpc, blocks, callOf, signal)
		const specimens: Specimen[] = []
		/** Blocks of which some transactions have a trace. The others are asked for alone. */
		let partly = 0
		const look = async ({ block, answer }: { readonly block: Header; readonly answer: unknown }) => {
			const named = new Set<Hash | null>([null, ...block.txHashes])
			const rows = readRows(rpc, answer, 'trace_block').filter(({ txHash }) => named.has(txHash))
			const specimen = { block, rows }
			await checkSpecimen(rpc, specimen, () => partly++, signal)
			specimens.push(specimen)
		}
		const { good, failure } = await checkEach(answered, look, reading)
		if (failure !== null) return { ...nothingFound, finding: findingOfAnswers('trace_block', failure, good + partly) }
		return {
			finding: fine,
			specimens: specimens.map(withoutRewards),
			rewards: rewardsIn(specimens.flatMap(({ rows }) => rows)),
		}
	} catch (thrown) {
		signal.throwIfAborted()
		return { ...nothingFound, finding: findingOf('trace_block', misread(thrown, reading)) }
	}
}

const nothingFound = { specimens: [], rewards: 'none' } as const
export const blocksNotAsked: BlockFindings = { ...nothingFound, finding: notAsked }

async function checkSpecimen(
	rpc: Rpc,
	{ block, rows }: Specimen,
	onPartly: () => void,
	signal: AbortSignal,
): Promise<void> {
	const reading = { endpoint: rpc.endpoint, method: 'trace_block' }
	const traced = new Set<string>()
	for (const { txHash, ...group } of await groupRows(rows)) {
		checkBlock(group, block, reading)
		if (txHash === null) continue
		await treeOf(framed(group.rows), { txHash, blockHash: block.hash }, reading)
		traced.add(txHash)
	}
	const missing = block.txHashes.filter((txHash) => !traced.has(txHash))
	if (traced.size > 0 && missing.length > 0) onPartly()
	const absent = new Map(missing.map((txHash) => [txHash, null]))
	await checkCoverage(rpc, { block, missing: absent }, reading, signal)
}

function withoutRewards({ block, rows }: Specimen): Specimen {
	return { block, rows: rows.filter(({ frame }) => frame.type !== 'reward') }
}

function rewardsIn(rows: readonly Row[]): Capabilities['rewards'] {
	const rewards = rows.filter(({ frame }) => frame.type === 'reward')
	if (rewards.length === 0) return 'none'
	return rewards.some(({ frame }) => frame.valueWei > 0n) ? 'paid' : 'zero'
}
