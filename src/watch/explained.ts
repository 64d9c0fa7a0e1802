/** Whether a later look explains what was announced as unexplained; asked for until it is answered. */

import { signalWithin } from '../base/deadline.js'
import { txDifferences } from '../core/accessList.js'
import { closes, movementBetween, movementsOf, withPostings } from '../core/books.js'
import { addressOfId } from '../core/events.js'
import { RpcError } from '../errors.js'
import type { Accounts } from '../model/books.js'
import type { Block, Part } from '../model/chain.js'
import type { Chain } from '../model/ports.js'
import type { Announcement, NetworkState } from '../model/state.js'
import { tracedBlockOf } from './accessLists.js'
import { withFees } from './listedBalances.js'
import type { Unheard } from './unheard.js'

/** `later`: it could not be known for now. */
export async function isExplained(
	entry: Announcement,
	block: Block,
	part: Part,
	accounts: Accounts,
	signal: AbortSignal,
): Promise<'yes' | 'no' | 'later'> {
	const data = entry.alerts[0]?.data
	if (data?.kind !== 'unexplained' || data.fromBlock !== data.toBlock) return 'no'
	const { openingWei, closingWei } = data
	if (openingWei === undefined || closingWei === undefined) return 'no'
	const address = addressOfId(entry.id)
	const only = new Set([address])
	try {
		const postings = await accounts.postings(block, only, signal)
		if (data.differenceWei === '0') {
			// What makes up for each other explains nothing: each transaction is checked against the block's list.
			const changes = await accounts.changes(block, signal)
			if (changes === null) return 'later'
			const own = part.transactions.filter((tx) => tx.block.number === block.number)
			const paid = withFees(own, new Map([[block.number, postings]]))
			const traced = tracedBlockOf(block, paid, address)
			return txDifferences(address, changes, BigInt(openingWei), traced).length === 0 ? 'yes' : 'no'
		}
		const moved = movementBetween(movementsOf(part.transactions, only), address, block.number, block.number)
		return closes(BigInt(openingWei), withPostings(moved, postings, address), BigInt(closingWei)) ? 'yes' : 'no'
	} catch (error) {
		signal.throwIfAborted()
		if (!(error instanceof RpcError)) throw error
		return error.kind === 'no-data' && error.facts.forNow !== true ? 'no' : 'later'
	}
}

/** For all of it: new blocks wait meanwhile. */
const MOST_MS = 4_000

/** Those that are explained by now, among the ones that nobody could tell of before. */
export async function explainedLater(
	{ announcements, settled }: NetworkState,
	unheard: Unheard,
	{ accounts, chain }: { readonly accounts: Accounts; readonly chain: Chain },
	outer: AbortSignal,
): Promise<readonly Announcement[]> {
	const asked = unheard.next(announcements, settled.number)
	if (asked.length === 0) return []
	const gone: Announcement[] = []
	const signal = signalWithin(MOST_MS, outer)
	try {
		for (const entry of asked) {
			const { number, hash } = entry.block
			const block = await chain.block(number, signal)
			// Of one that left the chain a look at what stands there now tells.
			if (block?.hash !== hash) continue
			const span = { from: number, to: number }
			for await (const part of chain.walkAgain(span, new Set([addressOfId(entry.id)]), signal)) {
				if (part.last.hash !== hash) continue
				const answer = await isExplained(entry, block, part, accounts, signal)
				if (answer === 'later') unheard.rest()
				else unheard.done(entry.id)
				if (answer === 'yes') gone.push(entry)
			}
		}
	} catch (error) {
		outer.throwIfAborted()
		if (!(error instanceof RpcError) && !signal.aborted) throw error
		unheard.rest()
	}
	return gone
}
