import { createTask } from 'node-cron'
import type { Log } from '../model/ports.js'

export interface Schedule {
	stop(): Promise<void>
}

export interface Job {
	readonly name: string
	/** Called at each tick, also while an earlier call is under way. */
	run(): Promise<void>
}

/** The clock is looked at this often: it may be set, and the machine may have slept. */
const longestSleepMs = 5_000

/**
 * Runs a job on a node-cron expression (seconds first, UTC), and once at the start. When is asked of node-cron each
 * time anew: its own timer goes by a tick that it chose before, and when the clock is set back an hour nothing runs for
 * an hour; set forward, it walks over every tick that never was, for minutes when the clock was at 1970.
 */
export function startSchedule(expression: string, job: Job, log: Log): Schedule {
	const task = createTask(expression, () => undefined, { name: job.name, timezone: 'UTC' })
	let timer: NodeJS.Timeout | null = null
	const run = () => void job.run().catch((error) => log.error({ err: error }, 'a scheduled job failed'))

	function sleepUntil(dueMs: number): void {
		const waitMs = Math.min(longestSleepMs, Math.max(0, dueMs - Date.now()))
		timer = setTimeout(() => {
			if (Date.now() < dueMs) return sleepUntil(Math.min(dueMs, nextMs()))
			run()
			sleepUntil(nextMs())
		}, waitMs)
	}

	function nextMs(): number {
		return task.getNextRuns(1)[0]?.getTime() ?? Number.POSITIVE_INFINITY
	}

	run()
	sleepUntil(nextMs())
	return {
		async stop() {
			if (timer !== null) clearTimeout(timer)
			await task.destroy()
		},
	}
}
