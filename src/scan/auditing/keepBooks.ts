import { headerIn } from '../../audit/blocks.js'
import { afterwards } from '../../audit/booksSummary.js'
import { type CodeChange, delegationsOf } from '../../audit/delegations/delegations.js'
import { inSteps } from '../../base/waits/slices.js'
import { addressOfId } from '../../core/alerts/alertId.js'
import { deferred, movementsOf, still, summed } from '../../core/ledger/books.js'
import {
	type Difference,
	isAnnounced,
	isSeenIn,
	noDifference,
	reconcile,
	recordOfEntry,
} from '../../core/reconcile/reconcile.js'
import { announcedIn, type Proof, withRefuted } from '../../core/reconcile/refuted.js'
import { rememberedBlocks } from '../../core/target.js'
import { RpcError } from '../../errors.js'
import type { Delegation } from '../../kinds/delegation.js'
import { noAnswers } from '../../kinds/standing.js'
import type { BooksSummary } from '../../model/books.js'
import type { Block, Part } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Chain } from '../../model/ports.js'
import type { Announcement, Commit, NetworkState } from '../../model/state.js'
import { reconcileWith } from '../look/answers.js'
import { sightOfFindings } from '../look/findingAlerts.js'
import { type LookContext, look } from '../look/look.js'
import type { PollPorts } from '../pollSession.js'
import type { AuditPorts } from './auditPorts.js'
import { notAnnounced } from './delegationsAnnounced.js'
import type { Handover } from './handover.js'
import { isExplained } from './recheck.js'

/** What closing the books over a part leads to: what to announce, and the books to write in the same commit. */
export interface Kept {
	readonly difference: Difference
	readonly books: NonNullable<Commit['books']>
	readonly summary: BooksSummary
}

/** Takes the movements of a part into the books, closes the books as far as balances are given, and reports. */
export async function keepBooks(
	{ part: scanned, context }: Handover,
	state: NetworkState,
	ports: PollPorts & { readonly audit: { readonly auditor: NonNullable<AuditPorts['auditor']> } },
	signal: AbortSignal,
): Promise<Kept> {
	const { announcements } = state
	const { auditor } = ports.audit
	const { chain } = ports
	const { part, closeAt } = await withAnnounced(scanned, announcements, chain, signal)
	const judged = await judgedBy(part, announcements, ports, signal)
	const facts = {
		watches: context.watches,
		books: state.books,
		gaps: state.gaps,
		head: context.head.latest.number,
		since: (address: Address) => context.covered.get(address)?.since ?? 0n,
		announced: announcedIn(context.network.chainId, announcements.values(), judged.announcements),
		closeAt,
		...(state.booksSeen && { before: state.booksSeen }),
	}
	const { books, findings, witnessed, changes, summary } = await auditor.close(part, facts, signal)
	for (const { address, from } of changes) ports.audit.firstLook?.askAgain(address, from + 1n)
	const delegated = await delegationsIn(changes, announcements, ports, signal)
	// A book that stays open shows the same threshold crossing again at the next closing.
	const shown = findings.filter((one) => one.kind !== 'balance' || !delegated.open.has(one.address))
	const found = sightOfFindings([...shown, ...delegated.findings], part, context)
	const written = withOpen(books, delegated.open, part, state.books)
	// Closing the books again shows a threshold crossing again; `judgedBy` checks the other findings. A book that a
	// reorganisation dropped and that could not be opened again yet shows none: its next balance counts as known.
	const hasBook = (one: Address) => (written.has(one) ? written.get(one) !== null : state.books.has(one))
	const isClosed = (one: Address) => hasBook(one) || !context.watches.has(one)
	const judges = (entry: Announcement) => recordOfEntry(entry)?.isOfNow === true && isClosed(addressOfId(entry.id))
	const sight = { ...found, judges }
	let whole = await reconcileWith(announcements, sight, { part, before: judged, chain }, signal)
	for (const proof of witnessed) whole = await withProof(proof, whole, { ...context, state }, chain, signal)
	// Yields between books; the commit would apply all of them without yielding.
	if (written !== books) await afterwards(state.books, written)
	return { difference: whole, books: written, summary }
}

/**
 * The watches with an announcement from the state, by its block: their books are closed there, so that what was found
 * in a replaced block is compared with the block that replaced it. The part gets the headers of these blocks.
 */
