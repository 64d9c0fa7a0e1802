/** The requests of one walk: pieces in order, without a gap; the first is the next to be taken. */

import { firstOf, lengthOf, restOf } from '../../core/spans.js'
import type { AddressSet, Part, Span, WalkSpan } from '../../model/chain.js'

export interface Track {
	readonly addresses: AddressSet
	readonly pieces: Piece[]
	/** Last block of the walk. */
	to: bigint
	/** First block that is in no piece yet. */
	uncut: bigint
	/** See WalkSpan. */
	atOnce: NonNullable<WalkSpan['atOnce']>
	/** The signal of the last walk, which ends the requests under way; null: none. */
	heeds: AbortSignal | null
	readonly onAbort: () => void
	leftAtMs: number
}

export interface Piece {
	/** Fewer blocks than were requested, if fewer have come. */
	span: Span
	/** Null: not requested yet, or failed. */
	reading: Reading | null
}

export interface Reading {
	readonly part: Promise<Part>
	readonly stop: AbortController
	/** Null: under way. */
	outcome: 'came' | 'failed' | null
}

export function newTrack(addresses: AddressSet, { from, to }: Span, nowMs: number): Track {
	const onAbort = () => leave(track, track.heeds?.reason)
	const own = { addresses, to, uncut: from, onAbort, leftAtMs: nowMs }
	const track: Track = { ...own, pieces: [], atOnce: noLimit, heeds: null }
	return track
}

/** A track follows one signal at a time: signals may live as long as the program, and tracks are reused. */
export function heed(track: Track, signal: AbortSignal | null): void {
	if (track.heeds === signal) return
	track.heeds?.removeEventListener('abort', track.onAbort)
	track.heeds = signal
	signal?.addEventListener('abort', track.onAbort, { once: true })
}

export function firstBlock({ pieces, uncut }: Track): bigint {
	return pieces[0]?.span.from ?? uncut
}

export const noLimit = () => null

/** How many blocks to request next, with no other request beside, unless they came with others; null: any number. */
export function fewOf(track: Track): number | null {
	return track.atOnce(firstBlock(track))
}

/** Ends the requests under way; answers that came stay. */
function leave(track: Track, reason?: unknown): void {
	for (const piece of track.pieces) if (!hasCome(piece)) drop(piece, reason)
	uncutEnd(track)
}

/** Drops unrequested pieces at the end, to cut them anew later: the best size may have changed by then. */
export function uncutEnd(track: Track): void {
	const { pieces } = track
	for (let last = pieces.at(-1); last !== undefined && last.reading === null; last = pieces.at(-1)) {
		track.uncut = last.span.from
		pieces.pop()
	}
}

export function end(track: Track): void {
	leave(track)
	heed(track, null)
}

/** Drops all blocks before this one. */
export function skipTo(track: Track, from: bigint): void {
	for (let [next] = track.pieces; next !== undefined && next.span.from < from; [next] = track.pieces) {
		drop(next)
		track.pieces.shift()
		if (next.span.to >= from) track.pieces.unshift({ span: { from, to: next.span.to }, reading: null })
	}
	if (track.uncut < from) track.uncut = from
}

export function askFailedAgain({ pieces }: Track): void {
	for (const piece of pieces) if (piece.reading?.outcome === 'failed') piece.reading = null
}

/** Splits the next piece after `blocks` blocks, if it is longer and has not come yet. */
export function splitNext({ pieces }: Track, blocks: number): void {
	const [next] = pieces
	if (next === undefined || hasCome(next) || Number(lengthOf(next.span)) <= blocks) return
	drop(next)
	const first = firstOf(next.span, blocks)
	const rest = restOf(next.span, first.to)
	pieces.splice(0, 1, { span: first, reading: null }, ...(rest === null ? [] : [{ span: rest, reading: null }]))
}

function hasCome({ reading }: Piece): boolean {
	return reading?.outcome === 'came'
}

function drop(piece: Piece, reason?: unknown): void {
	piece.reading?.stop.abort(reason)
	piece.reading = null
}
