import { createTask, schedule as cronSchedule } from 'node-cron'
import type { Log } from '../model/ports.js'

export interface Schedule {
	stop(): Promise<void>
}

export interface Job {
	readonly name: string
	/** Called at each tick, also while an earlier call is under way. */
	run(): Promise<void>
}

/** Runs a job on a node-cron expression (seconds first, UTC), and once at the start. */
export function startSchedule(expression: string, job: Job, log: Log): Schedule {
	const task = cronSchedule(expression, () => job.run(), { name: job.name, timezone: 'UTC' })
	task.on('execution:failed', (context) => {
		log.error({ err: context.execution?.error }, 'a scheduled job failed')
	})
	void job.run()
	return {
		async stop() {
			await task.destroy()
		},
	}
}

/** The longest of the next gaps between two ticks of an expression, in milliseconds. */
export function intervalMs(expression: string): number {
	const task = createTask(expression, () => undefined, { timezone: 'UTC' })
	try {
		const runs = task.getNextRuns(7).map((date) => date.getTime())
		const gaps = runs.slice(1).map((ms, index) => ms - (runs[index] ?? ms))
		return Math.max(1_000, ...gaps)
	} finally {
		void task.destroy()
	}
}
