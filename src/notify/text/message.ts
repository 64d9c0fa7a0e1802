/** The room says a message in words: a subject, and the same content twice, as text and as HTML. Pure. */

import { escapeHtml } from '../../base/escapeHtml.js'
import type { Message } from '../../model/alert.js'
import type { Fact } from './fact.js'
import { type Facts, factsOf } from './facts.js'
import { headline } from './sentence.js'

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

function asText(subject: string, { notes, facts, parts }: Facts): string {
	const blocks = parts.map((part) => [part.title, listOf(part.facts)].join('\n'))
	return [subject, ...notes, ...blocks, listOf(facts)].join('\n\n').concat('\n')
}

function listOf(facts: readonly Fact[]): string {
	const width = Math.max(...facts.map(({ name }) => name.length)) + 2
	return facts
		.flatMap(({ name, value, link }) => [
			`${`${name}:`.padEnd(width)}${value}`,
			...(link === undefined ? [] : [`${' '.repeat(width)}${link}`]),
		])
		.join('\n')
}

function asHtml(subject: string, { notes, facts, parts }: Facts): string {
	return [
		'<!doctype html>',
		`<html><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head><body>`,
		`<p><strong>${escapeHtml(subject)}</strong></p>`,
		...notes.map((note) => `<p>${escapeHtml(note)}</p>`),
		...parts.flatMap((part) => [`<p><strong>${escapeHtml(part.title)}</strong></p>`, tableOf(part.facts)]),
		tableOf(facts),
		'</body></html>',
	].join('\n')
}

function tableOf(facts: readonly Fact[]): string {
	const rows = facts.map(({ name, value, link }) => {
		const shown = `<code>${escapeHtml(value)}</code>`
		const linked = link === undefined ? shown : `${shown}<br><a href="${escapeHtml(link)}">${escapeHtml(link)}</a>`
		return `<tr><th align="left" valign="top">${escapeHtml(name)}:</th><td>${linked}</td></tr>`
	})
	return ['<table cellpadding="4">', ...rows, '</table>'].join('\n')
}
