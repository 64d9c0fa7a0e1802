/** Which postings of a block may have moved the native balance. Pure. */

import type { Finding } from '../kinds/list.js'
import type { Posting } from '../model/books.js'
import type { Block } from '../model/chain.js'

/**
 * The possible selections of postings: all, and all but one kind. On some chains the author's fees go to another
 * account (BNB, Arbitrum), withdrawals are paid in a token (Gnosis), or another account pays for gas. Kinds in `sure`
 * are never left out: otherwise a hidden movement of the same amount would go unnoticed.
 */
export function postingCandidates(
	postings: readonly Posting[],
	sure: ReadonlySet<Posting['kind']>,
): readonly (readonly Posting[])[] {
	const kinds = new Set(postings.flatMap(({ kind }) => (sure.has(kind) ? [] : [kind])))
	return [postings, ...[...kinds].map((kind) => postings.filter((posting) => posting.kind !== kind))]
}

/** Findings for what the chain itself paid: income and withdrawals. */
export function paidIn(postings: readonly Posting[], block: Block): readonly Finding[] {
	return postings.flatMap(({ kind, address, wei, withdrawal, transactions = 0 }): Finding[] => {
		if (kind === 'income') return [{ kind, address, block, wei: wei[0], transactions }]
		if (kind !== 'withdrawal' || withdrawal === undefined) return []
		return [{ kind: 'withdrawal', address, block, wei: wei[0], ...withdrawal }]
	})
}
