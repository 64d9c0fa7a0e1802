import { z } from 'zod'
import { quoted } from '../../base/text/quoted.js'
import { silentUntil } from '../../core/outbox/silence.js'
import type { Silence } from '../../model/watch.js'
import { list, section, suggestion, text } from '../words.js'

/** Weekdays as written in the files, Monday first. */
export const weekdayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

const silence = section({
	from: z.string().optional().meta({
		description: 'First moment: an instant such as 2026-12-24T18:00Z, or a time of day such as 22:00. Default: 00:00.',
	}),
	to: z.string().optional().meta({
		description: 'First moment after it; a time of day at or before `from` is that of the next day. Default: 24:00.',
	}),
	weekdays: list(z.enum(weekdayNames)).optional().meta({
		description: 'Days on which it begins, with times of day. Default: every day.',
	}),
	timezone: text(readTimezone).optional().meta({
		description: 'Whose clock the times of day are read from, such as Europe/Berlin. Default: UTC.',
	}),
})
	.transform((written, context): Silence => {
		const fault = (key: keyof typeof written, message: string) => {
			context.issues.push({ code: 'custom', path: [key], message, input: written })
			return z.NEVER
		}
		const { from, to, weekdays, timezone } = written
		if (weekdays === undefined && timezone === undefined && !isTime(from) && !isTime(to)) {
			const fromMs = instantMs(from)
			if (typeof fromMs === 'string') return fault('from', fromMs)
			const toMs = instantMs(to)
			if (typeof toMs === 'string') return fault('to', toMs)
			if (toMs <= fromMs) return fault('to', 'must be after `from`')
			return { kind: 'once', fromMs, toMs }
		}
		const fromMinute = minuteOf(from ?? '00:00', 1439)
		if (fromMinute === null) return fault('from', `must be a time of day such as 22:00, not ${quoted(from ?? '')}`)
		const toMinute = minuteOf(to ?? '24:00', 1440)
		if (toMinute === null) return fault('to', `must be a time of day such as 06:00, not ${quoted(to ?? '')}`)
		const days = weekdays ?? weekdayNames
		return {
			kind: 'weekly',
			weekdays: days.map((day) => weekdayNames.indexOf(day) + 1).sort(),
			fromMinute,
			toMinute,
			timezone: timezone ?? 'UTC',
		}
	})
	.meta({ id: 'silence', description: 'A time in which alerts are held; what was held comes as one message after it.' })

/** An arbitrary time: weekly silences that never end are in force at every time. */
const anyTimeMs = Date.UTC(2026, 0, 1)

export const silencesSchema = z
	.array(silence)
	.default([])
	.superRefine((silences, context) => {
		const weekly = silences.filter(({ kind }) => kind === 'weekly')
		if (silentUntil(weekly, anyTimeMs) === Infinity)
			context.addIssue({ code: 'custom', message: 'are always in force: no alert would ever be sent' })
	})
	.meta({
		description: 'Times in which alerts are held; one message afterwards lists them. Default: none.',
	})

function isTime(value: string | undefined): boolean {
	return value !== undefined && /^\d{1,2}:\d{2}$/.test(value)
}

function minuteOf(value: string, most: number): number | null {
	if (!isTime(value)) return null
	const [hours = 0, minutes = 0] = value.split(':').map(Number)
	const minute = hours * 60 + minutes
	return minutes < 60 && minute <= most ? minute : null
}

/** Milliseconds since 1970, or a message about the fault. */
function instantMs(value: string | undefined): number | string {
	if (value === undefined) return 'is missing'
	const [, year, month, day] =
		/^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/.exec(value) ?? []
	const ms = Date.parse(value)
	// Date.parse reads 31 February as a day in March.
	const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
	if (isDay && !Number.isNaN(ms)) return ms
	return (
		'must be an instant such as 2026-12-24T18:00Z or 2026-12-24T18:00+01:00, or a time of day such as 22:00, ' +
		`not ${quoted(value)}`
	)
}

function readTimezone(value: string): string {
	try {
		if (/^[A-Za-z]/.test(value)) return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone
	} catch {
		// This version of Node does not know the time zone.
	}
	const near = suggestion(value, ['UTC', ...Intl.supportedValuesOf('timeZone')])
	throw new RangeError(`must be a time zone such as Europe/Berlin, not ${quoted(value)}${near}`)
}
