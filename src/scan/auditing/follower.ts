import { type LinkedAbort, linkedAbort } from '../../base/waits/linkedAbort.js'
import { makeLowPriority } from '../../base/waits/priority.js'
import type { Kind } from '../../model/kind.js'

/** What one audit announced, and how it ended. */
export interface AuditReport {
	readonly alerts: Readonly<Record<Kind, number>>
	readonly retracted: number
	/** Events of settled blocks on which two endpoints disagree. */
	readonly disagreements: number
	/** `halted`: what it had not committed is done again by the next audit. */
	readonly result: 'done' | 'failed' | 'halted'
	/** Null unless it failed. */
	readonly error: unknown
}

export interface AuditRun {
	/** Counted while it runs. */
	readonly counts: Pick<AuditReport, 'alerts' | 'retracted' | 'disagreements'>
	run(signal: AbortSignal): Promise<void>
}

/** Runs the audits of one network beside the polls, one at a time. */
export interface Follower {
	/** Begins an audit. If one is running, another follows it; of several, the latest. */
	begin(audit: AuditRun, signal: AbortSignal): void
	/** Aborts the audit. Once resolved, no audit is running, and nothing of it is committed any more. */
	halt(): Promise<void>
	isRunning(): boolean
	/** Resolves when no audit is running. */
	idle(): Promise<void>
	/** Called at the end of each audit; returns the function that ends this. */
	onEnd(listener: (report: AuditReport) => void): () => void
}

export function createFollower(): Follower {
	const listeners = new Set<(report: AuditReport) => void>()
	let next: { readonly audit: AuditRun; readonly signal: AbortSignal } | null = null
	let current: LinkedAbort | null = null
	let running: Promise<void> | null = null

	async function runAll(): Promise<void> {
		await Promise.resolve()
		for (let job = next; job !== null; job = next) {
			next = null
			const { audit } = job
			current = linkedAbort(job.signal)
			makeLowPriority(current.signal)
			let end: Pick<AuditReport, 'result' | 'error'> = { result: 'done', error: null }
			try {
				current.signal.throwIfAborted()
				await audit.run(current.signal)
			} catch (error) {
				end = current.signal.aborted ? { result: 'halted', error: null } : { result: 'failed', error }
			} finally {
				current.release()
				current = null
			}
			const { alerts, retracted, disagreements } = audit.counts
			const report = { alerts, retracted, disagreements, ...end }
			for (const listener of listeners) listener(report)
		}
		running = null
	}

	return {
		begin(audit, signal) {
			next = { audit, signal }
			running ??= runAll()
		},
		async halt() {
			next = null
			current?.abort()
			await running
		},
		isRunning: () => running !== null,
		async idle() {
			while (running !== null) await running
		},
		onEnd(listener) {
			listeners.add(listener)
			return () => listeners.delete(listener)
		},
	}
}
