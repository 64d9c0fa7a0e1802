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

/** What must not be overlooked, by the words that begin it after the network's name. */
const alarming =
	/^(\[TEST\] )?(\[[^\]]*\] )?(UNEXPLAINED|LOOK-ALIKE|STALLED|GAP|NOT IN EFFECT|NOT DELIVERED|RETRACTED)\b/

/** Styles stand at each element, since mail programs drop others; colours are left to the reader's own theme. */
function asHtml(subject: string, { notes, facts, parts }: Facts): string {
	const frame = alarming.test(subject) ? 'border-left:6px solid #c62828;padding:8px 12px' : 'padding:8px 0'
	return [
		'<!doctype html>',
		'<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
		'<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">',
		`<title>${escapeHtml(subject)}</title></head>`,
		'<body style="font-family:sans-serif;font-size:15px;line-height:1.45;max-width:640px">',
		`<h1 style="font-size:18px;margin:0 0 12px;${frame};overflow-wrap:anywhere">${escapeHtml(subject)}</h1>`,
		...notes.map((note) => `<p style="overflow-wrap:anywhere">${escapeHtml(note)}</p>`),
		...parts.flatMap((part) => [
			`<h2 style="font-size:15px;margin:16px 0 4px;overflow-wrap:anywhere">${escapeHtml(part.title)}</h2>`,
			tableOf(part.facts),
		]),
		tableOf(facts),
		'</body></html>',
	].join('\n')
}

/** Addresses and hashes are broken where the screen ends, and copied whole all the same. */
function tableOf(facts: readonly Fact[]): string {
	const rows = facts.map(({ name, value, link }) => {
		const shown = `<code style="overflow-wrap:anywhere">${escapeHtml(value)}</code>`
		const url = link === undefined ? null : escapeHtml(link)
		const style = 'color:inherit;overflow-wrap:anywhere'
		const linked = url === null ? shown : `${shown}<br><a style="${style}" href="${url}">${url}</a>`
		return `<tr><th scope="row" align="left" valign="top" width="110">${escapeHtml(name)}:</th><td>${linked}</td></tr>`
	})
	return ['<table cellpadding="4" width="100%" style="table-layout:fixed">', ...rows, '</table>'].join('\n')
}
