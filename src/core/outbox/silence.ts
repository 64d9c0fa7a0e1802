/**
 * Computes when alerts are silenced. A weekly silence follows the local time of its time zone: an hour that the clock
 * skips is not silent, and an hour that it repeats is silent twice.
 */
import type { Silence } from '../../model/watch.js'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/** A weekly silence that has not ended after this time never ends. */
const longestMs = 16 * dayMs

/** Whether any of them is in force. */
export function isSilent(silences: readonly Silence[], atMs: number): boolean {
	return silences.some((silence) =>
		silence.kind === 'once' ? silence.fromMs <= atMs && atMs < silence.toMs : leftByTheClock(silence, atMs) !== null,
	)
}

/**
 * The first time, from `atMs` on, at which none of them is in force, in milliseconds since 1970. Null if none is in
 * force at `atMs`; Infinity if together they never end.
 */
export function silentUntil(silences: readonly Silence[], atMs: number): number | null {
	const latestMs = silences.reduce(
		(latest, silence) => (silence.kind === 'once' ? Math.max(latest, silence.toMs) : latest),
		atMs,
	)
	let untilMs = atMs
	for (;;) {
		const endsMs = Math.max(...silences.map((silence) => endOf(silence, untilMs) ?? untilMs), untilMs)
		if (endsMs === untilMs) return untilMs === atMs ? null : untilMs
		if (endsMs > latestMs + longestMs) return Infinity
		untilMs = endsMs
	}
}

type Weekly = Extract<Silence, { readonly kind: 'weekly' }>

/** When a silence that is in force at `atMs` ends; null when it is not in force. */
function endOf(silence: Silence, atMs: number): number | null {
	if (silence.kind === 'once') return silence.fromMs <= atMs && atMs < silence.toMs ? silence.toMs : null
	const leftMs = leftByTheClock(silence, atMs)
	if (leftMs === null) return null
	// The result holds until the zone's offset changes; from then on compute it again.
	const changeMs = nextChange(silence.timezone, atMs, leftMs)
	if (changeMs === null) return atMs + leftMs
	return endOf(silence, changeMs) ?? changeMs
}

/** Milliseconds of local time until the end; null if the silence is not in force. */
function leftByTheClock({ weekdays, fromMinute, toMinute, timezone }: Weekly, atMs: number): number | null {
	const wallMs = atMs + offsetMs(timezone, atMs)
	const timeMs = modulo(wallMs, dayMs)
	// 1 January 1970 was a Thursday.
	const today = modulo(Math.floor(wallMs / dayMs) + 3, 7) + 1
	const yesterday = today === 1 ? 7 : today - 1
	const [fromMs, toMs] = [fromMinute * minuteMs, toMinute * minuteMs]
	const wraps = toMs <= fromMs
	if (wraps && weekdays.includes(yesterday) && timeMs < toMs) return toMs - timeMs
	if (!weekdays.includes(today) || timeMs < fromMs) return null
	if (wraps) return toMs + dayMs - timeMs
	return timeMs < toMs ? toMs - timeMs : null
}

/** When the zone's offset next changes, within `withinMs`; null when it does not. No zone changes twice in a day. */
function nextChange(timezone: string, atMs: number, withinMs: number): number | null {
	const offset = offsetMs(timezone, atMs)
	let [before, after] = [atMs, atMs + withinMs]
	if (offsetMs(timezone, after) === offset) return null
	while (after - before > 1) {
		const middle = Math.floor((before + after) / 2)
		if (offsetMs(timezone, middle) === offset) before = middle
		else after = middle
	}
	return after
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Local time minus UTC, in milliseconds. */
function offsetMs(timezone: string, atMs: number): number {
	const format = formats.get(timezone) ?? clockOf(timezone)
	formats.set(timezone, format)
	const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]))
	const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
	const wholeS = Math.floor(atMs / 1_000)
	const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
	return wall - wholeS * 1_000
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
	const two = '2-digit'
	return new Intl.DateTimeFormat('en-US', {
		timeZone,
		hourCycle: 'h23',
		year: 'numeric',
		month: two,
		day: two,
		hour: two,
		minute: two,
		second: two,
	})
}

function modulo(value: number, by: number): number {
	return ((value % by) + by) % by
}
