/**
 * The room reads the state of a private network from the access lists of its blocks alone, so that no endpoint learns
 * which addresses are watched: the same is asked about every block. A book is opened at the first list that names its
 * watch.
 */

import { signalWithin } from '../../base/waits/deadline.js'
import { MOST_BOOKS, movementsOf, tooManyInWords } from '../../core/ledger/books.js'
import type { UnprovedFacts } from '../../core/ledger/unproved.js'
import { higher } from '../../core/spans.js'
import type { BookSet, BooksSummary } from '../../model/books.js'
import type { AddressSet, Part } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import { type BlockLists, listedCodes, withListed } from '../accessLists.js'
import type { AuditorOptions, PartAudit, StateReader } from '../auditor.js'
import { deferAll } from '../booksDraft.js'
import { summaryOf } from '../booksSummary.js'
import { createLateLists, type ListedRun, type Missing, waitingFrom } from './lateLists.js'
import { listedBalances, withFees, withPosted } from './listedBalances.js'
import { giveBack, openAnew, openingsOf, takeBack } from './listedOpenings.js'
import { hiddenInOpenings, openingsIn } from './openingBlocks.js'

interface Listed {
	readonly from: bigint
	readonly to: bigint
}

interface Last {
	readonly hasLists: boolean
	readonly reason: string | null
	readonly listed: Listed | null
	readonly waiting?: NonNullable<BooksSummary['waiting']>
}

/** Time limit for examining books that do not close, since the next part waits. */
const MOST_MS = 8_000

const noLists = 'blocks of this chain name no access lists, and on a private network no endpoint is asked for a balance'
const notGiven = 'the access list of a block was not given'

function missingInWords({ falseBy }: Missing): string {
	return falseBy === null ? notGiven : `the access list of a block was false: it contradicts the header (${falseBy})`
}