async function withAnnounced(
	part: Part,
	announcements: ReadonlyMap<string, Announcement>,
	chain: Chain,
	signal: AbortSignal,
): Promise<{ readonly part: Part; readonly closeAt: ReadonlyMap<bigint, ReadonlySet<Address>> }> {
	const closeAt = new Map<bigint, Set<Address>>()
	const blocks = new Map<bigint, Block>(part.blocks)
	for (const entry of announcements.values()) {
		const { number } = entry.block
		if (number < part.span.from || number > part.span.to || !isAnnounced(entry) || !isSeenIn(entry, 'state')) continue
		const header = await headerIn({ last: part.last, blocks }, number, chain, signal)
		if (header === null) continue
		blocks.set(number, header)
		const addresses = closeAt.get(number) ?? new Set()
		closeAt.set(number, addresses.add(addressOfId(entry.id)))
	}
	return closeAt.size === 0 ? { part, closeAt } : { part: { ...part, blocks }, closeAt }
}

/** Checks announcements from the state or from signatures: are they in the chain, does this reading explain them. */
export async function judgedBy(
	part: Part,
	announcements: ReadonlyMap<string, Announcement>,
	{ audit: { accounts }, chain }: PollPorts,
	signal: AbortSignal,
): Promise<Difference> {
	const read = (entry: Announcement, block: Block) => isExplained(entry, block, part, accounts, signal)
	const judges = (entry: Announcement) =>
		isSeenIn(entry, 'state', 'transactions') && recordOfEntry(entry)?.isOfNow === false
	const sight = { span: part.span, present: new Map(), alerts: [], judges, isWhole: false }
	return await reconcileWith(announcements, sight, { part, before: noDifference, chain, read }, signal)
}

/** Announces the events that a witness reading proves, and retracts those that it refutes. */
export async function withProof(
	proof: Proof,
	difference: Difference,
	{ state, ...context }: LookContext & { readonly state: NetworkState },
	chain: Chain,
	signal: AbortSignal,
): Promise<Difference> {
	const { part, address, endpoint, refutes } = proof
	const { announcements } = state
	const announced = announcedIn(context.network.chainId, announcements.values(), difference.announcements)
	const refuted = refutes ? announced.refutedBy(part, address) : []
	const reason = `found when the books did not close, by asking ${endpoint} once more`
	const lookAt = (read: Part, known: ReadonlyMap<string, Announcement>) =>
		look(read, known, { ...context, lateReason: () => reason }, chain, signal)
	const seen = await lookAt(part, announcements)
	// The part was also read for the counterparties of refuted transfers. It proves nothing else about them.
	const proved = new Set(refuted.map(({ txHash }) => txHash))
	const names = ({ from, to }: { readonly from: Address | null; readonly to: Address | null }) =>
		from === address || to === address
	for (const { txHash, block, frames } of part.transactions) if (frames.some(names)) proved.add(txHash ?? block.hash)
	for (const event of part.tokens ?? []) if (names(event)) proved.add(event.txHash)
	const forgotten = await forgottenIds()
	const alerts = seen.news
		.flatMap((one) => one.alerts)
		.filter(({ data }) => proved.has(data.txHash) && !forgotten.has(data.id))
	const sight = { span: part.span, present: new Map(), judges: () => false, proves: true, alerts } as const
	return await inSteps(reconcile(announcements, sight, noAnswers, withRefuted(difference, refuted)))

	/** Below the remembered blocks announcements are not known: what the ordinary reading shows was announced. */
	async function forgottenIds(): Promise<ReadonlySet<string>> {
		const ids = new Set<string>()
		if (part.span.to > state.settled.number - rememberedBlocks || seen.news.length === 0) return ids
		for await (const usual of chain.walk(part.span, context.watches, signal)) {
			if (usual.last.hash !== part.last.hash) continue
			for (const { alerts: list } of (await lookAt(usual, new Map())).news)
				for (const { data } of list) ids.add(data.id)
		}
		return ids
	}
}

/** Keeps books whose code must be read again, and defers what the part moves. No new book is opened. */
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
		else written.set(address, deferred(book, moved.get(address) ?? still, part.span.to))
	}
	return written
}

/** Finds the delegations in code changes. `open`: addresses whose code could not be read now. */
async function delegationsIn(
	changes: readonly CodeChange[],
	announcements: ReadonlyMap<string, Announcement>,
	{ audit: { accounts }, chain, log }: PollPorts,
	signal: AbortSignal,
): Promise<{ readonly findings: readonly Delegation[]; readonly open: ReadonlySet<Address> }> {
	const findings: Delegation[] = []
	const open = new Set<Address>()
	for (const change of changes) {
		try {
			const found = await delegationsOf(change, { accounts, chain }, signal)
			findings.push(...found.filter((one) => notAnnounced(one, change.from, announcements)))
		} catch (error) {
			if (!(error instanceof RpcError)) throw error
			if (error.kind !== 'no-data' || error.facts.forNow === true) open.add(change.address)
			else
				log.warn(
					{ address: change.address, error: error.message },
					'no endpoint gives the code that an address runs now',
				)
		}
	}
	return { findings, open }
}
