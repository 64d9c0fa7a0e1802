import { type Finding, type Found, findingAlerts, withFindings } from '../core/bookAlerts.js'
import { closes, movementBetween, movementsOf, withPostings } from '../core/books.js'
import type { Difference } from '../core/compare.js'
import { isAnnounced } from '../core/compare.js'
import { isCovered } from '../core/coverage.js'
import { addressOfId, isOfTransaction } from '../core/events.js'
import { finalityOf } from '../core/target.js'
import { RpcError } from '../errors.js'
import type { Accounts, Book } from '../model/books.js'
import type { Block, BlockRef, Part } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'
import type { Announcement, Commit, NetworkState } from '../model/state.js'
import type { Bookkeeper } from './bookkeeper.js'
import { type LookContext, look } from './look.js'
import { withdrawalsIn } from './lookCloser.js'

export interface BooksPorts {
	readonly bookkeeper: Bookkeeper
	readonly accounts: Accounts
	readonly chain: Chain
}

/**
 * What a part comes to once the books were held against it: what is to be told, and the books to be written with it.
 */
export interface Kept {
	readonly difference: Difference
	readonly books: NonNullable<Commit['books']>
	readonly summary: Awaited<ReturnType<Bookkeeper['close']>>['summary']
}

/** Over blocks that are scanned for the first time: closes the books, and tells what they found. */
export async function keepBooks(
	part: Part,
	state: NetworkState,
	difference: Difference,
	context: LookContext,
	{ bookkeeper, chain }: BooksPorts,
	signal: AbortSignal,
): Promise<Kept> {
	const { announcements } = state
	const { books: before, gaps } = state
	const facts = { watches: context.watches, books: before, gaps, head: context.head.latest.number }
	const { books, findings, witnessed, summary } = await bookkeeper.close(part, facts, signal)
	const found: Found[] = findings.map((finding) => ({ alerts: alertsOf(finding, part, context) }))
	for (const witness of witnessed) {
		const reason = `found when the books did not close, by asking ${witness.endpoint} once more`
		const own = { ...context, lateReason: () => reason }
		const seen = await look(witness.part, announcements, own, chain, signal)
		found.push(...seen.news.map(({ alerts }): Found => ({ alerts, proved: true })))
	}
	return { difference: withFindings(difference, found, [], announcements), books, summary }
}

function alertsOf(finding: Finding, part: Part, context: LookContext) {
	const { covered, head } = context
	return findingAlerts(finding, {
		network: context.network,
		watches: context.watches,
		isCovered: (watch, blockNumber) => isCovered(watch, covered.get(watch.address), blockNumber),
		finalityOf: (blockNumber) => finalityOf(blockNumber, head),
		detectedAtMs: context.nowMs,
		lateReason: (block) =>
			context.lateReason(block) ?? (block.number < part.span.from ? 'found when the books were closed' : null),
		checksum: context.checksum,
	})
}

/**
 * What was announced and no frame shows, of the blocks of this part: whether its block is still in the chain, and
 * whether this look explains what was unexplained.
 */
export async function checkFindings(
	part: Part,
	announcements: ReadonlyMap<string, Announcement>,
	difference: Difference,
	{ accounts, chain }: Pick<BooksPorts, 'accounts' | 'chain'>,
	signal: AbortSignal,
): Promise<Difference> {
	const gone: Announcement[] = []
	for (const entry of announcements.values()) {
		const { number, hash } = entry.block
		if (isOfTransaction(entry.id) || !isAnnounced(entry) || number < part.span.from || number > part.span.to) continue
		const block = number === part.last.number ? part.last : await chain.block(number, signal)
		if (block === null) continue
		if (block.hash !== hash) {
			if (!(await isStillPaid(entry, block, accounts, signal))) gone.push(entry)
		} else if (await isExplained(entry, block, part, accounts, signal)) gone.push(entry)
	}
	return gone.length === 0 ? difference : withFindings(difference, [], gone, announcements)
}

/** A withdrawal may stand in the block that took the other's place. */
async function isStillPaid(
	entry: Announcement,
	block: Block,
	accounts: Accounts,
	signal: AbortSignal,
): Promise<boolean> {
	const data = entry.alerts[0]?.data
	if (data?.kind !== 'withdrawal') return false
	try {
		const postings = await accounts.postings(block, new Set([addressOfId(entry.id)]), signal)
		return withdrawalsIn(postings, block).some((one) => one.kind === 'withdrawal' && String(one.index) === data.index)
	} catch (error) {
		signal.throwIfAborted()
		// Nothing is taken back that is not known to have gone.
		if (error instanceof RpcError) return true
		throw error
	}
}

async function isExplained(
	entry: Announcement,
	block: Block,
	part: Part,
	accounts: Accounts,
	signal: AbortSignal,
): Promise<boolean> {
	const data = entry.alerts[0]?.data
	if (data?.kind !== 'unexplained' || data.fromBlock !== data.toBlock) return false
	const { openingWei, closingWei } = data
	if (openingWei === undefined || closingWei === undefined) return false
	const address = addressOfId(entry.id)
	const only = new Set([address])
	try {
		const postings = await accounts.postings(block, only, signal)
		const moved = movementBetween(movementsOf(part.transactions, only), address, block.number, block.number)
		return closes(BigInt(openingWei), withPostings(moved, postings, address), BigInt(closingWei))
	} catch (error) {
		signal.throwIfAborted()
		if (error instanceof RpcError) return false
		throw error
	}
}

/** Books that stand on blocks after this one, which have left the chain: they are opened anew. */
export function reopened(books: ReadonlyMap<Address, Book>, back: BlockRef): ReadonlyMap<Address, null> {
	const gone = new Map<Address, null>()
	for (const [address, { block, movedWei }] of books)
		if (block > back.number || movedWei !== 0n) gone.set(address, null)
	return gone
}
