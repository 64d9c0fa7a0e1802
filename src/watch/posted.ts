/** What a block is said to move without a frame, and how it may be meant. Pure. */

import type { Finding } from '../core/findings.js'
import type { Posting } from '../model/books.js'
import type { Block } from '../model/chain.js'

/**
 * All of them, or all but one kind: on some chains the author's fees go elsewhere (BNB, Arbitrum), withdrawals are paid
 * in a token (Gnosis and its kin), or somebody else pays for gas. Where that cannot be, what is hidden and equals such
 * a posting must not pass for it.
 */
export function readings(
	postings: readonly Posting[],
	sure: ReadonlySet<Posting['kind']>,
): readonly (readonly Posting[])[] {
	const kinds = new Set(postings.flatMap(({ kind }) => (sure.has(kind) ? [] : [kind])))
	return [postings, ...[...kinds].map((kind) => postings.filter((posting) => posting.kind !== kind))]
}

/** What the chain paid by itself. */
export function paidIn(postings: readonly Posting[], block: Block): readonly Finding[] {
	return postings.flatMap(({ kind, address, wei, withdrawal, transactions = 0 }): Finding[] => {
		if (kind === 'income') return [{ kind, address, block, wei: wei[0], transactions }]
		if (kind !== 'withdrawal' || withdrawal === undefined) return []
		return [{ kind: 'withdrawal', address, block, wei: wei[0], ...withdrawal }]
	})
}
