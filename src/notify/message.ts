/** A message as a mail says it: a subject, and the same content twice, as text and as HTML. Pure. */
import type { Message } from '../model.js'
import { type Fact, factsOf } from './facts.js'
import { headline } from './sentence.js'

export interface Composed {
	readonly subject: string
	readonly text: string
	readonly html: string
}

export function composeMessage(message: Message): Composed {
	const subject = headline(message)
	const { notes, facts } = factsOf(message)
	return { subject, text: asText(subject, notes, facts), html: asHtml(subject, notes, facts) }
}

function asText(subject: string, notes: readonly string[], facts: readonly Fact[]): string {
	const width = Math.max(...facts.map(({ name }) => name.length)) + 2
	const lines = facts.flatMap(({ name, value, link }) => [
		`${`${name}:`.padEnd(width)}${value}`,
		...(link === undefined ? [] : [`${' '.repeat(width)}${link}`]),
	])
	return [subject, ...notes, lines.join('\n')].join('\n\n').concat('\n')
}

function asHtml(subject: string, notes: readonly string[], facts: readonly Fact[]): string {
	const rows = facts.map(({ name, value, link }) => {
		const shown = `<code>${escapeHtml(value)}</code>`
		const linked = link === undefined ? shown : `${shown}<br><a href="${escapeHtml(link)}">${escapeHtml(link)}</a>`
		return `<tr><th align="left" valign="top">${escapeHtml(name)}:</th><td>${linked}</td></tr>`
	})
	return [
		'<!doctype html>',
		`<html><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head><body>`,
		`<p><strong>${escapeHtml(subject)}</strong></p>`,
		...notes.map((note) => `<p>${escapeHtml(note)}</p>`),
		'<table cellpadding="4">',
		...rows,
		'</table>',
		'</body></html>',
	].join('\n')
}

function escapeHtml(text: string): string {
	return text
		.replaceAll('&', '&amp;')
		.replaceAll('<', '&lt;')
		.replaceAll('>', '&gt;')
		.replaceAll('"', '&quot;')
		.replaceAll("'", '&#39;')
}
