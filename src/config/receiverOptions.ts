import type { Silence } from '../model/watch.js'
import { writeDuration } from './duration.js'
import type { ReceiverOptions } from './settings/settings.js'
import { weekdayNames } from './settings/silenceSchema.js'

/** Describes a receiver's digest, silences and fallback; each part begins with a semicolon. */
export function receiverOptionsInWords({ digest, silences, fallback }: ReceiverOptions): string {
	const parts = [
		...(digest === null
			? []
			: [
					`past ${digest.max} alerts in ${writeDuration(digest.everyMs)} the rest as one message` +
						(digest.outgoing ? ', what leaves a watch too' : ''),
				]),
		...(silences.length === 0 ? [] : [silencesInWords(silences)]),
		...(fallback === null ? [] : [`${fallback} is notified when it fails`]),
	]
	return parts.map((part) => `; ${part}`).join('')
}

/** `alerts are held mon, tue 22:00 to 06:00 (Europe/Berlin)`. */
export function silencesInWords(silences: readonly Silence[]): string {
	return `alerts are held ${silences.map(silenceInWords).join(' and ')}`
}

function silenceInWords(silence: Silence): string {
	if (silence.kind === 'once') return `from ${instant(silence.fromMs)} to ${instant(silence.toMs)}`
	const { weekdays, fromMinute, toMinute, timezone } = silence
	const days = weekdays.length === 7 ? 'every day' : weekdays.map((day) => weekdayNames[day - 1]).join(', ')
	return `${days} ${time(fromMinute)} to ${time(toMinute)} (${timezone})`
}

function instant(ms: number): string {
	return new Date(ms).toISOString().replace(':00.000Z', 'Z')
}

function time(minute: number): string {
	return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
}