export function createListedState(options: AuditorOptions): StateReader {
	const { accounts, chain, clock, log } = options
	const lateLists = createLateLists({ accounts, chain, clock, log })
	let last: Last = { hasLists: true, reason: null, listed: null }

	async function read(audit: PartAudit, outer: AbortSignal): Promise<void> {
		const { part, kept, draft } = audit
		const { before, gaps } = audit.facts
		if (part.last.accessListHash === undefined) {
			deferAll(draft, movementsOf(part.transactions, kept, part.blocks.values()))
			last = { hasLists: false, reason: noLists, listed: null }
			return
		}
		const from = waitingFrom(before, part)
		const reading = await lateLists.read(part, from, { kept, gaps }, outer)
		let listed = listedBefore(before, from)
		const putBefore = takeBack(draft, reading.again, kept, listed)
		for (const run of reading.again) listed = await take(run, listed, audit, outer)
		giveBack(draft, putBefore)
		for (const run of reading.runs) listed = await take(run, listed, audit, outer)
		for (const one of kept.size === 0 ? [] : reading.lost) {
			const span = { fromBlock: Number(one.from), toBlock: Number(one.to) }
			audit.noteUnproved({ ...span, count: kept.size, addresses: [], why: missingInWords(one) })
		}
		const isWhole = listed?.to === part.span.to
		last = { hasLists: true, reason: isWhole ? null : missingInWords(reading.lost.at(-1) ?? { falseBy: null }), listed }
		if (reading.waits === null) return
		const { from: first, falseBy } = reading.waits
		const waiting = { from: Number(first), to: Number(part.span.to) }
		const why = falseBy === null ? 'was not given yet' : `is false, since it contradicts the header (${falseBy})`
		const reason = `the access list of block ${waiting.from} ${why}: it is asked for again`
		last = { ...last, reason, waiting }
	}

	async function take(
		{ lists, ...run }: ListedRun,
		known: Listed | null,
		audit: PartAudit,
		outer: AbortSignal,
	): Promise<Listed | null> {
		if (lists !== null) return closeOver({ ...run, lists }, known, audit, outer)
		deferAll(audit.draft, movementsOf(run.part.transactions, audit.kept, run.part.blocks.values()))
		return known
	}

	/** Closes the books over one run. Returns the contiguous checked blocks, up to the run's end. */
	async function closeOver(
		{ part, lists, postings }: ListedRun & { readonly lists: BlockLists },
		known: Listed | null,
		audit: PartAudit,
		outer: AbortSignal,
	): Promise<Listed> {
		const { kept, draft, found } = audit
		const { books, before, since, announced } = audit.facts
		const isGoingOn = known !== null && part.span.from === known.to + 1n
		const now = { from: isGoingOn ? known.from : part.span.from, to: part.span.to }
		// Drop the book of an address that is no longer watched: it would lack this movement if the watch returned.
		for (const { changes } of lists) {
			for (const address of changes.balances.keys())
				if (!kept.has(address) && books.has(address)) draft.set(address, null)
		}
		const signal = signalWithin(MOST_MS, outer)
		const paid: Part = { ...part, transactions: withFees(part.transactions, postings) }
		const moved = movementsOf(paid.transactions, kept, part.blocks.values())
		const movements = withPosted(withListed(moved, lists, kept), postings)
		const openings = openingsOf(draft, movements, part.span.from, now.from)
		const opened = openAnew(draft, movements, openings, lists)
		const begun = openingsIn(lists, kept, draft)
		const state = listedBalances(part, { lists, movements, openings, postings }, { accounts, chain })

		// Every book begins with its first movement, so that is not reported; a book opened again is.
		const isReplaced = before?.listed !== undefined && part.span.from <= BigInt(before.listed.to)
		const run = {
			...{ part: paid, lists, asked: state.asked, accounts: state.accounts, chain: state.chain },
			first: (address: Address) =>
				opened.get(address) ?? (isReplaced ? higher(part.span.from, since(address)) : part.span.to + 1n),
			// The balance before a book is unknown, and thresholds do not exist on a private network.
			isNew: () => false,
			failedLooks: new Map(),
			isFinal: true,
			postings,
		}
		await audit.closeOver(run, signal)
		found.changes.push(...listedCodes(lists, kept, found.changes))
		const feesAreKnown = audit.feesAreKnown()
		const opening = await hiddenInOpenings(
			begun,
			{ transactions: part.transactions, postings, feesAreKnown, since, announced },
			accounts,
			signal,
		)
		found.findings.push(...opening.findings)
		found.witnessed.push(...opening.witnessed)
		for (const one of opening.unproved) audit.noteUnproved(one)
		outer.throwIfAborted()
		return now
	}

	return {
		read,
		summary(kept, books, unproved, watched) {
			if (watched > MOST_BOOKS) return summaryIn(noAddresses, books, { reason: tooManyInWords, unproved }, null)
			const { hasLists, reason, listed, waiting } = last
			const isNone = !hasLists && books.size === 0
			const now = summaryIn(isNone ? noAddresses : kept, books, { reason, unproved }, listed)
			return waiting === undefined ? now : { ...now, waiting }
		},
	}
}

const noAddresses: AddressSet = new Set()

/** The checked range as stored, cut to blocks before `block`; null if nothing is left. */
function listedBefore(before: BooksSummary | undefined, block: bigint): Listed | null {
	if (before?.listed === undefined) return null
	const [from, to] = [BigInt(before.listed.from), BigInt(before.listed.to)]
	if (from >= block) return null
	return { from, to: to < block ? to : block - 1n }
}

function summaryIn(
	kept: AddressSet,
	books: BookSet,
	{ reason, unproved }: { readonly reason: string | null; readonly unproved: UnprovedFacts },
	span: Listed | null,
): BooksSummary {
	const { unopened = 0, ...own } = summaryOf(kept, books, reason, unproved)
	// Watches without a book have not moved since the lists began, so they do not count as open.
	const plain = { ...own, open: own.open.filter((address) => books.has(address)), openCount: own.openCount - unopened }
	if (span === null) return plain
	const listed = { from: Number(span.from), to: Number(span.to) }
	const isWhole = own.closedTo === null || own.closedTo >= listed.from - 1
	return { ...plain, closedTo: isWhole ? listed.to : own.closedTo, listed }
}
