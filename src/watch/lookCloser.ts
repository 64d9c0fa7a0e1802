import { closes, movementBetween, movementsOf, sumsOf, withPostings } from '../core/books.js'
import type { Finding } from '../core/findings.js'
import { isOpen } from '../core/gaps.js'
import { RpcError } from '../errors.js'
import type { Accounts, Posting, Witness } from '../model/books.js'
import type { Block, BlockRef, Span } from '../model/chain.js'
import type { Chain } from '../model/ports.js'
import type { Gap } from '../model/state.js'
import { paidIn, readings } from './posted.js'
import { isRewritten } from './rewritten.js'
import { type Scanned, scannedAgain } from './scannedAgain.js'
import { sidesOf } from './sides.js'

/** A book that does not close by what the frames and receipts at hand tell. */
export interface Suspect extends Scanned {
	readonly to: BlockRef
	/** After `to`. */
	readonly closingWei: bigint
	/** Blocks that nobody could give: what they moved is not known, and nobody is asked for them here. */
	readonly gaps: ReadonlyMap<bigint, Gap>
	/** Whether receipts are known, or were seen, to say all that a transaction costs on this chain. */
	readonly feesAreKnown: boolean
	/** An endpoint that was not heard was waited for long enough: what the others tell is said. */
	readonly isHeardEnough?: boolean
}

/** What came of it: everything in the span is explained, but for what stands here. */
export interface CloserLook {
	/** Withdrawals, and what stays unexplained. */
	readonly findings: readonly Finding[]
	/** Who gave frames that were missing, with what was given. */
	readonly witnessed: readonly Witness[]
	/**
	 * Blocks of which nothing can be said, since no endpoint has their state, or the rules of their fees are not known.
	 */
	readonly unproved: readonly (Span & { readonly why: string })[]
	/** A block closed by the fees of its receipts. */
	readonly feesHeld: boolean
	/** Blocks that were looked at, in order, with what was found to move the address there besides the frames. */
	readonly looked: readonly LookedAt[]
	/** Balance at the beginning of the last stretch that closed by its frames alone; null where it did not. */
	readonly lastFromWei: bigint | null
}

export interface LookedAt {
	readonly block: Block
	/** Those that close the block; where nothing does, all that are known. */
	readonly postings: readonly Posting[]
	/** Who gave the frames that close it; null: they were known. */
	readonly witness: Witness | null
	/** What the block changed the balance by. */
	readonly changeWei: bigint
}

/** See `isRewritten`. */
const CHANGED = ', and the balance before it is answered otherwise than when its book was closed'

interface Point {
	readonly number: bigint
	readonly wei: bigint
}

/**
 * Cheapest first: the span is halved by balances until one block stands; what that moves without frames is asked for;
 * then every other source and endpoint is asked for its frames. Throws RpcError when it must be tried again later.
 */
