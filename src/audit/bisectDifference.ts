import { withoutRepeats } from '../core/events/effective.js'
import { isAccepted, isOpen } from '../core/gaps.js'
import { closes, movementBetween, movementsOf, sumsOf, withPostings } from '../core/ledger/books.js'
import type { Announced, Proof } from '../core/reconcile/refuted.js'
import { RpcError } from '../errors.js'
import type { Finding } from '../kinds/list.js'
import type { Accounts, Posting, Witness } from '../model/books.js'
import type { Block, BlockRef, Span } from '../model/chain.js'
import type { Chain } from '../model/ports.js'
import { balanceDisagreement } from './balanceDisagreement.js'
import { blockAgain, replaced } from './blocks.js'
import { paidIn, postingCandidates } from './postingCandidates.js'
import { type Scanned, scannedAgain } from './scannedAgain.js'
import { isStateOverridden } from './stateOverride.js'

const DURING = 'the books were closed'

/** A book whose balance is not explained by the frames and receipts already read. */
export interface Suspect extends Scanned {
	readonly to: BlockRef
	/** Balance after block `to`. */
	readonly closingWei: bigint
	/** Whether receipts are known, or were observed, to state the full cost of a transaction on this chain. */
	readonly feesAreKnown: boolean
	/** Whether an unreachable endpoint was retried often enough; the answers of the others then decide. */
	readonly isHeardEnough?: boolean
	/** Whether this is the only attempt: the book cannot wait for a gap. */
	readonly isFinal?: boolean
	/** Announcements in the blocks to examine. */
	readonly announced: Announced
	/** Host whose frames were announced. Absent: unknown. */
	readonly endpoint?: string
	/** Whether what was examined is returned when an answer fails or the time ends (`Bisection.until`). */
	readonly endsEarly?: boolean
}

/** The result. Every block of the span is explained except as stated here. */
export interface Bisection {
	/** Income, withdrawals, and changes that stay unexplained. */
	readonly findings: readonly Finding[]
	/** Readings that explain a balance where the first reading did not. */
	readonly witnessed: readonly Proof[]
	/** Blocks that cannot be judged, for example because no endpoint has their state or their fee rules are unknown. */
	readonly unproved: readonly (Span & { readonly why: string })[]
	/** Whether a block's balance was explained by the fees in its receipts. */
	readonly feesHeld: boolean
	/** Blocks that were examined, in order, each with the postings that moved the address. */
	readonly looked: readonly LookedAt[]
	/** The last block examined, where that ended early: the rest of the span is not judged. Null: all of it is. */
	readonly until: Examined | null
}

export interface Examined {
	readonly block: Block
	/** Balance after it. */
	readonly wei: bigint
	/** What the frames move after it, up to the end of the span. */
	readonly restWei: bigint
}

export interface LookedAt {
	readonly block: Block
	/** The postings that close the block; all known postings if none do. */
	readonly postings: readonly Posting[]
	/** Balance after the block minus balance before it, in wei. */
	readonly changeWei: bigint
	/** Whether the frames of the first reading and the postings close the block. */
	readonly closes: boolean
}

/** See `isStateOverridden`. */
const CHANGED = ', and the balance before it is answered otherwise than when its book was closed'

const CHANGING = 'a balance was answered otherwise when it was asked for again'

interface ClosingReading {
	readonly witness: Witness
	/** All postings of the block, and the selection that closes it. */
	readonly all: readonly Posting[]
	readonly by: readonly Posting[]
	/** How many announcements the reading lacks or contradicts. */
	readonly contradictions: number
}

type Said = 'findings' | 'witnessed' | 'unproved' | 'looked'

interface Point {
	readonly number: bigint
	readonly wei: bigint
}

/**
 * Finds the blocks that explain why a book does not close, cheapest step first: bisect the span by balances down to
 * single blocks, then ask for the postings of such a block, then ask every other source and endpoint for its frames.
 * Throws RpcError when it must be retried later.
 */
