/** Asks the chain the questions that `reconcile` has about announcements whose events this look did not show. */

import { inSteps } from '../../base/waits/slices.js'
import {
	type Difference,
	type OpenQuestion,
	openQuestions,
	reconcile,
	type Sight,
} from '../../core/reconcile/reconcile.js'
import type { Answers } from '../../kinds/standing.js'
import type { Block, BlockRef, Part } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import type { Chain } from '../../model/ports.js'
import type { Announcement } from '../../model/state.js'

export interface AskingPorts {
	readonly chain: Chain
	/** Whether reading `block`, which holds the announcement, explains it. Absent: this look does not ask. */
	readonly read?: (entry: Announcement, block: Block, signal: AbortSignal) => Promise<'yes' | 'no' | 'later'>
}

/** Asks the chain all open questions, then reconciles. */
export async function reconcileWith(
	announcements: ReadonlyMap<string, Announcement>,
	sight: Sight,
	{ part, before, ...ports }: AskingPorts & { readonly part: Part; readonly before: Difference },
	signal: AbortSignal,
): Promise<Difference> {
	const answers = await answersTo(announcements, sight, part, ports, signal)
	return await inSteps(reconcile(announcements, sight, answers, before))
}

/** Asks until no question is open: an answer may raise another. Headers in the part are not asked for. */
export async function answersTo(
	announcements: ReadonlyMap<string, Announcement>,
	sight: Omit<Sight, 'alerts'>,
	part: Pick<Part, 'blocks' | 'last'>,
	{ chain, read }: AskingPorts,
	signal: AbortSignal,
): Promise<Answers> {
	const header = new Map<bigint, Block | null>(part.blocks)
	header.set(part.last.number, part.last)
	const transaction = new Map<Hash, BlockRef | null>()
	const reading = new Map<string, 'yes' | 'no' | 'later'>()
	const ask = async ({ entry, ask: what }: OpenQuestion): Promise<void> => {
		const { number } = entry.block
		if (what === 'transaction') {
			if (!transaction.has(entry.txHash)) transaction.set(entry.txHash, await chain.locate(entry.txHash, signal))
		} else if (!header.has(number)) header.set(number, await chain.block(number, signal))
		if (what !== 'reading') return
		const block = header.get(number) ?? null
		reading.set(entry.id, read === undefined || block === null ? 'later' : await read(entry, block, signal))
	}
	const answers = { header, transaction, reading }
	for (;;) {
		const open = await inSteps(openQuestions(announcements, sight, answers))
		if (open.length === 0) return answers
		for (const question of open) await ask(question)
	}
}
