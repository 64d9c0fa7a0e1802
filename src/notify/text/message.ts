/** The room says a message in words: a subject, and the same content twice, as text and as HTML. Pure. */

import { escapeHtml } from '../../base/escapeHtml.js'
import type { Message } from '../../model/alert.js'
import { isAlarming } from './alarms.js'
import { rowsAsHtml, rowsAsText } from './digestTable.js'
import { tableRow, textLines } from './fact.js'
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
	return { subject, text: asText(subject, content), html: asHtml(subject, content) }
}

function asText(subject: string, { alarms, notes, facts, rows }: Facts): string {
	const banner = alarms.length === 0 ? [] : [alarms.map((line) => `!!! ${line}`).join('\n')]
	const rest = notes.filter((note) => !alarms.includes(note))
	const table = rows.length === 0 ? [] : [rowsAsText(rows)]
	return [subject, ...banner, ...rest, ...table, textLines(facts).join('\n')].join('\n\n').concat('\n')
}

/** Styles stand at each element, since mail programs drop others; colours are left to the reader's own theme. */
function asHtml(subject: string, { alarms, notes, facts, rows }: Facts): string {
	const frame = isAlarming(subject) ? 'border-left:8px solid #d32f2f;padding:8px 12px' : 'padding:8px 0'
	const rest = notes.filter((note) => !alarms.includes(note))
	return [
		'<!doctype html>',
		'<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
		'<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">',
		`<title>${escapeHtml(subject)}</title></head>`,
		'<body style="font-family:sans-serif;font-size:15px;line-height:1.45;max-width:680px">',
		`<h1 style="font-size:18px;margin:0 0 12px;${frame};overflow-wrap:anywhere">${escapeHtml(subject)}</h1>`,
		...bannerOf(alarms),
		...rest.map(
			(note) => `<p style="overflow-wrap:anywhere">${note.startsWith(toDo) ? bold(note) : escapeHtml(note)}</p>`,
		),
		...(rows.length === 0 ? [] : [rowsAsHtml(rows)]),
		'<table cellpadding="4" width="100%" style="table-layout:fixed">',
		...facts.map((one) => tableRow(one, 110)),
		'</table>',
		'</body></html>',
	].join('\n')
}

function bannerOf(alarms: readonly string[]): readonly string[] {
	if (alarms.length === 0) return []
	const lines = alarms.map((line) => `<p style="margin:6px 0;overflow-wrap:anywhere">${bold(line)}</p>`)
	const style = 'border:2px solid #d32f2f;border-left-width:8px;padding:4px 12px;margin:0 0 12px'
	return [`<div style="${style}">`, ...lines, '</div>']
}

/** A line of which an address begins a line of its own, in letters of one width: so two of them can be compared. */
function bold(line: string): string {
	const [, before, address] = /^(\w[\w ]*:) (0x[0-9a-fA-F]{40})$/.exec(line) ?? []
	if (before === undefined || address === undefined) return `<b>${escapeHtml(line)}</b>`
	return `<b>${before}<br><code style="font-size:14px">${address}</code></b>`
}
