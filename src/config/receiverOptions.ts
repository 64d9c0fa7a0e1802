import { writeDuration } from './duration.js'
import type { ReceiverSettings } from './settings/settings.js'

/** Describes a receiver's digest and fallback; each part begins with a semicolon. */
export function receiverOptionsInWords({ digest, fallback }: Pick<ReceiverSettings, 'digest' | 'fallback'>): string {
	const parts = [
		...(digest === null
			? []
			: [`past ${digest.max} alerts in ${writeDuration(digest.everyMs)} the rest as one message`]),
		...(fallback === null ? [] : [`${fallback} is notified when it fails`]),
	]
	return parts.map((part) => `; ${part}`).join('')
}
