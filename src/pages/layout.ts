/** The frame of every page. */

import { utc } from '../base/utc.js'
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
	/** Well, or what is not. */
	readonly health: { readonly ok: boolean; readonly reason: string | null; readonly reasons?: readonly string[] }
	/** What the same is called as JSON. */
	readonly jsonPath: string
	readonly body: Html
}

export function page({ title, path, version, health, jsonPath, body }: Frame): string {
	const { reason, reasons = [reason ?? ''] } = health
	// Each trouble on a line of its own: at night nobody finds the second one in a paragraph.
	const troubles = reasons.length > 1 ? reasons.map((one) => html`<span class="trouble">${one}</span> `) : reasons
	const said = health.ok ? html`All is well` : html`NOT WELL: ${troubles}`
	return textOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${health.ok ? '' : 'NOT WELL · '}${title} · tracewatch</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
<script src="/refresh.js" defer></script>
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header>
<p class="name">tracewatch <small>${version}</small></p>
<nav aria-label="Pages"><ul>${places.map(
		([at, name]) => html`<li><a href="${at}"${at === path ? html` aria-current="page"` : null}>${name}</a></li>`,
	)}</ul></nav>
<p id="health" data-live class="health ${health.ok ? 'well' : 'ill'}" role="status">${said}</p>
</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
<footer><p><a href="${jsonPath}">This page as JSON</a> · <a href="/metrics">Metrics</a> · <a href="/healthz">Health</a>
<span id="refreshing" class="quiet"></span></p></footer>
</body>
</html>
`)
}

/** In UTC; the script adds the reader's own time. */
export function time(ms: number | null, none = 'never'): Html {
	if (ms === null) return html`${none}`
	const iso = utc(ms)
	const [day = '', clock = ''] = iso.replace('Z', '').split('T')
	return html`<time datetime="${iso}"><span>${day}</span> <span>${clock} UTC</span></time>`
}

/** Links to what is newer and older, where there is any. */
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
	/** Of these; any text where there are none. */
	readonly among?: readonly string[]
}

/** A form of filters, sent as the query of the page's own address. */
export function filters(path: string, params: URLSearchParams, fields: readonly Field[]): Html {
	return html`<form class="filters" method="get" action="${path}" role="search">${fields.map(
		({ name, label, among }) => {
			const value = params.get(name) ?? ''
			const field =
				among === undefined
					? html`<input id="f-${name}" name="${name}" value="${value}" autocomplete="off" spellcheck="false">`
					: html`<select id="f-${name}" name="${name}"><option value="">any</option>${among.map(
							(one) => html`<option${one === value ? html` selected` : null}>${one}</option>`,
						)}</select>`
			return html`<p><label for="f-${name}">${label}</label>${field}</p>`
		},
	)}<p><button type="submit">Show</button></p></form>`
}

/** A table that a narrow screen shows as cards. */
export function table(
	caption: string,
	columns: readonly string[],
	rows: readonly (readonly (Html | string)[])[],
): Html {
	if (rows.length === 0) return html`<p class="none">${caption}: none</p>`
	return html`<table><caption>${caption}</caption><thead><tr>${columns.map(
		(column) => html`<th scope="col">${column}</th>`,
	)}</tr></thead><tbody>${rows.map(
		(cells) =>
			html`<tr>${cells.map((cell, at) =>
				at === 0
					? html`<th scope="row" data-name="${columns[at] ?? ''}">${cell}</th>`
					: html`<td data-name="${columns[at] ?? ''}">${cell}</td>`,
			)}</tr>`,
	)}</tbody></table>`
}

/** A name in a table, not broken where it is short: at other places it would be, to make room for the other columns. */
export function whole(words: string, most = 24): Html | string {
	return words.length <= most ? html`<span class="whole">${words}</span>` : words
}

/** What a message says; marked where it must not be overlooked. */
export function said(words: string, isAlarming: boolean): Html | string {
	return isAlarming ? html`<span class="alarm">${words}</span>` : words
}

export function mark(words: string, kind: 'well' | 'ill' | 'waits'): Html {
	return html`<span class="mark ${kind}">${words}</span>`
}
