/** Which endpoints are behind: by what another can show of the same chain, not by what it claims. */

import type { Hash } from '../../model/glossary.js'

/** The newest block of an endpoint, by its own word. */
export interface NewestBlock {
	readonly number: bigint
	readonly hash: Hash
	readonly timestampS: bigint
}

export interface LagOptions {
	/** More than so many blocks behind is too far. */
	readonly maxLagBlocks: number
	readonly nowMs: number
}

/** A head no older than this lags behind nothing that matters, whatever others claim. */
const freshMs = 60_000

/**
 * Blocks that each endpoint is behind, 0 where it is not. One is behind only if its own head is old and another,
 * further on, has the same block at its height: a claim alone, or another chain, puts nobody back. `hashAt` asks an
 * endpoint for the hash of one of its blocks; null: it has none.
 */
export async function lagsOf<T>(
	heads: ReadonlyMap<T, NewestBlock>,
	hashAt: (endpoint: T, number: bigint) => Promise<Hash | null>,
	{ maxLagBlocks, nowMs }: LagOptions,
): Promise<ReadonlyMap<T, bigint>> {
	const lags = new Map<T, bigint>()
	const judge = async (endpoint: T, head: NewestBlock) => {
		lags.set(endpoint, 0n)
		if (nowMs - Number(head.timestampS) * 1_000 < freshMs) return
		const ahead = [...heads].filter(([, other]) => other.number - head.number > BigInt(maxLagBlocks))
		const shown = await Promise.all(ahead.map(([other]) => hashAt(other, head.number)))
		const proofs = ahead.filter((_one, index) => shown[index] === head.hash)
		// The least of them: who claims most is not believed for it.
		const behind = proofs.map(([, { number }]) => number - head.number)
		if (behind.length > 0)
			lags.set(
				endpoint,
				behind.reduce((least, one) => (one < least ? one : least)),
			)
	}
	await Promise.all([...heads].map(([endpoint, head]) => judge(endpoint, head)))
	return lags
}
