/**
 * Limits trust in a claimed head. An endpoint may claim any number. For reading new blocks this does no harm, since
 * each is claimed as it is read. Values derived from the head (where watching begins, what is settled, what is near the
 * head) rest on blocks whose header was shown, and the beginning on a block whose traces were read.
 */

import { newestOf } from '../core/newest.js'
import { endingAt, settleTargetOf } from '../core/target.js'
import { RpcError } from '../errors.js'
import type { Head } from '../model/chain.js'
import type { Chain } from '../model/ports.js'
import type { NetworkState } from '../model/state.js'
import type { Network, WatchIndex } from '../model/watch.js'

/** Up to this many new blocks, the head is not checked: values derived from it do not change. */
const FEW = 16n
/** How far below an unreadable head a readable block is looked for. If there is none, something else is wrong. */
const MOST_UNREAD = 2_048n

/** The head of a poll; its block is asked for by number if it decides more than which blocks are read next. */
export async function likelyHead(
	claimed: Head,
	{ network, known }: { readonly network: Network; readonly known: NetworkState },
	chain: Chain,
	signal: AbortSignal,
): Promise<Head> {
	const { checkpoint, settled } = known
	const { number } = claimed.latest
	const isLong = number > checkpoint.number + FEW
	const settlesUnseen = settled.number === checkpoint.number && settleTargetOf(claimed, network) > checkpoint.number
	// A block tag is a claim of the endpoint and cannot be derived from the head.
	const isConfirmed = typeof network.confirmations === 'number' && network.confirmations > 0
	return isLong || settlesUnseen || isConfirmed ? await chain.shownHead(claimed, checkpoint.number, signal) : claimed
}

/** The head, or the newest readable block from `known` (inclusive) on. Throws RpcError if none tried can be read. */
export async function readHead(
	claimed: Head,
	known: bigint,
	{ watches, chain }: { readonly watches: Pick<WatchIndex, 'size'>; readonly chain: Chain },
	signal: AbortSignal,
): Promise<Head> {
	// Without watches, no traces are needed.
	if (watches.size === 0) return chain.shownHead(claimed, known, signal)
	const isRead = async (number: bigint) => number <= known || (await chain.canRead(number, signal))
	if (await isRead(claimed.latest.number)) return claimed
	const shown = await chain.shownHead(claimed, known, signal)
	const { number } = shown.latest
	let [low, high] = [number, number + 1n]
	for (let step = 1n; !(await isRead(low)); step *= 2n) {
		if (step > MOST_UNREAD) throw unreadable(low, number)
		;[low, high] = [number - step > known ? number - step : known, low]
	}
	const end = await newestOf({ from: low, to: high }, isRead)
	const latest = end === number ? shown.latest : await chain.block(end, signal)
	if (latest === null) throw unreadable(end, end)
	return endingAt(shown, latest)
}

function unreadable(from: bigint, to: bigint): RpcError {
	const tried = `none of the blocks ${from} to ${to} that were tried can be read`
	const words = `${tried}, and watching begins at one that was read`
	return new RpcError(words, { kind: 'unsettled', endpoint: '' })
}
