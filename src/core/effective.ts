import type { Frame, TxTrace } from '../model/chain.js'

/**
 * Why a frame counts, or does not.
 *
 * - `moved`: coins really changed hands. `created`: a contract came to be.
 * - `failed`: the frame failed itself. `failed-above`: a frame above it failed. `failed-transaction`: the receipt says so.
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

/**
 * Judges each frame of a transaction. A node marks a failure only on the frame that failed, and its children look like
 * successes, so every frame is held against all of its ancestors.
 */
export function judge(tx: TxTrace): readonly Verdict[] {
	const failed = new Set<string>()
	for (const frame of tx.frames) if (frame.error !== null) failed.add(pathKey(frame.traceAddress))
	return tx.frames.map((frame) => {
		const reason = reasonOf(frame, tx, failed)
		return { frame, reason, counts: reason === 'moved' || reason === 'created' }
	})
}

/** The frames that really moved value or created a contract, in the order of the trace. */
export function effective(tx: TxTrace): readonly Frame[] {
	if (tx.succeeded === false) return []
	return judge(tx)
		.filter((verdict) => verdict.counts)
		.map((verdict) => verdict.frame)
}

function reasonOf(frame: Frame, tx: TxTrace, failed: ReadonlySet<string>): Reason {
	if (frame.type === 'reward') return frame.valueWei > 0n ? 'moved' : 'no-value'
	if (frame.error !== null) return 'failed'
	if (failed.size > 0 && hasFailedAncestor(frame.traceAddress, failed)) return 'failed-above'
	if (tx.succeeded === false) return 'failed-transaction'
	switch (frame.type) {
		case 'create':
		case 'create2':
			return frame.to === null ? 'created-nothing' : 'created'
		case 'suicide':
			// To itself: burnt where the contract dies, and nothing at all where it lives on. Nobody receives it.
			if (frame.from === frame.to) return 'to-itself'
			if (frame.valueWei === 0n) return 'no-value'
			return isPhantom(frame, tx) ? 'not-its-own' : 'moved'
		case 'call':
			// A delegatecall repeats its parent's value, and a callcode pays the caller itself.
			if (frame.callType !== 'call') return 'moves-nothing'
			return frame.valueWei > 0n ? 'moved' : 'no-value'
	}
}

/**
 * Nodes built on revm before its fix of July 2026 (bluealloy/revm#3805) fill the row of a self-destruct that did nothing,
 * as one to itself does since Cancun, with the last transfer before it. Only the contract that runs can destroy itself:
 * the callee of the frame above, its caller where that is a delegatecall or callcode, or the contract being created.
 */
function isPhantom(frame: Frame, tx: TxTrace): boolean {
	const path = pathKey(frame.traceAddress.slice(0, -1))
	const parent = tx.frames.find(({ type, traceAddress }) => type !== 'suicide' && pathKey(traceAddress) === path)
	if (parent === undefined || frame.from === frame.to) return false
	const borrows = parent.callType === 'delegatecall' || parent.callType === 'callcode'
	return frame.from !== (borrows ? parent.from : parent.to)
}

function hasFailedAncestor(traceAddress: readonly number[], failed: ReadonlySet<string>): boolean {
	for (let depth = 0; depth < traceAddress.length; depth++) {
		if (failed.has(pathKey(traceAddress.slice(0, depth)))) return true
	}
	return false
}

function pathKey(traceAddress: readonly number[]): string {
	return traceAddress.join('_')
}
