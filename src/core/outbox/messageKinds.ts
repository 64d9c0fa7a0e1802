/** What a message is about, by what it carries. */
import type {
	AlertData,
	DigestData,
	MessageContent,
	MessageType,
	SystemData,
	UndeliveredData,
} from '../../model/alert.js'

/** A message about an event carries the data of an alert; a system message does not. */
export function isAlert<C extends MessageContent>(data: C): data is C & AlertData {
	return 'txHash' in data
}

export function isDigest<C extends MessageContent>(data: C): data is C & DigestData {
	return 'alerts' in data
}

/** Whether it reports a receiver that accepts nothing, or refuses a message. */
export function isUndelivered<C extends MessageContent>(data: C): data is C & UndeliveredData {
	return 'receiver' in data
}

/** `stalled`, `refused` or `gap:FROM-TO`: equal in what begins and in what ends a trouble of a network. */
export function networkTroubleOf(type: MessageType, { fromBlock, toBlock, ends }: SystemData): string {
	if (fromBlock !== undefined) return `gap:${fromBlock}-${toBlock}`
	return type === 'system.refused' || ends === 'refused' ? 'refused' : 'stalled'
}
