/**
 * The room walks over a span of blocks and reads ahead: pieces are requested before they are needed. When a walk stops
 * or fails, its requests are kept for the next walk that reaches those blocks.
 */

import { isLowPriority, makeLowPriority } from '../../base/waits/priority.js'
import { cut, firstOf, restOf } from '../../core/spans.js'
import { RpcError } from '../../errors.js'
import type { AddressSet, BlockRef, Part, Span, WalkSpan } from '../../model/chain.js'
import type { Clock } from '../../model/glossary.js'
import {
	askFailedAgain,
	end,
	fewOf,
	firstBlock,
	heed,
	newTrack,
	noLimit,
	type Piece,
	type Reading,
	skipTo,
	splitNext,
	type Track,
	uncutEnd,
} from './track.js'

export interface Prefetch {
	/**
	 * The parts of a span, in order, without a gap, of one chain (else `unsettled`). A failure is thrown after all parts
	 * before it; the next walk from there retries only what failed. When `signal` is aborted, requests under way end;
	 * answers that came wait for the next walk.
	 */
	walk(span: WalkSpan, addresses: AddressSet, signal: AbortSignal): AsyncGenerator<Part, void, undefined>
	/** A walk of this span comes soon: its first pieces are requested now. */
	expect(span: WalkSpan, addresses: AddressSet, signal: AbortSignal): void
	/** Drops kept answers of blocks after this one, which may have left the chain; null: of any block. */
	forget(after: bigint | null): void
}

export interface PrefetchOptions {
	/** Reads the first blocks of a piece, as many as the endpoint gives in one request. */
	readonly readFirst: (piece: Span, addresses: AddressSet, signal: AbortSignal) => Promise<Part>
	/** Most pieces that may be under way or wait to be taken, now. */
	readonly width: () => number
	readonly blocks: (addresses: AddressSet) => number
	/** How long a walk waits for its next piece. Default: no limit. */
	readonly waitMs?: (piece: Span) => number
	/** After that wait: how much longer to wait; 0: no longer. Default: 0. */
	readonly moreMs?: (piece: Span, waitedMs: number) => number
	/** The wait for this piece has ended without an answer. */
	readonly onLate?: (piece: Span) => void
	readonly clock: Clock
}

/** Most kept walks: the new blocks, a second look, and backfills. */
const mostKept = 4
/** Long enough for the next poll. */
const keptMs = 60_000

