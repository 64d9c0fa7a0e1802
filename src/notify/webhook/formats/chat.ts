/** A message for chats: the sentence, the most important facts, and one link. */
import { isAlert, isDigest } from '../../../core/outbox/messageKinds.js'
import type { Message } from '../../../model/alert.js'
import { factsOf } from '../../text/facts.js'
import { headline } from '../../text/sentence.js'

export interface Markup {
	/** Neutralises text that the service would read as markup or as a mention. */
	readonly disarm: (text: string) => string
	/** Formats a URL from the settings for the service. */
	readonly link: (url: string) => string
}

const shown = new Set([
	'From',
	'To',
	'Contract',
	'Imitates',
	'Token',
	'Started by',
	'Delegated to',
	'Before',
	'Withdrawal',
	'Blocks',
	'Time',
	'Late',
	'Checkpoint',
	'Head',
	'Reason',
	'Since',
	'Why you get this',
])

export function chatText(message: Message, markup: Markup): string {
	return [markup.disarm(headline(message)), chatBody(message, markup)].join('\n')
}

/** Without the headline, for services with a title. */
export function chatBody(message: Message, markup: Markup): string {
	const { notes, lines, facts, url } = chatParts(message, markup)
	const named = facts.map(({ name, value }) => `${name}: ${value}`)
	return [...notes, ...lines, ...named, ...(url === null ? [] : [markup.link(url)])].join('\n')
}

/** The parts of a body, in order; every text is disarmed. */
export interface ChatParts {
	readonly notes: readonly string[]
	/** For a digest, one line per alert: the sentence and a link. */
	readonly lines: readonly string[]
	readonly facts: readonly { readonly name: string; readonly value: string }[]
	/** Of the transaction, in the explorer of the settings. */
	readonly url: string | null
}

export function chatParts(message: Message, { disarm, link }: Markup): ChatParts {
	const { notes, facts, rows } = factsOf(message)
	if (isDigest(message.data)) {
		const lines = rows.map(({ number, says, alert }) => {
			const url = alert.data.links?.tx
			const late = alert.data.late ? ' (late)' : ''
			return `${disarm(`${number}. ${says}${late}:`)} ${url === undefined ? disarm(alert.data.txHash) : link(url)}`
		})
		const first = rows.flatMap(({ number, isAlarming }) => (isAlarming ? [number] : []))
		const alarm = first.length === 0 ? [] : [`Look at these first: ${first.join(', ')}`]
		return { notes: [...alarm, ...notes].map(disarm), lines, facts: [], url: null }
	}
	const named = facts.filter(({ name }) => shown.has(name)).map(({ name, value }) => ({ name, value: disarm(value) }))
	return { notes: notes.map(disarm), lines: [], facts: named, url: linkOf(message) }
}

/** Explorer link of the transaction; null without an explorer. */
export function linkOf({ data }: Message): string | null {
	return isAlert(data) ? (data.links?.tx ?? null) : null
}

/** Cuts at a character boundary to at most `limit`, as measured by `size`, with an ellipsis if anything was cut. */
export function cut(text: string, limit: number, size: (text: string) => number = (all) => all.length): string {
	if (size(text) <= limit) return text
	const letters = [...text]
	let [low, high] = [0, letters.length]
	while (low < high) {
		const middle = Math.ceil((low + high) / 2)
		if (size(`${letters.slice(0, middle).join('')}…`) <= limit) low = middle
		else high = middle - 1
	}
	return `${letters.slice(0, low).join('')}…`
}