export async function bisectDifference(
	suspect: Suspect,
	{ accounts, chain }: { readonly accounts: Accounts; readonly chain: Chain },
	signal: AbortSignal,
): Promise<Bisection> {
	const { address, book, to, closingWei, mayWait } = suspect
	const only = new Set([address])
	const findings: Finding[] = []
	const witnessed: Proof[] = []
	const unproved: (Span & { why: string })[] = []
	const looked: LookedAt[] = []
	let feesHeld = false
	/** The last block of the left halves that were examined, and how much had been said by then. */
	let done: { block: Block; wei: bigint; counts: Record<Said, number> } | null = null
	const scanned = scannedAgain(suspect, chain, signal)
	const { movements } = scanned
	const fitted = (postings: readonly Posting[]) => postingCandidates(postings, accounts.surePostings)

	async function halve(lo: Point, hi: Point, end: BlockRef | null): Promise<void> {
		if (closes(lo.wei, movementBetween(movements, address, lo.number + 1n, hi.number), hi.wei)) return
		if (hi.number - lo.number === 1n) return inspect(lo, hi, end)
		const middle = (lo.number + hi.number) / 2n
		const block = await needBlock(middle)
		const wei = await balanceAt(block)
		if (wei === null) {
			unproved.push({ from: lo.number + 1n, to: hi.number, why: 'no endpoint has the state of these blocks any more' })
			return
		}
		await halve(lo, { number: middle, wei }, block)
		const counts = { findings: findings.length, witnessed: witnessed.length, unproved: unproved.length }
		done = { block, wei, counts: { ...counts, looked: looked.length } }
		await halve({ number: middle, wei }, hi, end)
	}

	/** What the halves from the left up to `done` said. A block that was not examined to its end says nothing. */
	function endedEarly({ block, wei, counts }: NonNullable<typeof done>): Bisection {
		const sumOf = (from: bigint, last: bigint) => sumsOf(movementBetween(movements, address, from, last))[0] ?? 0n
		const first = book.block + 1n
		const ofPart = sumOf(first > suspect.scannedFrom ? first : suspect.scannedFrom, to.number)
		return {
			findings: findings.slice(0, counts.findings),
			witnessed: witnessed.slice(0, counts.witnessed),
			unproved: unproved.slice(0, counts.unproved),
			looked: looked.slice(0, counts.looked),
			feesHeld,
			until: { block, wei, restWei: book.movedWei + ofPart - sumOf(first, block.number) },
		}
	}

	async function inspect(lo: Point, hi: Point, end: BlockRef | null): Promise<void> {
		const block = await needBlock(hi.number)
		if (end !== null && block.hash !== end.hash) throw replaced(block.number, DURING)
		const span = { from: hi.number, to: hi.number }
		const gap = suspect.gaps.get(hi.number)
		const isGap = gap !== undefined && isOpen(gap)
		if (!isGap && !(await scanned.isKnown(hi.number))) {
			unproved.push({ ...span, why: 'what happened in these blocks could not be read again' })
			return
		}
		if (closes(lo.wei, movementBetween(movements, address, hi.number, hi.number), hi.wei)) return
		const postings = await postingsOf(block)
		if (typeof postings === 'string') {
			unproved.push({ ...span, why: postings })
			return
		}
		const frames = movementBetween(movements, address, hi.number, hi.number)
		const fitting = fitted(postings).find((one) => closes(lo.wei, withPostings(frames, one, address), hi.wei))
		const hasFees = postings.some(({ kind }) => kind === 'fee')
		const note = (by: readonly Posting[]) =>
			looked.push({ block, postings: by, changeWei: hi.wei - lo.wei, closes: by === fitting })
		if (fitting !== undefined) {
			findings.push(...paidIn(fitting, block))
			note(fitting)
			if (fitting === postings && hasFees) feesHeld = true
			return
		}
		const best = isGap ? null : await bestReading(lo, hi, block, postings)
		if (best !== null) {
			findings.push(...paidIn(best.all, block))
			note(best.by)
			const doubt = best.contradictions === 0 ? null : await doubtOf(best.witness, lo, hi, block)
			witnessed.push({ ...best.witness, address, refutes: doubt === null })
			if (doubt !== null) unproved.push({ ...span, why: doubt })
			return
		}
		if (isGap && !isAccepted(gap)) {
			const why = `block ${hi.number} is a gap, and what moved in it is not known until it is read`
			if (suspect.isFinal !== true) throw new RpcError(why, { kind: 'no-data', endpoint: '' })
			unproved.push({ ...span, why })
			return
		}
		findings.push(...paidIn(postings, block))
		note(postings)
		// Report only balances that were asked for twice, of a block still in the chain and of its parent.
		const before = await balanceAt({ number: hi.number - 1n, hash: block.parentHash })
		const after = await balanceAt(block)
		const now = before === null || before === lo.wei ? null : { wei: before, hash: block.parentHash }
		const asks = { scanned, needBlock, balanceAt, postingsOf, postingCandidates: fitted }
		const isWritten = lo.number === book.block
		if (after !== hi.wei || (now !== null && !(isWritten && (await isStateOverridden(address, book, now, asks))))) {
			unproved.push({ ...span, why: CHANGING })
			return
		}
		const answers = [
			{ ref: { number: lo.number, hash: block.parentHash }, wei: now?.wei ?? lo.wei },
			{ ref: block, wei: hi.wei },
		]
		const sides = await balanceDisagreement(address, answers, accounts, signal)
		if (sides !== null) {
			unproved.push({ ...span, why: `endpoints tell different balances: ${sides}` })
			return
		}
		if ((await needBlock(hi.number)).hash !== block.hash) throw replaced(block.number, DURING)
		const [explainedWei = 0n] = sumsOf(withPostings(frames, postings, address))
		if (hasFees && !suspect.feesAreKnown && hi.wei - lo.wei < explainedWei) {
			const why =
				'the address sent transactions, and what they cost on this chain is not known to be what their receipts say'
			unproved.push({ ...span, why })
			return
		}
		const lacking = gap?.transactions === undefined ? 'what happened in it' : gap.reason
		const reason = isGap
			? `block ${hi.number} is a gap: no source of any endpoint gives ${lacking}, and it is asked for again`
			: `no frame, fee or payment that any endpoint returns accounts for it${now === null ? '' : CHANGED}`
		const { endpoints } = accounts
		findings.push({
			kind: 'unexplained',
			address,
			block,
			span,
			openingWei: lo.wei,
			closingWei: hi.wei,
			explainedWei,
			endpoints,
			reason,
		})
	}

	/** The reading that closes the block and contradicts the fewest announcements; the first one on a tie. */
	async function bestReading(lo: Point, hi: Point, block: Block, postings: readonly Posting[]) {
		const known = new Map<string, readonly Posting[]>()
		let best: ClosingReading | null = null
		for await (const witness of readingsOf(block)) {
			if (witness.part.last.hash !== block.hash) continue
			const contradictions = suspect.announced.refutedBy(witness.part, address).length
			if (best !== null && best.contradictions <= contradictions) continue
			const seen = movementBetween(movementsOf(witness.part.transactions, only), address, hi.number, hi.number)
			// An endpoint that omits a transaction also omits its receipt; another endpoint states the cost.
			const { endpoint } = witness
			const own = known.get(endpoint) ?? (await postingsBy(endpoint, block))
			if (typeof own !== 'string') known.set(endpoint, own)
			for (const all of typeof own === 'string' ? [postings] : [postings, own]) {
				const by = fitted(all).find((one) => closes(lo.wei, withPostings(seen, one, address), hi.wei))
				if (by === undefined) continue
				best = { witness, all, by, contradictions }
				break
			}
			if (best?.contradictions === 0) break
		}
		return best
	}

	/**
	 * Why the balances do not suffice to retract an announcement; null if they do. Both balances are asked for again, and
	 * all endpoints must agree. With several endpoints, at least one other than the contradicting endpoint must give
	 * them.
	 */
	async function doubtOf({ endpoint }: Witness, lo: Point, hi: Point, block: Block): Promise<string | null> {
		const parent = { number: hi.number - 1n, hash: block.parentHash }
		if ((await balanceAt(parent)) !== lo.wei || (await balanceAt(block)) !== hi.wei) return CHANGING
		const answers = [
			{ ref: parent, wei: lo.wei },
			{ ref: block, wei: hi.wei },
		]
		const sides = await balanceDisagreement(address, answers, accounts, signal)
		if (sides !== null) return `endpoints tell different balances: ${sides}`
		if (accounts.endpoints.length < 2 || accounts.isPrivate || endpoint === suspect.endpoint) return null
		for (const { ref } of answers) {
			const voices = await accounts.balanceByEach(address, ref, signal)
			if (!voices.some((one) => one.endpoint !== endpoint))
				return `endpoints return different transactions, and only ${endpoint} returns balances`
		}
		return null
	}

	function needBlock(number: bigint): Promise<Block> {
		return blockAgain(number, DURING, chain, signal)
	}

	async function* witnessesOf({ number }: BlockRef): AsyncGenerator<Witness> {
		try {
			// Include the counterparties of announced transfers: if a transfer is wrong, it is wrong for both.
			const parties = suspect.announced.parties(address, number)
			yield* accounts.witnesses({ from: number, to: number }, parties, signal)
		} catch (error) {
			if (!isHeardEnough(error)) throw error
		}
	}

	/** Each reading, and then without what may only repeat a transfer. */
	async function* readingsOf(block: BlockRef): AsyncGenerator<Witness> {
		for await (const witness of witnessesOf(block)) {
			yield witness
			const transactions = withoutRepeats(witness.part.transactions)
			if (transactions !== null) yield { ...witness, part: { ...witness.part, transactions } }
		}
	}

	/** The postings as one endpoint gives them, or the reason why they are unknown and no longer waited for. */
	async function postingsBy(endpoint: string, block: BlockRef): Promise<readonly Posting[] | string> {
		try {
			return await postingsOf(block, endpoint)
		} catch (error) {
			if (!isHeardEnough(error)) throw error
			return error.message
		}
	}

	function isHeardEnough(error: unknown): error is RpcError {
		return error instanceof RpcError && !(mayWait && suspect.isHeardEnough !== true)
	}

	/** Null when no endpoint has the state of this block. */
	async function balanceAt(block: BlockRef): Promise<bigint | null> {
		try {
			return (await accounts.balances([address], block, signal)).get(address) ?? null
		} catch (error) {
			if (isGone(error)) return null
			throw error
		}
	}

	function isGone(error: unknown): error is RpcError {
		return error instanceof RpcError && error.kind === 'no-data' && !(mayWait && error.facts.forNow === true)
	}

	/** The postings of a block, or the reason why they cannot be known. */
	async function postingsOf(block: BlockRef, endpoint?: string): Promise<readonly Posting[] | string> {
		try {
			return await accounts.postings(block, only, signal, endpoint)
		} catch (error) {
			if (isGone(error)) return error.message
			throw error
		}
	}

	await scanned.sinceTheBook()
	try {
		await halve({ number: book.block, wei: book.balanceWei }, { number: to.number, wei: closingWei }, to)
	} catch (error) {
		const mayContinue = error instanceof RpcError ? error.kind !== 'unsettled' : signal.aborted
		if (done === null || !mayContinue || suspect.endsEarly !== true) throw error
		return endedEarly(done)
	}
	return { findings, witnessed, unproved, feesHeld, looked, until: null }
}
