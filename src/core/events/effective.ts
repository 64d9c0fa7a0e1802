import type { Frame, TxTrace } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import { createPathMap, type PathMap } from './paths.js'

/**
 * Why a frame counts, or does not.
 *
 * - `moved`: coins really changed hands. `created`: a contract came to be.
 * - `failed`: the frame failed itself. `failed-above`: a frame above it failed. `failed-transaction`: the receipt says
 *   so.
 * - `moves-nothing`: delegatecall, callcode, staticcall. `no-value`: nothing to move. `to-itself`: a self-destruct to
 *   itself, which burns or does nothing. `created-nothing`: a creation that left no contract.
 * - `not-its-own`: a self-destruct that names another contract than the one that ran.
 */
export type Reason =
	| 'moved'
	| 'created'
	| 'failed'
	| 'failed-above'
	| 'failed-transaction'
	| 'moves-nothing'
	| 'no-value'
	| 'to-itself'
	| 'created-nothing'
	| 'not-its-own'

export interface Verdict {
	readonly frame: Frame
	readonly reason: Reason
	readonly counts: boolean
}

/** Judges each frame with all its ancestors: nodes mark only the frame that failed. Linear in the paths' length. */
export function judge(tx: TxTrace): readonly Verdict[] {
	return [...verdictsOf(tx)]
}

function* verdictsOf(tx: TxTrace): Generator<Verdict> {
	const failed = mapOf(tx.frames.filter((frame) => frame.error !== null))
	const hasDestructions = tx.frames.some((frame) => frame.type === 'suicide')
	const runners = hasDestructions ? mapOf(tx.frames.filter((frame) => frame.type !== 'suicide')) : null
	for (const frame of tx.frames) {
		const isUndone = failed?.findAbove(frame.traceAddress, () => true) !== undefined
		const reason = reasonOf(frame, tx, isUndone, runners)
		yield { frame, reason, counts: reason === 'moved' || reason === 'created' }
	}
}

/** Null where there are none, as in nearly every transaction. */
function mapOf(frames: readonly Frame[]): PathMap<Frame> | null {
	if (frames.length === 0) return null
	const map = createPathMap<Frame>()
	for (const frame of frames) map.set(frame.traceAddress, frame)
	return map
}

/** Whether a frame would count if all frames above it succeeded; else it needs no further requests. */
export function mayCount(frame: Omit<Frame, 'traceAddress'>): boolean {
	const reason = frame.error === null ? ownReason(frame) : 'failed'
	return reason === 'moved' || reason === 'created'
}

/** A self-destruct without heir and amount: some clients print one that moved coins so; only balances tell which. */
export function isBlankEnd({ type, error, valueWei, to }: Omit<Frame, 'traceAddress'>): boolean {
	return type === 'suicide' && error === null && valueWei === 0n && (to === null || to === NO_ADDRESS)
}

/** The heir of a blank end, as its row names it. */
export const NO_ADDRESS: Address = `0x${'0'.repeat(40)}`

/** Whether such a self-destruct happened in the transaction, with no failed frame above it. */
export function hasBlankEnd(tx: TxTrace): boolean {
	if (!tx.frames.some(isBlankEnd)) return false
	for (const { frame, reason } of verdictsOf(tx))
		if (isBlankEnd(frame) && (reason === 'no-value' || reason === 'to-itself')) return true
	return false
}

/** The frames that really moved value or created a contract, in the order of the trace. */
export function* effective(tx: TxTrace): Generator<Frame> {
	if (tx.succeeded === false) return
	for (const { frame, counts } of verdictsOf(tx)) if (counts) yield frame
}

/**
 * The transactions without each self-destruct that repeats the last transfer before it in sender, recipient and value:
 * one that did nothing may look so (see `isPhantom`), and only balances tell. Null: there is none.
 */
export function withoutRepeats(transactions: readonly TxTrace[]): readonly TxTrace[] | null {
	let found = false
	const all = transactions.map((tx) => {
		if (!tx.frames.some(({ type }) => type === 'suicide')) return tx
		let last: Frame | null = null
		const repeats = new Set<Frame>()
		for (const frame of effective(tx)) {
			const { type, from, to, valueWei } = frame
			const isRepeat = last?.from === from && last.to === to && last.valueWei === valueWei
			if (type === 'suicide' && isRepeat) repeats.add(frame)
			else if (valueWei > 0n) last = frame
		}
		if (repeats.size === 0) return tx
		found = true
		return { ...tx, frames: tx.frames.filter((frame) => !repeats.has(frame)) }
	})
	return found ? all : null
}

function reasonOf(frame: Frame, tx: TxTrace, isUndone: boolean, runners: PathMap<Frame> | null): Reason {
	const own = ownReason(frame)
	if (frame.type === 'reward') return own
	if (frame.error !== null) return 'failed'
	if (isUndone) return 'failed-above'
	if (tx.succeeded === false) return 'failed-transaction'
	return own === 'moved' && frame.type === 'suicide' && isPhantom(frame, runners) ? 'not-its-own' : own
}

/** The verdict on a frame alone, without the frames above it. */
function ownReason(frame: Omit<Frame, 'traceAddress'>): Reason {
	switch (frame.type) {
		case 'reward':
			return frame.valueWei > 0n ? 'moved' : 'no-value'
		case 'create':
		case 'create2':
			return frame.to === null ? 'created-nothing' : 'created'
		case 'suicide':
			// To itself: burnt if the contract is destroyed, no effect if it is not. There is no recipient.
			if (frame.from === frame.to) return 'to-itself'
			return frame.valueWei === 0n ? 'no-value' : 'moved'
		case 'call':
			// A delegatecall repeats its parent's value, and a callcode pays the caller itself.
			if (frame.callType !== 'call') return 'moves-nothing'
			return frame.valueWei > 0n ? 'moved' : 'no-value'
	}
}

/**
 * Nodes built on revm before its fix of July 2026 (bluealloy/revm#3805) fill the row of a self-destruct that did
 * nothing, as one to itself does since Cancun, with the last transfer before it. Only the contract that runs can
 * destroy itself: the callee of the frame above, its caller where that is a delegatecall or callcode, or the contract
 * being created. Where it made that transfer itself, the row looks right: `withoutRepeats`.
 */
function isPhantom(frame: Frame, runners: PathMap<Frame> | null): boolean {
	const parent = frame.traceAddress.length === 0 ? undefined : runners?.get(frame.traceAddress.slice(0, -1))
	if (parent === undefined) return false
	const borrows = parent.callType === 'delegatecall' || parent.callType === 'callcode'
	return frame.from !== (borrows ? parent.from : parent.to)
}
