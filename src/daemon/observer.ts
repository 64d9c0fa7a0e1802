import type { LogProofs } from '../chain/logs/logProofs.js'
import type { RpcRequest } from '../chain/rpc/rpc.js'
import type { Outcome } from '../model/delivery.js'
import type { Metrics } from '../ops/metrics.js'
import type { LastAnswer } from '../pages/pageData.js'
import type { PollReport } from '../scan/poll.js'
import type { Vitals } from './health/vitals.js'

export interface Observers {
	readonly metrics: Metrics
	/** Called at the first event: the vitals are made of parts that need the observer. */
	readonly vitals: () => Pick<Vitals, 'reported' | 'scanned'>
}

type Announced = Pick<PollReport, 'alerts' | 'retracted' | 'disagreements'>

export type Observer = ReturnType<typeof createObserver>

/** Receives internal events: counts them, and passes them on to the health and the pages. */
export function createObserver({ metrics, vitals }: Observers) {
	/** By network: the host of the endpoint that answered last. */
	const endpoints = new Map<string, string>()
	const answers = new Map<string, LastAnswer>()
	function audited(network: string, { alerts, retracted, disagreements }: Announced): void {
		for (const [kind, count] of Object.entries(alerts)) metrics.alerts.inc({ network, kind }, count)
		metrics.unexplained.inc({ network }, alerts.unexplained ?? 0)
		metrics.alerts.inc({ network, kind: 'removed' }, retracted)
		metrics.disagreements.inc({ network }, disagreements)
	}
	return {
		endpoints,
		answers,
		audited,
		reported(network: string, report: PollReport): void {
			const { head, target, checkpoint } = report
			metrics.polls.inc({ network, result: 'done' })
			metrics.head.set({ network }, Number(head))
			metrics.lag.set({ network }, Math.max(0, Number(target - checkpoint)))
			metrics.lastPoll.set({ network }, Date.now() / 1000)
			audited(network, report)
			vitals().reported(network, report)
		},
		scanned: (network: string, checkpoint: bigint, head: bigint): void => vitals().scanned(network, checkpoint, head),
		ended: (network: string, result: 'failed' | 'skipped'): void => metrics.polls.inc({ network, result }),
		requested(network: string, request: RpcRequest): void {
			const { endpoint, method, result } = request
			if (result === 'ok') endpoints.set(network, endpoint)
			const of = { network, endpoint }
			metrics.requests.inc({ ...of, method, result })
			for (const call of request.calls) metrics.calls.inc({ ...of, method: call, result })
			metrics.durations.observe({ ...of, method }, request.durationMs / 1000)
			metrics.inFlightLimit.set(of, request.inFlightLimit)
			if (request.rateLimit === null) metrics.rateLimit.remove(of)
			else metrics.rateLimit.set(of, request.rateLimit)
		},
		/** Numbers of blocks whose logs were read, by the kind of proof that none is missing. */
		provedLogs(network: string, proofs: LogProofs): void {
			for (const [proof, blocks] of Object.entries(proofs)) metrics.logProofs.inc({ network, proof }, blocks)
		},
		attempted(receiver: string, outcome: Outcome): void {
			metrics.deliveries.inc({ receiver, result: outcome.result })
			const words = outcome.result === 'delivered' ? (outcome.answer ?? 'took it') : outcome.reason
			answers.set(receiver, { atMs: Date.now(), result: outcome.result, words })
		},
	}
}
