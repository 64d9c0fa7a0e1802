/** What a message is about, by what it carries. */
import type { AlertData, DigestData, MessageContent, UndeliveredData } from '../model/alert.js'

/** Who is sent an event carries its data; a system message has none. */
export function isAlert<C extends MessageContent>(data: C): data is C & AlertData {
	return 'txHash' in data
}

export function isDigest<C extends MessageContent>(data: C): data is C & DigestData {
	return 'alerts' in data
}

/** Word of a receiver that takes nothing, or refuses what it is sent. */
export function isUndelivered<C extends MessageContent>(data: C): data is C & UndeliveredData {
	return 'receiver' in data
}
