/** A message as a chat shows it: the sentence, what a reader asks next, and one link. */
import { isAlert, isDigest } from '../../../core/messageKinds.js'
import type { Message } from '../../../model/alert.js'
import { factsOf } from '../../text/facts.js'
import { headline, numbered } from '../../text/sentence.js'

export interface Markup {
	/** Takes the meaning from whatever the service would read as markup or a mention. */
	readonly disarm: (text: string) => string
	/** A URL from the settings, as the service likes it. */
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

/**
 * Without the headline, for services that have a title. Of a digest each alert in a line: the sentence and where to
 * look.
 */
export function chatBody(message: Message, { disarm, link }: Markup): string {
	const { notes, facts, rows } = factsOf(message)
	if (isDigest(message.data)) {
		const lines = numbered(message.data).map(({ title, alert }) => {
			const url = alert.data.links?.tx
			const late = alert.data.late ? ' (late)' : ''
			return `${disarm(`${title}${late}:`)} ${url === undefined ? disarm(alert.data.txHash) : link(url)}`
		})
		const first = rows.flatMap(({ number, isAlarming }) => (isAlarming ? [number] : []))
		const alarm = first.length === 0 ? [] : [`Look at these first: ${first.join(', ')}`]
		return [...[...alarm, ...notes].map(disarm), ...lines].join('\n')
	}
	const url = linkOf(message)
	const lines = facts.filter(({ name }) => shown.has(name)).map(({ name, value }) => disarm(`${name}: ${value}`))
	return [...notes.map(disarm), ...lines, ...(url === null ? [] : [link(url)])].join('\n')
}

/** Where the transaction can be looked at; null without an explorer. */
export function linkOf({ data }: Message): string | null {
	return isAlert(data) ? (data.links?.tx ?? null) : null
}

/** At most `limit` as `size` measures, ended by an ellipsis where something was cut off. Whole characters. */
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
