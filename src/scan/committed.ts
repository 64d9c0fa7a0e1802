/**
 * What the scanner and the auditor of a network share: the state as last committed, and the lock under which both
 * commit. Each gathers what it needs without the lock. Under the lock it checks that the other did not change an
 * announcement that it judged, and commits; otherwise it judges again.
 */

import { createSlots } from '../base/waits/slots.js'
import type { Difference } from '../core/reconcile/reconcile.js'
import { isUnchanged } from '../core/reconcile/unchanged.js'
import type { Head, Span } from '../model/chain.js'
import type { Announcement, NetworkState } from '../model/state.js'

export interface Committed {
	state: NetworkState
	/** The verified head of the latest poll. It is lowered if the chain turns out to end earlier. */
	head: Head
	/** Last block to announce, inclusive. */
	target: bigint
	/** Blocks that replaced ones already announced: what is new in them is late. In memory only; both ends inclusive. */
	reorganised: { readonly from: bigint; readonly to: bigint } | null
	/** Source of the last part read. */
	source: string | undefined
	/** Runs one act at a time. An act must neither take the lock again nor ask an endpoint. */
	locked<T>(act: () => Promise<T>): Promise<T>
}

/** The state, the head and the target are set by the first poll. */
export function createCommitted(): Committed {
	const slots = createSlots(1)
	const unset = {} as Pick<Committed, 'state' | 'head' | 'target'>
	return {
		...unset,
		source: undefined,
		reorganised: null,
		async locked(act) {
			const release = await slots.take()
			try {
				return await act()
			} finally {
				release()
			}
		},
	}
}

export function isIn({ from, to }: Span): (entry: Announcement) => boolean {
	return ({ block: { number } }) => from <= number && number <= to
}

/** Judges the state of the moment and commits under the lock. `concerns`: what the judgement only depends on. */
export async function judgeAndCommit<T extends { readonly difference: Difference | null }>(
	committed: Committed,
	concerns: (entry: Announcement) => boolean,
	judge: (state: NetworkState) => Promise<T>,
	commit: (judged: T) => Promise<void>,
): Promise<T> {
	for (;;) {
		const { state } = committed
		const judged = await judge(state)
		const isDone = await committed.locked(async () => {
			const changes = judged.difference?.announcements ?? []
			if (!isUnchanged(state.announcements, committed.state.announcements, { concerns, changes })) return false
			await commit(judged)
			return true
		})
		if (isDone) return judged
	}
}
