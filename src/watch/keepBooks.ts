import { deferred, movementsOf, still } from '../core/books.js'
import type { Difference } from '../core/compare.js'
import { isAnnounced } from '../core/compare.js'
import type { Finding } from '../core/findings.js'
import { type Found, withFindings } from '../core/withFindings.js'
import { RpcError } from '../errors.js'
import type { Accounts, Book, BookSet } from '../model/books.js'
import type { BlockRef, Part } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { Announcement, Commit, NetworkState } from '../model/state.js'
import { summed } from './askBalances.js'
import type { Bookkeeper } from './bookkeeper.js'
import { afterwards } from './booksSummary.js'
import { type CodeChange, delegationsOf } from './delegations.js'
import { explainedLater, isExplained } from './explained.js'
import { alertsOfFinding } from './findingAlerts.js'
import { type LookContext, look } from './look.js'
import { delegationsSigned, type SignedBlock, type SignedChange, signedChanges, signedInPart } from './signedIn.js'

export interface BooksPorts {
	readonly bookkeeper: Bookkeeper
	readonly accounts: Accounts
	readonly chain: Chain
	readonly log: Log
}

/**
 * What a part comes to once the books were checked against it: what is to be told, and the books to be written with it.
 */
export interface Kept {
	readonly difference: Difference
	readonly books: NonNullable<Commit['books']>
	readonly summary: Awaited<ReturnType<Bookkeeper['close']>>['summary']
}

/** Delegations that watches signed in a part; of a private network they were found before, books or not. */
export async function signedInFirst(
	part: Part,
	{ head, watches }: LookContext,
	{ accounts, log }: BooksPorts,
	signal: AbortSignal,
): Promise<readonly SignedBlock[]> {
	return accounts.isPrivate ? [] : await signedInPart(part, head.latest.number, watches, { accounts, log }, signal)
}

/** The books with what a part moved put by, of those whom it moved. */
export function booksPutBy(part: Part, books: BookSet): ReadonlyMap<Address, Book> {
	const changed = new Map<Address, Book>()
	for (const [address, movement] of summed(movementsOf(part.transactions, books, part.blocks.values()))) {
		const book = books.get(address)
		if (book !== undefined) changed.set(address, deferred(book, movement))
	}
	return changed
}

/** Over blocks that are scanned for the first time: closes the books, and tells what they found. */
export async function keepBooks(
	part: Part,
	state: NetworkState,
	difference: Difference,
	context: LookContext & { readonly signed: readonly SignedBlock[] },
	{ bookkeeper, accounts, chain, log }: BooksPorts,
	signal: AbortSignal,
): Promise<Kept> {
	const { announcements } = state
	const facts = {
		watches: context.watches,
		books: state.books,
		gaps: state.gaps,
		head: context.head.latest.number,
		since: (address: Address) => context.covered.get(address)?.since ?? 0n,
		...(state.booksSeen && { before: state.booksSeen }),
	}
	const { books, findings, witnessed, changes, summary } = await bookkeeper.close(part, facts, signal)
	const signed = signedChanges(context.signed, changes)
	const delegated = await delegationsIn(changes, signed, { accounts, chain, log }, signal)
	// A book that stays where it is shows a crossing again.
	const shown = findings.filter(({ kind, address }) => kind !== 'balance' || !delegated.open.has(address))
	const found: Found[] = [...shown, ...delegated.findings].map((finding) => ({
		alerts: alertsOfFinding(finding, part, context),
	}))
	for (const witness of witnessed) {
		const reason = `found when the books did not close, by asking ${witness.endpoint} once more`
		const own = { ...context, lateReason: () => reason }
		const seen = await look(witness.part, announcements, own, chain, signal)
		found.push(...seen.news.map(({ alerts }): Found => ({ alerts, proved: true })))
	}
	const { gone, moved } = await replacedCrossings(part, announcements, found, chain, signal)
	const later = await explainedLater(state, bookkeeper.unheard, { accounts, chain }, signal)
	const whole = withFindings(difference, found, [...gone, ...later], announcements)
	const written = withOpen(books, delegated.open, part, state.books)
	// What is not packed yet the commit packs in one breath.
	if (written !== books) await afterwards(state.books, written)
	return { difference: { ...whole, announcements: [...whole.announcements, ...moved] }, books: written, summary }
}

/**
 * The books of those whose code is looked at again stay where they are: what the part moves is put by. Whoever had none
 * gets none yet.
 */
function withOpen(
	books: Kept['books'],
	open: ReadonlySet<Address>,
	part: Part,
	before: NetworkState['books'],
): Kept['books'] {
	if (open.size === 0) return books
	const moved = summed(movementsOf(part.transactions, open, part.blocks.values()))
	const written = new Map(books)
	for (const address of open) {
		const book = before.get(address)
		if (book === undefined) written.delete(address)
		else written.set(address, deferred(book, moved.get(address) ?? still))
	}
	return written
}

