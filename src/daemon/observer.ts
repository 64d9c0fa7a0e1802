import type { LogProofs } from '../chain/logs/logProofs.js'
import type { RpcRequest } from '../chain/rpc/rpc.js'
import type { Outcome } from '../model/delivery.js'
import type { Metrics } from '../ops/metrics.js'
import type { AuditReport } from '../scan/auditing/follower.js'
import type { PollReport } from '../scan/poll.js'
import type { FailingReceivers } from './health/failingReceivers.js'
import type { Vitals } from './health/vitals.js'
import type { PageNotes } from './pageNotes.js'
import type { NoteState } from './polling/noting.js'

/** Receives internal events, for metrics, health and pages. */
export interface Observer {
	/** Called after each successful poll. */
	reported(network: string, report: PollReport): void
	scanned(network: string, checkpoint: bigint): void
	/** Called at the end of each audit, with what it announced. */
	audited(network: string, report: AuditReport): void
	/** Called when a poll or an audit failed. */
	failed(network: string): void
	skipped(network: string): void
	requested(network: string, request: RpcRequest): void
	/** Called with the number of blocks whose logs were read, by the kind of proof that none is missing. */
	provedLogs(network: string, proofs: LogProofs): void
	attempted(receiver: string, outcome: Outcome): void
	readonly noted: NoteState
}

export interface Observers {
	readonly metrics: Metrics
	readonly notes: PageNotes
	readonly failing: FailingReceivers
	/** Called at the first event: the vitals are made of parts that need the observer. */
	readonly vitals: () => Vitals
}

/** Passes each event on to all that count it. */
export function createObserver({ metrics, notes, failing, vitals }: Observers): Observer {
	return {
		reported(network, report) {
			metrics.polled(network, { ...report, atMs: Date.now() })
			vitals().reported(network, report)
		},
		scanned: (network, checkpoint) => vitals().scanned(network, checkpoint),
		audited: (network, report) => metrics.audited(network, report),
		failed: (network) => metrics.pollFailed(network),
		skipped: (network) => metrics.pollSkipped(network),
		requested(network, request) {
			metrics.requested(network, request)
			if (request.result === 'ok') notes.endpoints.set(network, request.endpoint)
		},
		provedLogs: (network, proofs) => metrics.provedLogs(network, proofs),
		attempted(receiver, outcome) {
			metrics.attempted(receiver, outcome.result)
			const words = outcome.result === 'delivered' ? (outcome.answer ?? 'took it') : outcome.reason
			notes.answers.set(receiver, { atMs: Date.now(), result: outcome.result, words })
			failing.attempted(receiver, outcome)
		},
		noted: notes.note,
	}
}
