import { schedule as cronSchedule } from 'node-cron'
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