export function createPrefetch({ readFirst, width, blocks, waitMs, moreMs, onLate, clock }: PrefetchOptions): Prefetch {
	const kept: Track[] = []

	function open(span: WalkSpan, addresses: AddressSet, signal: AbortSignal): Track {
		const track = find(span, addresses) ?? start(span, addresses)
		track.to = span.to
		track.atOnce = span.atOnce ?? noLimit
		heed(track, signal)
		return track
	}

	/** Starts a walk. Kept walks of the same addresses that begin before it and reach its first block are ended. */
	function start({ from, to }: Span, addresses: AddressSet): Track {
		for (const [index, track] of [...kept.entries()].reverse()) {
			const first = firstBlock(track)
			if (track.addresses !== addresses || first >= from || from > track.to + 1n) continue
			kept.splice(index, 1)
			end(track)
		}
		return newTrack(addresses, { from, to }, clock())
	}

	/** A kept walk that stopped at the start of this one or before it, since a block may have been skipped. */
	function find({ from, to }: Span, addresses: AddressSet): Track | null {
		const index = kept.findIndex(
			(track) => track.addresses === addresses && firstBlock(track) <= from && from < track.uncut,
		)
		const track = index === -1 ? undefined : kept.splice(index, 1)[0]
		if (track === undefined) return null
		if (track.uncut > to + 1n || clock() - track.leftAtMs > keptMs) {
			end(track)
			return null
		}
		skipTo(track, from)
		askFailedAgain(track)
		return track
	}

	function keep(track: Track): void {
		uncutEnd(track)
		if (track.pieces.length === 0) {
			end(track)
			return
		}
		track.leftAtMs = clock()
		kept.push(track)
		const oldest = kept.length > mostKept ? kept.shift() : undefined
		if (oldest !== undefined) end(oldest)
	}

	/** Requests as much as may be under way, in order; the next piece in any case. */
	function fill(track: Track): void {
		const few = fewOf(track)
		if (few !== null) splitNext(track, few)
		const most = few === null ? Math.max(1, width()) : 1
		const [next] = track.pieces
		// When the width shrinks, more pieces may be in flight than it now allows.
		if (next !== undefined && next.reading === null) ask(track, next)
		let asked = track.pieces.filter(({ reading }) => reading !== null).length
		for (const piece of track.pieces) {
			if (asked >= most) return
			if (piece.reading !== null) continue
			ask(track, piece)
			asked += 1
		}
		for (; asked < most && track.uncut <= track.to; asked += 1) {
			const length = Math.min(few ?? Number.POSITIVE_INFINITY, blocks(track.addresses))
			const span = firstOf({ from: track.uncut, to: track.to }, length)
			const piece: Piece = { span, reading: null }
			track.pieces.push(piece)
			track.uncut = span.to + 1n
			ask(track, piece)
		}
	}

	function ask(track: Track, piece: Piece): void {
		const stop = new AbortController()
		if (track.heeds !== null && isLowPriority(track.heeds)) makeLowPriority(stop.signal)
		const reading: Reading = { part: readFirst(piece.span, track.addresses, stop.signal), stop, outcome: null }
		piece.reading = reading
		reading.part.then(
			(part) => {
				reading.outcome = 'came'
				const rest = restOf(piece.span, part.span.to)
				const index = track.pieces.indexOf(piece)
				if (rest === null || index === -1 || piece.reading !== reading) return
				piece.span = { from: piece.span.from, to: part.span.to }
				const more = cut(rest, blocks(track.addresses)).map((span): Piece => ({ span, reading: null }))
				track.pieces.splice(index + 1, 0, ...more)
				if (track.heeds?.aborted !== true) fill(track)
			},
			// Thrown if this walk reaches it. The next walk asks again: the endpoint may have the blocks by then.
			() => {
				reading.outcome = 'failed'
			},
		)
	}

	/** Throws RpcError. After a timeout the request stays under way, for the next walk. */
	async function soon(piece: Piece, signal: AbortSignal): Promise<Part> {
		const { span, reading } = piece
		if (reading === null) throw new Error('a piece of a walk was not asked for')
		const done = reading.part.catch((error: unknown) => {
			if (piece.reading === reading) piece.reading = null
			signal.throwIfAborted()
			throw error
		})
		if (waitMs === undefined) return done
		let ms = waitMs(span)
		let timer: NodeJS.Timeout | undefined
		const late = new Promise<never>((_, reject) => {
			const look = () => {
				const more = moreMs?.(span, ms) ?? 0
				if (more <= 0) {
					onLate?.(span)
					return reject(tooLate(span, ms))
				}
				ms += more
				timer = setTimeout(look, more)
			}
			timer = setTimeout(look, ms)
		})
		try {
			return await Promise.race([done, late])
		} finally {
			clearTimeout(timer)
		}
	}

	return {
		async *walk(span, addresses, signal) {
			signal.throwIfAborted()
			const track = open(span, addresses, signal)
			let before: BlockRef | null = null
			try {
				for (;;) {
					fill(track)
					const piece = track.pieces[0]
					if (piece === undefined) return
					const part = await soon(piece, signal)
					signal.throwIfAborted()
					track.pieces.shift()
					checkFollows(part, before)
					before = part.last
					// Request the next piece while the caller processes this one.
					if (fewOf(track) === null) fill(track)
					yield part
				}
			} finally {
				keep(track)
			}
		},
		expect(span, addresses, signal) {
			if (signal.aborted || span.from > span.to) return
			const track = open(span, addresses, signal)
			fill(track)
			keep(track)
		},
		forget(after) {
			const mayHaveLeft = ({ reading, span }: Piece) => reading !== null && (after === null || span.to > after)
			for (const track of kept.splice(0)) {
				if (track.pieces.some(mayHaveLeft)) end(track)
				else kept.push(track)
			}
		},
	}
}

/** Parts are read by several requests, maybe from several endpoints: they must be of one chain. Throws `unsettled`. */
function checkFollows({ span, parentHash }: Part, before: BlockRef | null): void {
	if (before === null || parentHash === undefined || parentHash === before.hash) return
	const words = `The chain changed while it was read: block ${span.from} does not follow block ${before.number}`
	throw new RpcError(words, { kind: 'unsettled', endpoint: '' })
}

function tooLate({ from, to }: Span, waitMs: number): RpcError {
	const blocks = from === to ? `block ${from}` : `blocks ${from} to ${to}`
	const words = `${blocks} could not be read within ${waitMs / 1_000} s`
	return new RpcError(words, { kind: 'timeout', endpoint: '' })
}
