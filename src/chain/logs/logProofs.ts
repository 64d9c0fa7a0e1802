/** Counts blocks by the proof that none of their logs is missing, and logs the blocks without proof. */

import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'

/**
 * Number of blocks by proof that no log is missing. `receipts`: all receipts, checked against the header. `bloom`: the
 * header's bloom rules out further logs. `witness`: a second endpoint has the same logs. `none`: no proof.
 */
export type LogProofs = Readonly<Record<LogProof, number>>

export type LogProof = 'receipts' | 'bloom' | 'witness' | 'none'

export interface LogProofsOptions {
	readonly clock: Clock
	readonly log: Log
	readonly onProofs?: (proofs: LogProofs) => void
}

/** Logged at the first such block, then at most once per hour. */
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
			'the logs of these blocks are not proved: one endpoint gave them, and one may be missing; ' +
				'`tracewatch status` says which, and what would',
		)
		unproved = 0
	}
}
