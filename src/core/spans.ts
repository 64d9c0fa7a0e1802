/**
 * The room computes and has no side effects: no package, clock, disk or randomness. Its folders follow the data:
 * `events` from frames and logs, `matching` of events and watches, `alerts`, `reconcile` with announcements, `outbox`;
 * also `ledger` (books) and `cost` (of calls). What differs between kinds is in `kinds`.
 */

import type { Block, BlockRef, Span } from '../model/chain.js'

export function refOf({ number, hash }: BlockRef): BlockRef {
	return { number, hash }
}

export function parentOf({ number, parentHash }: Pick<Block, 'number' | 'parentHash'>): BlockRef {
	return { number: number - 1n, hash: parentHash }
}

export function lower(one: bigint, other: bigint): bigint {
	return one < other ? one : other
}

export function higher(one: bigint, other: bigint): bigint {
	return one > other ? one : other
}

/** How many blocks a span holds; both ends count. */
export function lengthOf(span: Span): bigint {
	return span.to - span.from + 1n
}

/** The first `blocks` blocks of a span, or all of it when it is shorter. `blocks` is at least 1. */
export function firstOf(span: Span, blocks: number): Span {
	const to = span.from + BigInt(Math.max(1, Math.floor(blocks))) - 1n
	return to < span.to ? { from: span.from, to } : span
}

/** The rest of a span after block `done`, which is excluded; null if nothing is left. */
export function restOf(span: Span, done: bigint): Span | null {
	const from = done + 1n
	if (from > span.to) return null
	return from > span.from ? { from, to: span.to } : span
}

/** Cuts a span into pieces of at most `blocks` blocks, in order; every block is in exactly one piece. */
export function cut(span: Span, blocks: number): readonly Span[] {
	const pieces: Span[] = []
	for (let rest: Span | null = span; rest !== null; ) {
		const piece: Span = firstOf(rest, blocks)
		pieces.push(piece)
		rest = restOf(rest, piece.to)
	}
	return pieces
}

export function* numbersOf(span: Span): Generator<bigint> {
	for (let number = span.from; number <= span.to; number++) yield number
}
