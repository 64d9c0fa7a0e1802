/** What one walk has asked for: pieces in order, without a gap, of which the first is the next to be taken. */

import { firstOf, lengthOf, restOf } from '../core/spans.js'
import type { AddressSet, Part, Span, WalkSpan } from '../model/chain.js'

export interface Track {
	readonly addresses: AddressSet
	readonly pieces: Piece[]
	/** Last block of the walk. */
	to: bigint
	/** First block that is in no piece yet. */
	uncut: bigint
	/** See WalkSpan. */
	atOnce: NonNullable<WalkSpan['atOnce']>
	/** Whose end ends what is under way, the last walk's; null: nobody's. */
	heeds: AbortSignal | null
	readonly onAbort: () => void
	leftAtMs: number
}

export interface Piece {
	/** Less than was asked for, when less has come. */
	span: Span
	/** Null: not asked for yet, or it has failed. */
	reading: Reading | null
}

export interface Reading {
	readonly part: Promise<Part>
	readonly stop: AbortController
	hasCome: boolean
}

export function newTrack(addresses: AddressSet, { from, to }: Span, nowMs: number): Track {
	const onAbort = () => leave(track, track.heeds?.reason)
	const own = { addresses, to, uncut: from, onAbort, leftAtMs: nowMs }
	const track: Track = { ...own, pieces: [], atOnce: asManyAsOneLikes, heeds: null }
	return track
}

/** A signal lives as long as the program, and a track is taken up again and again, each time by another: it has one. */
export function heed(track: Track, signal: AbortSignal | null): void {
	if (track.heeds === signal) return
	track.heeds?.removeEventListener('abort', track.onAbort)
	track.heeds = signal
	signal?.addEventListener('abort', track.onAbort, { once: true })
}

export function firstBlock({ pieces, uncut }: Track): bigint {
	return pieces[0]?.span.from ?? uncut
}

export const asManyAsOneLikes = () => null

/** How many blocks are to be asked for next, with nothing beside, unless they have come with others; null: any. */
export function fewOf(track: Track): number | null {
	return track.atOnce(firstBlock(track))
}

/** What is under way is waited for no more; what has come stays. */
export function leave(track: Track, reason?: unknown): void {
	for (const piece of track.pieces) if (!hasCome(piece)) drop(piece, reason)
	uncutEnd(track)
}

/** What is not asked for yet at its end is cut anew, when it is: more or less may be borne by then. */
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

/** Lets go of all blocks before this one. */
export function skipTo(track: Track, from: bigint): void {
	for (let [next] = track.pieces; next !== undefined && next.span.from < from; [next] = track.pieces) {
		drop(next)
		track.pieces.shift()
		if (next.span.to >= from) track.pieces.unshift({ span: { from, to: next.span.to }, reading: null })
	}
	if (track.uncut < from) track.uncut = from
}

/** Cuts its first blocks off the next piece, if there are more of them and they have not come. */
export function splitNext({ pieces }: Track, blocks: number): void {
	const [next] = pieces
	if (next === undefined || hasCome(next) || Number(lengthOf(next.span)) <= blocks) return
	drop(next)
	const first = firstOf(next.span, blocks)
	const rest = restOf(next.span, first.to)
	pieces.splice(0, 1, { span: first, reading: null }, ...(rest === null ? [] : [{ span: rest, reading: null }]))
}

export function hasCome({ reading }: Piece): boolean {
	return reading?.hasCome ?? false
}

function drop(piece: Piece, reason?: unknown): void {
	piece.reading?.stop.abort(reason)
	piece.reading = null
}
