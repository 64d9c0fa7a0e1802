/** The room is how the pages look: templates, layout, tables, figures, charts, style. */

import { banner, type Standing } from '../standing.js'
import { time } from './figures.js'
import { type Html, html, textOf } from './html.js'

const places = [
	['/', 'Overview'],
	['/alerts', 'Alerts'],
	['/watches', 'Watches'],
	['/deliveries', 'Deliveries'],
] as const

export interface Frame {
	readonly title: string
	readonly path: string
	readonly params: URLSearchParams
	readonly version: string
	readonly standing: Standing
	readonly nowMs: number
	readonly body: Html
}

export function page({ title, path, params, version, standing, nowMs, body }: Frame): string {
	const trouble = standing.state === 'watching' ? '' : `${standing.words} · `
	const withParam = (name: string, value: string) => {
		const query = new URLSearchParams(params)
		query.set(name, value)
		return `${path}?${query.toString()}`
	}
	const refreshS = /^[1-9]\d{1,3}$/.exec(params.get('refresh') ?? '')?.[0]
	return textOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
${
	refreshS &&
	html`<meta http-equiv="refresh" content="${refreshS}">
`
}<title>${trouble}${title} · tracewatch</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header>
<p class="name">tracewatch <small>${version}</small></p>
<nav aria-label="Pages"><ul>${places.map(
		([at, name]) => html`<li><a href="${at}"${at === path ? html` aria-current="page"` : null}>${name}</a></li>`,
	)}</ul></nav>
${banner(standing)}
</header>
<main id="main" tabindex="-1">
<h1${path === '/' && html` class="hidden"`}>${title}</h1>
${body}
</main>
<footer><p>As of ${time(nowMs)} · <a href="${withParam('refresh', '60')}">load again every minute</a></p>
<p>This page as <a href="${withParam('format', 'json')}">JSON</a> ·
<a href="/metrics">Metrics</a> · <a href="/healthz">Health</a></p></footer>
</body>
</html>
`)
}

export type Cell = Html | string | null

/** The name of a column, what it shows of a row, and whether that is a number, aligned at the right. */
export type Column<Row> = readonly [name: string, cell: (row: Row) => Cell, isNumber?: 'number']

export interface RowOptions<Row> {
	/** What opens below a row, by its first cell. */
	readonly more?: (row: Row) => Html
	readonly isAlarm?: (row: Row) => boolean
}

/** A table, which narrow screens show as cards. Its class is its caption. */
export function table<Row>(
	caption: string,
	rows: readonly Row[],
	columns: readonly Column<Row>[],
	{ more, isAlarm }: RowOptions<Row> = {},
): Html {
	if (rows.length === 0) return html`<p class="none">${caption}: none</p>`
	const right = (isNumber?: 'number') => isNumber && html` class="number"`
	const [[, headOf] = ['', () => null], ...others] = columns
	return html`<table class="${caption.toLowerCase()}"><caption>${caption}</caption><thead><tr>${columns.map(
		([name, , isNumber]) => html`<th scope="col"${right(isNumber)}>${name}</th>`,
	)}</tr></thead><tbody>${rows.map((row) => {
		const head = headOf(row)
		const opener = more && html`<details><summary>${head}<span class="hidden">: details</span></summary></details>`
		return html`<tr${isAlarm?.(row) && html` class="loud"`}><th scope="row">${opener ?? head}</th>${others.map(
			([name, cell, isNumber]) => html`<td${right(isNumber)} data-name="${name}">${cell(row)}</td>`,
		)}</tr>${more && html`<tr class="more"><td colspan="${columns.length}">${more(row)}</td></tr>`}`
	})}</tbody></table>`
}

/** A name of at most `most` characters is not wrapped; browsers would wrap it to make room for other columns. */
export function whole(words: string, most = 24): Html | string {
	return words.length <= most ? html`<span class="whole">${words}</span>` : words
}

export function mark(words: string, kind: 'well' | 'ill' | 'waits'): Html {
	return html`<span class="mark ${kind}">${words}</span>`
}

/** What is known of a thing, by name; null or undefined: nothing is. A phone shows `wide` on a line of its own. */
export function factList(shown: readonly (readonly [string, Cell | undefined])[], wide?: string): Html {
	return html`<dl>${shown.map(([name, words]) => {
		const kind = name === wide ? html` class="wide"` : null
		return words == null ? null : html`<dt${kind}>${name}</dt><dd${kind}>${words}</dd>`
	})}</dl>`
}
