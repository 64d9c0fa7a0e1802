/** What proves that no log of a block is missing: counted, and said where nothing does. */

import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'

/**
 * Blocks by what proves that nothing of them is missing: `receipts`, all of them, checked against the header; `bloom`,
 * the header's, which rules out one more; `witness`, the logs of a second endpoint, which has the same; `none`.
 */
export type LogProofs = Readonly<Record<LogProof, number>>

export type LogProof = 'receipts' | 'bloom' | 'witness' | 'none'

export interface LogProofsOptions {
	readonly clock: Clock
	readonly log: Log
	readonly onProofs?: (proofs: LogProofs) => void
}

/** While catching up, once, and then so often. */
const SAID_EVERY_MS = 3_600_000

export function createLogProofs({ clock, log, onProofs }: LogProofsOptions): (proofs: LogProofs) => void {
	let saidAtMs = Number.NEGATIVE_INFINITY
	let unproved = 0
	return (proofs) => {
		onProofs?.(proofs)
		unproved += proofs.none
		if (unproved === 0 || clock() - saidAtMs < SAID_EVERY_MS) return
		saidAtMs = clock()
		log.info(
			{ blocks: unproved },
			'the logs of these blocks are believed as the endpoint tells them: nothing proves that none is missing; ' +
				'`tracewatch status` says which, and what would',
		)
		unproved = 0
	}
}
