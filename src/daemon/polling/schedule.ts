import { createTask } from 'node-cron'
import type { Log } from '../../model/ports.js'

interface Job {
	readonly name: string
	/** Called at each tick, even while an earlier call is running. */
	run(): Promise<void>
}

/** The clock is checked at least this often: it may be set, and the machine may sleep. */
const longestSleepMs = 5_000

/**
 * Runs a job on a node-cron expression (seconds first, UTC), and once at the start. Asks node-cron for the next time
 * again and again instead of using its timer. That timer keeps the tick it chose: set back by an hour, the clock stops
 * the job for an hour; set forward, every skipped tick is processed, which takes minutes after a start in 1970.
 */
export function startSchedule(expression: string, job: Job, log: Log) {
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
