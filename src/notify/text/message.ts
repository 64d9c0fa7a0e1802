/** The room renders a message: a subject, and the same content as text and as HTML. Pure. */

import { escapeHtml } from '../../base/text/escapeHtml.js'
import type { Message } from '../../model/alert.js'
import { isAlarming } from './alarms.js'
import { rowsAsHtml, rowsAsText } from './digestTable.js'
import { foldedLines, foldedList } from './factLines.js'
import { type Facts, factsOf } from './facts.js'
import { headline } from './sentence.js'
import { toDo } from './systemFacts.js'

export interface Composed {
	readonly subject: string
	readonly text: string
	readonly html: string
}

export function composeMessage(message: Message): Composed {
	const subject = headline(message)
	const content = factsOf(message)
	const whole = compose(subject, content)
	if (content.rows.length === 0 || Buffer.byteLength(whole.text + whole.html) <= mostBytes) return whole
	const rows = content.rows.map((row) => ({ ...row, facts: [] }))
	return compose(subject, { ...content, rows, notes: [...content.notes, shortened] })
}

/**
 * Gmail cuts what it shows of a mail at 102 kB. Encoding adds up to a fifth, so that the whole mail stays below 100 kB.
 */
const mostBytes = 80_000

const shortened =
	'Addresses and ids are not shown: this mail would be too long. "tracewatch deliveries --sent" lists them all.'

function compose(subject: string, content: Facts): Composed {
	return { subject, text: asText(subject, content), html: asHtml(subject, content) }
}

function asText(subject: string, { alarms, notes, facts, rows }: Facts): string {
	const banner = alarms.length === 0 ? [] : [alarms.map((line) => `!!! ${line}`).join('\n')]
	const rest = notes.filter((note) => !alarms.includes(note))
	const table = rows.length === 0 ? [] : [rowsAsText(rows)]
	return [subject, ...banner, ...rest, ...table, foldedLines(facts).join('\n')].join('\n\n').concat('\n')
}

/** Inline styles, because mail programs drop others. No text colours, so that the reader's theme applies. */
function asHtml(subject: string, { alarms, notes, facts, rows }: Facts): string {
	const frame = isAlarming(subject) ? 'border-left:8px solid #d32f2f;padding:8px 12px' : 'padding:8px 0'
	const rest = notes.filter((note) => !alarms.includes(note))
	return [
		'<!doctype html>',
		'<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
		'<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">',
		`<title>${escapeHtml(subject)}</title></head>`,
		'<body style="font-family:sans-serif;font-size:15px;line-height:1.45;max-width:680px;margin:8px">',
		`<h1 style="font-size:18px;margin:0 0 12px;${frame};overflow-wrap:anywhere">${escapeHtml(subject)}</h1>`,
		...bannerOf(alarms),
		...rest.map(
			(note) => `<p style="overflow-wrap:anywhere">${note.startsWith(toDo) ? bold(note) : escapeHtml(note)}</p>`,
		),
		...(rows.length === 0 ? [] : [rowsAsHtml(rows)]),
		foldedList(facts, 14),
		'</body></html>',
	].join('\n')
}

function bannerOf(alarms: readonly string[]): readonly string[] {
	if (alarms.length === 0) return []
	const lines = alarms.map((line) => `<p style="margin:6px 0;overflow-wrap:anywhere">${bold(line)}</p>`)
	const style = 'border:2px solid #d32f2f;border-left-width:8px;padding:4px 12px;margin:0 0 12px'
	return [`<div style="${style}">`, ...lines, '</div>']
}

/** Puts addresses on lines of their own, in monospace, so that each digit stands below that of the other one. */
function bold(line: string): string {
	const [, before, address] = /^(\w[\w ]*:) +((?:0x|··)[·0-9a-fA-F]{40})$/.exec(line) ?? []
	if (before === undefined || address === undefined) return `<b>${escapeHtml(line)}</b>`
	return `<b>${before}<br><code style="font-size:13px">${address}</code></b>`
}
