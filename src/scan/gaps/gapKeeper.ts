/** The room keeps gaps: blocks that no source of any endpoint can give, while the blocks around them can be read. */

import { atMost } from '../../base/waits/wait.js'
import { leastLacking } from '../../core/gaps.js'
import { lengthOf } from '../../core/spans.js'
import type { RpcError } from '../../errors.js'
import type { AddressSet, ClientOutcome, Part, Span, SuspectBlock } from '../../model/chain.js'
import type { Address, Clock } from '../../model/glossary.js'
import type { BlockFallback, Log } from '../../model/ports.js'
import type { WatchIndex } from '../../model/watch.js'

/** Decides when a failing block is asked for again. Its state is in memory only. */
export interface GapKeeper {
	/** Whether `tryAll` would try now. */
	isDue(): boolean
	/** Asks every source for a block that failed. Returns null if the last attempt was too recent. */
	tryAll(
		suspect: SuspectBlock,
		addresses: AddressSet,
		signal: AbortSignal,
	): Promise<Part | readonly ClientOutcome[] | null>
	/** The error of a block that timed out with every source; null: walk on. A busy node answers nothing else. */
	tooLongAt(number: bigint): RpcError | null
	/** Notes that the walk over this block and all other sources timed out. An earlier request may still be answered. */
	noteTooLong(number: bigint, error: RpcError): void
	/** How many blocks to read at once from here, in consecutive requests; null: no limit. */
	readonly atOnce: (number: bigint) => number | null
	/** After a failure among several blocks, or a gap: the next are read one at a time, then in growing numbers. */
	goCarefully(from: bigint): void
	/** Notes that these blocks were read without failure. Slow ones do not count: the next are read one at a time too. */
	cameWell(span: Span): void
	/** The hash of a block that may be a gap; see BlockFallback. */
	readonly hashOf: BlockFallback['hashOf']
	/** Notes that a gap was opened; its first reread is due 30 s later. */
	opened(number: bigint): void
	/**
	 * Rereads one due gap in parallel to the polls. Waits at most `firstWaitMs`; a later call returns a result that comes
	 * after that. A gap is due at once after the program started, 30 s after it was opened, then with pauses that double
	 * up to 1 h, and whenever the operator asks for it (`wantedAtMs`). Returns null if there is no result yet.
	 */
	reread(
		gaps: readonly OpenGap[],
		addressesOf: (number: bigint) => AddressSet,
		signal: AbortSignal,
	): Promise<Part | null>
}

export interface OpenGap {
	readonly number: bigint
	readonly wantedAtMs?: number
	/** For which the block was asked. Null: for the addresses of all watches. */
	readonly addresses: readonly Address[] | null
	/** The watches at that time: if they have changed once the block was read, it is read again. */
	readonly watches: WatchIndex
}

export interface GapKeeperOptions {
	readonly fallback: BlockFallback
	readonly clock: Clock
	readonly log: Log
	/** How long a poll waits for a gap to be reread. Default 3 s. */
	readonly firstWaitMs?: number
}

interface Careful {
	readonly to: bigint
	/** How many blocks are read at once now. */
	readonly blocks: number
	/** How many single blocks must succeed in a row before two are read at once. */
	readonly alone: number
	/** How many have succeeded. */
	readonly came: number
}

const betweenMs = 4_000
const afterGapMs = 0
/** How long requests of a walk that timed out may still be answered. */
const slowWalkMs = 25_000
/** How many blocks after a failure are read carefully, since failing blocks are often close together. */
const carefulBlocks = 128n
/** Single blocks before two are read at once, then four, eight… Each failure among several doubles it. */
const firstAlone = 4
/** Once this many blocks were read at once, the limit is lifted. */
const mostCareful = 64
/** A walk waits 3.5 s for two blocks: two that take longer than this each would be asked for twice. */
const quickMs = 1_500
const longestBetweenMs = 60_000
const firstRereadMs = 30_000
const longestRereadMs = 3_600_000

