/** Which endpoints are behind, by what another can show of the same chain, not by what it claims. */

import type { Hash } from '../../model/glossary.js'

export interface NewestBlock {
	readonly number: bigint
	readonly hash: Hash
	readonly timestampS: bigint
}

/** More blocks behind than this is lagging: the endpoint is asked last. */
export const MOST_LAG_BLOCKS = 10n
/** A head younger than this does not lag, whatever other endpoints claim. */
const freshMs = 60_000

/**
 * Blocks that each endpoint is behind, 0 where it is not. An endpoint is behind only if its own head is old and another
 * one shows both the same block at that height and, above it, the newest block that it reports: a mere claim, or
 * another chain, does not count. `hashAt` asks an endpoint for the hash of one of its blocks; null: it has none.
 */
export async function lagsOf<T>(
	heads: ReadonlyMap<T, NewestBlock>,
	hashAt: (endpoint: T, number: bigint) => Promise<Hash | null>,
	nowMs: number,
): Promise<ReadonlyMap<T, bigint>> {
	const lags = new Map<T, bigint>()
	const judge = async (endpoint: T, head: NewestBlock) => {
		lags.set(endpoint, 0n)
		if (nowMs - Number(head.timestampS) * 1_000 < freshMs) return
		const ahead = [...heads].filter(([, other]) => other.number - head.number > MOST_LAG_BLOCKS)
		const proves = async ([other, { number, hash }]: readonly [T, NewestBlock]) =>
			(await hashAt(other, head.number)) === head.hash && (await hashAt(other, number)) === hash
		const proved = await Promise.all(ahead.map(proves))
		const proofs = ahead.filter((_one, index) => proved[index])
		// The smallest proved lag, so that the largest claim does not decide.
		const behind = proofs.map(([, { number }]) => number - head.number)
		const least = behind.reduce<bigint | null>((one, other) => (one !== null && one < other ? one : other), null)
		if (least !== null) lags.set(endpoint, least)
	}
	await Promise.all([...heads].map(([endpoint, head]) => judge(endpoint, head)))
	return lags
}
