/**
 * One transaction hash in two blocks of one chain, as on Celo and Cronos: which of them is not the first. A transaction
 * that a reorganisation moved is none of these: its earlier block has left the chain.
 */

import { againOf, occurrenceOf, type Repeats } from '../../core/alerts/alertId.js'
import { groupedBy } from '../../core/lists.js'
import { isAnnounced } from '../../core/reconcile/reconcile.js'
import type { BlockRef, Part } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import type { Chain } from '../../model/ports.js'
import type { Announcement } from '../../model/state.js'

interface Seen {
	readonly txHash: Hash | null
	readonly block: BlockRef
}

/** Everything in a part that belongs to a transaction. */
export function seenIn({ transactions, tokens = [], control = [] }: Part): readonly Seen[] {
	return [...transactions, ...tokens, ...control]
}

/**
 * The earlier occurrence is known by its announcement, so the ids stay the same over restarts and further looks. Only
 * where a transaction was announced in another block is that block's header asked for.
 */
export async function repeatsOf(
	seen: Iterable<Seen>,
	announcements: ReadonlyMap<string, Announcement>,
	part: Pick<Part, 'blocks'>,
	chain: Pick<Chain, 'block'>,
	signal: AbortSignal,
): Promise<Repeats> {
	const blocks = new Map<Hash, Set<bigint>>()
	for (const { txHash, block } of seen) {
		if (txHash !== null) blocks.set(txHash, (blocks.get(txHash) ?? new Set()).add(block.number))
	}
	const own = [...announcements.values()].filter((entry) => blocks.has(entry.txHash) && isAnnounced(entry))
	const announced = groupedBy(own, ({ txHash }) => txHash)
	const repeats = new Set<string>()
	for (const [txHash, numbers] of blocks) {
		const entries = announced.get(txHash) ?? []
		if (numbers.size === 1 && entries.every(({ block, id }) => numbers.has(block.number) && againOf(id) === null))
			continue
		const firsts = entries.filter(({ id }) => againOf(id) === null).map(({ block }) => block)
		const again = new Set(entries.map(({ id }) => againOf(id)))
		const inPart = [...numbers].filter((number) => !again.has(number)).sort((a, b) => (a < b ? -1 : 1))
		const first =
			firsts.find(({ number }) => numbers.has(number))?.number ?? (await standing(firsts)) ?? inPart[0] ?? null
		for (const number of numbers) if (number !== first) repeats.add(occurrenceOf(txHash, number))
	}
	return repeats

	async function standing(refs: readonly BlockRef[]): Promise<bigint | null> {
		for (const { number, hash } of new Map(refs.map((ref) => [ref.hash, ref])).values()) {
			const now = part.blocks.get(number) ?? (await chain.block(number, signal))
			if (now?.hash === hash) return number
		}
		return null
	}
}