/** `open`: of whom it could not be known now. */
async function delegationsIn(
	changes: readonly CodeChange[],
	signed: readonly SignedChange[],
	ports: Omit<BooksPorts, 'bookkeeper'>,
	signal: AbortSignal,
): Promise<{ readonly findings: readonly Finding[]; readonly open: ReadonlySet<Address> }> {
	const findings: Finding[] = []
	const open = new Set<Address>()
	for (const change of changes) {
		try {
			findings.push(...(await delegationsOf(change, ports, signal)))
		} catch (error) {
			if (!(error instanceof RpcError)) throw error
			if (error.kind !== 'no-data' || error.facts.forNow === true) open.add(change.address)
			else
				ports.log.warn({ address: change.address, error: error.message }, 'nobody tells whose code an address runs now')
		}
	}
	findings.push(...(await delegationsSigned(signed, ports, signal)))
	return { findings, open }
}

/** Crossings that were announced of blocks that are no more: whether those in their place show the same. */
async function replacedCrossings(
	{ span, last, blocks }: Part,
	announcements: ReadonlyMap<string, Announcement>,
	found: readonly Found[],
	chain: Chain,
	signal: AbortSignal,
): Promise<{ readonly gone: readonly Announcement[]; readonly moved: readonly Announcement[] }> {
	const gone: Announcement[] = []
	const moved: Announcement[] = []
	const again = new Map(found.flatMap(({ alerts }) => alerts.map(({ data }) => [data.id, data.balanceWei] as const)))
	for (const entry of announcements.values()) {
		const { number, hash } = entry.block
		if (kindOf(entry) !== 'balance' || !isAnnounced(entry) || number < span.from || number > span.to) continue
		const now = number === last.number ? last : (blocks.get(number) ?? (await chain.block(number, signal)))
		if (now === null || now.hash === hash) continue
		const isSame = again.has(entry.id) && again.get(entry.id) === entry.alerts[0]?.data.balanceWei
		if (isSame) moved.push({ ...entry, block: { number, hash: now.hash } })
		else gone.push(entry)
	}
	return { gone, moved }
}

/**
 * What was announced as unexplained, of the blocks of this part: whether its block is still in the chain, and whether
 * this look explains it.
 */
export async function checkFindings(
	part: Part,
	announcements: ReadonlyMap<string, Announcement>,
	difference: Difference,
	{ bookkeeper, accounts, chain }: Omit<BooksPorts, 'log'>,
	signal: AbortSignal,
): Promise<Difference> {
	const gone: Announcement[] = []
	const moved: Announcement[] = []
	for (const entry of announcements.values()) {
		const { number, hash } = entry.block
		const kind = kindOf(entry)
		if (!['unexplained', 'delegation', 'income'].includes(kind ?? '') || !isAnnounced(entry)) continue
		if (kind === 'delegation' && accounts.isPrivate) continue
		if (number < part.span.from || number > part.span.to) continue
		const block = number === part.last.number ? part.last : await chain.block(number, signal)
		if (block === null) continue
		if (kind === 'delegation') {
			if (block.hash === hash) continue
			const now = await placeOf(entry, chain, signal)
			if (now === null) gone.push(entry)
			else moved.push({ ...entry, block: { number: now.number, hash: now.hash } })
		} else if (block.hash !== hash) gone.push(entry)
		else {
			const answer = await isExplained(entry, block, part, accounts, signal)
			if (answer === 'yes') gone.push(entry)
			if (answer === 'later') bookkeeper.unheard.note(entry.id)
		}
	}
	if (gone.length === 0 && moved.length === 0) return difference
	const whole = withFindings(difference, [], gone, announcements)
	return { ...whole, announcements: [...whole.announcements, ...moved] }
}

/** Where the transaction stands that authorised it; null where it is in no block, or there was none. */
async function placeOf(
	{ txHash, block: { hash } }: Announcement,
	chain: Chain,
	signal: AbortSignal,
): Promise<BlockRef | null> {
	// Where only the state showed it, the hash of the block stands in the place of a transaction's.
	return txHash === hash ? null : chain.locate(txHash, signal)
}

function kindOf({ alerts }: Announcement) {
	return alerts[0]?.data.kind
}

/** Books that stand on blocks after this one, which have left the chain: they are opened anew. */
export function reopened(books: BookSet, back: BlockRef): ReadonlyMap<Address, null> {
	const gone = new Map<Address, null>()
	for (const address of books.beyond?.(back.number) ?? beyond(books, back.number)) gone.set(address, null)
	return gone
}

function* beyond(books: ReadonlyMap<Address, Book>, block: bigint): Iterable<Address> {
	for (const [address, book] of books) if (book.block > block || book.movedWei !== 0n) yield address
}