export function createGapKeeper({ fallback, clock, log, firstWaitMs = 3_000 }: GapKeeperOptions): GapKeeper {
	let triedAtMs = Number.NEGATIVE_INFINITY
	let waitMs = betweenMs
	/** By block number, since the program started. */
	const rereads = new Map<bigint, { readonly times: number; readonly atMs: number; readonly dueAtMs: number }>()
	let running: { readonly number: bigint; readonly done: Promise<Part | null> } | null = null
	let found: { readonly part: Part; readonly gap: OpenGap } | null = null
	let slow: { readonly number: bigint; readonly error: RpcError; readonly sinceMs: number } | null = null
	/** Limits how many blocks are read at once, up to a block; null: no limit. */
	let careful: Careful | null = null
	/** When a careful walk first came to a block that was not read yet. */
	const reachedAtMs = new Map<bigint, number>()

	function isTryDue(): boolean {
		const sinceMs = clock() - triedAtMs
		return sinceMs < 0 || sinceMs >= waitMs
	}

	async function readOne(number: bigint, addresses: AddressSet, signal: AbortSignal): Promise<Part | null> {
		const suspect = { number, before: [], after: [], furtherAfter: [], wait: 'long' } as const
		try {
			const came = await fallback.tryAll(suspect, addresses, signal)
			if ('span' in came) return came
			log.debug(
				{ block: number, fared: came.map(({ part: _, ...one }: ClientOutcome & { part?: Part }) => one) },
				'a gap still cannot be read',
			)
			return leastLacking(came)
		} catch (error) {
			if (!signal.aborted) log.debug({ block: number, err: error }, 'a gap still cannot be read')
		}
		return null
	}

	function begin(gap: OpenGap, addresses: AddressSet, signal: AbortSignal): void {
		const { number } = gap
		const times = (rereads.get(number)?.times ?? 0) + 1
		const atMs = clock()
		const done = readOne(number, addresses, signal).then((part) => {
			const pauseMs = Math.min(longestRereadMs, firstRereadMs * 2 ** (times - 1))
			rereads.set(number, { times, atMs, dueAtMs: clock() + pauseMs })
			running = null
			found = part && { part, gap }
			return part
		})
		running = { number, done }
	}

	function isDue({ number, wantedAtMs = Number.NEGATIVE_INFINITY }: OpenGap): boolean {
		const last = rereads.get(number)
		const nowMs = clock()
		// A time in the future was noted before the clock was set back.
		return last === undefined || last.dueAtMs <= nowMs || last.atMs > nowMs || wantedAtMs > last.atMs
	}

	function take(gaps: readonly OpenGap[]): Part | null {
		if (found === null) return null
		const { part, gap } = found
		found = null
		const now = gaps.find(({ number }) => number === gap.number)
		if (now === undefined || isAskedAlike(now, gap)) return part
		rereads.delete(now.number)
		return null
	}

	return {
		isDue: isTryDue,
		async tryAll(suspect, addresses, signal) {
			if (!isTryDue()) return null
			const came = await fallback.tryAll(suspect, addresses, signal)
			if ('span' in came) return came
			triedAtMs = clock()
			// If no endpoint answers, the block is not at fault, and asking all of them adds load: wait longer.
			waitMs = came.some(({ result }) => result === 'fails') ? betweenMs : Math.min(longestBetweenMs, waitMs * 2)
			return came
		},
		tooLongAt: (number) => (slow?.number === number && clock() - slow.sinceMs > slowWalkMs ? slow.error : null),
		noteTooLong(number, error) {
			slow = { number, error, sinceMs: slow?.number === number ? slow.sinceMs : clock() }
		},
		atOnce(number) {
			if (careful !== null && number > careful.to) careful = null
			if (careful === null) reachedAtMs.clear()
			else if (!reachedAtMs.has(number)) reachedAtMs.set(number, clock())
			return careful?.blocks ?? null
		},
		goCarefully(from) {
			const { blocks = 1, alone = firstAlone } = careful ?? {}
			careful = { to: from + carefulBlocks, blocks: 1, alone: blocks > 1 ? 2 * alone : alone, came: 0 }
		},
		cameWell(span) {
			if (careful === null || lengthOf(span) < careful.blocks) return
			const tookMs = clock() - (reachedAtMs.get(span.from) ?? clock())
			for (const number of reachedAtMs.keys()) if (number <= span.to) reachedAtMs.delete(number)
			if (careful.blocks === 1 && tookMs > quickMs) return
			const came = careful.came + 1
			if (careful.blocks === 1 && came < careful.alone) careful = { ...careful, came }
			else if (careful.blocks === mostCareful) careful = null
			else careful = { ...careful, blocks: 2 * careful.blocks }
		},
		hashOf: fallback.hashOf,
		opened(number) {
			// The next block may fail likewise, and it needs its own attempt at once.
			waitMs = afterGapMs
			rereads.set(number, { times: 0, atMs: clock(), dueAtMs: clock() + firstRereadMs })
		},
		async reread(gaps, addressesOf, signal) {
			const open = new Set(gaps.map(({ number }) => number))
			for (const number of rereads.keys()) if (!open.has(number)) rereads.delete(number)
			if (running === null && found === null) {
				const due = gaps.find(isDue)
				if (due === undefined) return null
				begin(due, addressesOf(due.number), signal)
			}
			if (running !== null) await atMost(running.done, firstWaitMs)
			return take(gaps)
		},
	}
}

function isAskedAlike(one: OpenGap, other: OpenGap): boolean {
	const [own, others] = [one.addresses, other.addresses]
	const isSame =
		own === others || (own?.length === others?.length && own?.every((address, at) => address === others?.[at]))
	return isSame === true && one.watches === other.watches
}