export async function lookCloser(
	suspect: Suspect,
	{ accounts, chain }: { readonly accounts: Accounts; readonly chain: Chain },
	signal: AbortSignal,
): Promise<CloserLook> {
	const { address, book, to, closingWei, mayWait } = suspect
	const only = new Set([address])
	const findings: Finding[] = []
	const witnessed: Witness[] = []
	const unproved: (Span & { why: string })[] = []
	const looked: LookedAt[] = []
	let lastFromWei: bigint | null = null
	let feesHeld = false
	const scanned = scannedAgain(suspect, chain, signal)
	const { movements } = scanned
	const fitted = (postings: readonly Posting[]) => readings(postings, accounts.surePostings)

	async function halve(lo: Point, hi: Point, end: BlockRef | null): Promise<void> {
		if (closes(lo.wei, movementBetween(movements, address, lo.number + 1n, hi.number), hi.wei)) {
			if (hi.number === to.number) lastFromWei = lo.wei
			return
		}
		if (hi.number - lo.number === 1n) return look(lo, hi, end)
		const middle = (lo.number + hi.number) / 2n
		const block = await needBlock(middle)
		const wei = await balanceAt(block)
		if (wei === null) {
			unproved.push({ from: lo.number + 1n, to: hi.number, why: 'no endpoint has the state of these blocks any more' })
			return
		}
		await halve(lo, { number: middle, wei }, block)
		await halve({ number: middle, wei }, hi, end)
	}

	async function look(lo: Point, hi: Point, end: BlockRef | null): Promise<void> {
		const block = await needBlock(hi.number)
		if (end !== null && block.hash !== end.hash) throw moved(block.number)
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
		const note = (by: readonly Posting[], witness: Witness | null) =>
			looked.push({ block, postings: by, witness, changeWei: hi.wei - lo.wei })
		if (fitting !== undefined) {
			findings.push(...paidIn(fitting, block))
			note(fitting, null)
			if (fitting === postings && hasFees) feesHeld = true
			return
		}
		const known = new Map<string, readonly Posting[]>()
		for await (const witness of isGap ? [] : witnessesOf(span)) {
			if (witness.part.last.hash !== block.hash) continue
			const seen = movementBetween(movementsOf(witness.part.transactions, only), address, hi.number, hi.number)
			// Who leaves a transaction out leaves its receipt out, too: what it cost another endpoint tells.
			const { endpoint } = witness
			const own = known.get(endpoint) ?? (await postingsBy(endpoint, block))
			if (typeof own !== 'string') known.set(endpoint, own)
			for (const all of typeof own === 'string' ? [postings] : [postings, own]) {
				const by = fitted(all).find((one) => closes(lo.wei, withPostings(seen, one, address), hi.wei))
				if (by === undefined) continue
				findings.push(...paidIn(all, block))
				note(by, witness)
				witnessed.push(witness)
				return
			}
		}
		findings.push(...paidIn(postings, block))
		note(postings, null)
		// Said only of two balances that were asked for once more, of a block that stands and of the one right before it.
		const before = await balanceAt({ number: hi.number - 1n, hash: block.parentHash })
		const after = await balanceAt(block)
		const now = before === null || before === lo.wei ? null : { wei: before, hash: block.parentHash }
		const asks = { scanned, needBlock, balanceAt, postingsOf, readings: fitted }
		const isWritten = lo.number === book.block
		if (after !== hi.wei || (now !== null && !(isWritten && (await isRewritten(address, book, now, asks))))) {
			unproved.push({ ...span, why: 'a balance was answered otherwise when it was asked for again' })
			return
		}
		const answers = [
			{ ref: { number: lo.number, hash: block.parentHash }, wei: now?.wei ?? lo.wei },
			{ ref: block, wei: hi.wei },
		]
		const sides = await sidesOf(address, answers, accounts, signal)
		if (sides !== null) {
			unproved.push({ ...span, why: `endpoints tell different balances: ${sides}` })
			return
		}
		if ((await needBlock(hi.number)).hash !== block.hash) throw moved(block.number)
		const [explainedWei = 0n] = sumsOf(withPostings(frames, postings, address))
		if (hasFees && !suspect.feesAreKnown && hi.wei - lo.wei < explainedWei) {
			const why =
				'the address sent transactions, and what they cost on this chain is not known to be what their receipts say'
			unproved.push({ ...span, why })
			return
		}
		const reason = isGap
			? `block ${hi.number} is a gap: no source of any endpoint gives what happened in it, and it is asked for again`
			: `no frame, fee or payment of the chain that any endpoint tells of accounts for it${now === null ? '' : CHANGED}`
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

	async function needBlock(number: bigint): Promise<Block> {
		const block = await chain.block(number, signal)
		if (block === null) throw moved(number)
		return block
	}

	async function* witnessesOf(span: Span): AsyncGenerator<Witness> {
		try {
			yield* accounts.witnesses(span, only, signal)
		} catch (error) {
			if (!isHeardEnough(error)) throw error
		}
	}

	/** Or why they cannot be known, and are not waited for any more. */
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

	/** Null where nobody has that state. */
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

	/** Or why they cannot be known. */
	async function postingsOf(block: BlockRef, endpoint?: string): Promise<readonly Posting[] | string> {
		try {
			return await accounts.postings(block, only, signal, endpoint)
		} catch (error) {
			if (isGone(error)) return error.message
			throw error
		}
	}

	await scanned.sinceTheBook()
	await halve({ number: book.block, wei: book.balanceWei }, { number: to.number, wei: closingWei }, to)
	return { findings, witnessed, unproved, feesHeld, looked, lastFromWei }
}

function moved(block: bigint): RpcError {
	return new RpcError(`block ${block} was replaced while the books were closed`, { kind: 'unsettled', endpoint: '' })
}
