/** The room is how the pages look: templates, layout, tables, figures, charts, style. */

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
	readonly version: string
	readonly banner: Html
	/** What begins the title of the window, such as `Degraded`; null while nothing is wrong. */
	readonly trouble: string | null
	/** When the page was made. */
	readonly nowMs: number
	/** The path of the same page as JSON. */
	readonly jsonPath: string
	/** The banner already says what the page is for: its heading is for screen readers only. */
	readonly isHeadingHidden?: true
	/** The path of the same page, loaded again every minute. */
	readonly again: string
	/** After how many seconds a browser loads the page again; null: never. */
	readonly refreshS: number | null
	readonly body: Html
}

export function page(frame: Frame): string {
	const { title, path, version, banner, again, trouble, nowMs, jsonPath, isHeadingHidden, refreshS, body } = frame
	const mark = trouble === null ? '' : `${trouble} · `
	return textOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
${
	refreshS === null
		? null
		: html`<meta http-equiv="refresh" content="${refreshS}">
`
}<title>${mark}${title} · tracewatch</title>
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
${banner}
</header>
<main id="main" tabindex="-1">
<h1${isHeadingHidden === true ? html` class="hidden"` : null}>${title}</h1>
${body}
</main>
<footer><p>As of ${time(nowMs)} · <a href="${again}">load again every minute</a></p>
<p>This page as <a href="${jsonPath}">JSON</a> ·
<a href="/metrics">Metrics</a> · <a href="/healthz">Health</a></p></footer>
</body>
</html>
`)
}

/** Links to the first and the next page, as far as they exist. */
export function pager(path: string, params: URLSearchParams, next: string | null, words = 'Older'): Html {
	const first = new URLSearchParams(params)
	const isFirst = first.get('before') === null
	first.delete('before')
	const older = new URLSearchParams(first)
	if (next !== null) older.set('before', next)
	return html`<nav class="pager" aria-label="Further entries">${
		isFirst ? null : html`<a href="${path}?${first.toString()}">To the first</a>`
	} ${next === null ? null : html`<a rel="next" href="${path}?${older.toString()}">${words}</a>`}</nav>`
}

export interface Field {
	readonly name: string
	readonly label: string
	/** The values to choose from. Absent: any text. */
	readonly among?: readonly string[]
}

/** A form with filters, sent as the query of the page. The first two are always shown, the others once one is set. */
export function filters(path: string, params: URLSearchParams, fields: readonly Field[]): Html {
	const shown = fields.map(({ name, label, among }) => {
		const value = params.get(name) ?? ''
		const choices = among?.includes(value) === false && value !== '' ? [...among, value] : among
		const field =
			choices === undefined
				? html`<input id="f-${name}" name="${name}" value="${value}" autocomplete="off" spellcheck="false">`
				: html`<select id="f-${name}" name="${name}"><option value="">any</option>${choices.map(
						(one) => html`<option${one === value ? html` selected` : null}>${one}</option>`,
					)}</select>`
		return { isSet: value !== '', field: html`<p><label for="f-${name}">${label}</label>${field}</p>` }
	})
	const [first, more] = [shown.slice(0, 2), shown.slice(2)]
	const button = html`<p><button type="submit">Show</button></p>`
	const open = more.some(({ isSet }) => isSet) ? html` open` : null
	return html`<form class="filters" method="get" action="${path}" role="search">${first.map(
		({ field }) => field,
	)}${button}${
		more.length === 0
			? null
			: html`<details${open}><summary>More filters</summary><div>${more.map(({ field }) => field)}</div></details>`
	}</form>`
}

export type Cell = Html | string | null

/** The name of a column, what it shows of a row, and whether that is a number, aligned at the right. */
export type Column<Row> = readonly [name: string, cell: (row: Row) => Cell, isNumber?: 'number']

export interface RowOptions<Row> {
	/** What opens below a row, by its first cell. */
	readonly more?: (row: Row) => Html
	/** Whether a row is highlighted. */
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
