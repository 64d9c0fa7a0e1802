import { createTask, validate } from 'node-cron'
import { quoted } from '../../base/text/quoted.js'
import { writeDuration } from '../duration.js'

const fields = Object.entries({ seconds: 59, minutes: 59, hours: 23, days: 31, months: 12, weekdays: 7 })

/**
 * Reads a schedule of node-cron, seconds first (five fields: without seconds). A step larger than its field is refused:
 * node-cron accepts it, and silently runs once each time the field restarts.
 *
 * @throws RangeError whose message follows after the key's name.
 */
export function readSchedule(text: string): string {
	const parts = text.trim().split(/\s+/)
	if (parts.length !== 5 && parts.length !== 6) {
		throw new RangeError(`must have six fields, seconds first, such as "*/12 * * * * *", not ${quoted(text)}`)
	}
	// node-cron expands every number of a range before it checks it.
	if (text.length > 200 || /\d{3}/.test(text))
		throw new RangeError('is not a schedule: its numbers have two digits at most')
	for (const [index, part] of parts.entries()) {
		const [name, most] = fields[index + fields.length - parts.length] ?? ['', 0]
		for (const [, step] of part.matchAll(/\/(\d+)/g)) {
			if (Number(step) <= most) continue
			throw new RangeError(
				`has a step of ${step} ${name}, but ${name} go up to ${most} only, so it would not run every ${step} ${name}`,
			)
		}
	}
	if (!validate(parts.join(' ')))
		throw new RangeError(`is not a schedule: ${quoted(text)}; six fields, seconds first, such as "*/12 * * * * *"`)
	try {
		nextGapsMs(parts.join(' '), 1)
	} catch {
		throw new RangeError(`never comes: no day fits ${quoted(text)}`)
	}
	return parts.join(' ')
}

/** The gaps between the next ticks of a schedule (UTC), in milliseconds. */
function nextGapsMs(schedule: string, count: number): readonly number[] {
	const task = createTask(schedule, () => undefined, { timezone: 'UTC' })
	try {
		const runs = task.getNextRuns(count + 1).map((date) => date.getTime())
		return runs.slice(1).map((ms, index) => ms - (runs[index] ?? ms))
	} finally {
		void task.destroy()
	}
}

/** The longest of the next gaps between two ticks, in milliseconds. */
export function longestGapMs(schedule: string): number {
	return Math.max(1_000, ...nextGapsMs(schedule, 6))
}

/** `every 12s`; `at "0 0 3,15 * * *"` where the gaps between ticks differ. */
export function stepsInWords(schedule: string): string {
	// Steps restart each minute, hour, day or month, which shows within 60 ticks.
	const [gapMs, ...others] = new Set(nextGapsMs(schedule, 60))
	return gapMs === undefined || others.length > 0 ? `at "${schedule}"` : `every ${writeDuration(gapMs)}`
}
