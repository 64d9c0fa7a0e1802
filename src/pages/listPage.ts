/** What the pages of lists share: filters, holes of the history, the list, and links to further entries. */

import { counted } from '../base/text/counted.js'
import type { Gathered } from './collectDeliveries.js'
import { amount, time } from './look/figures.js'
import { type Html, html } from './look/html.js'
import { mark } from './look/layout.js'

export interface Field {
	readonly name: string
	readonly label: string
	/** The values to choose from. Absent: any text. */
	readonly among?: readonly string[]
}

export interface List {
	readonly path: string
	readonly params: URLSearchParams
	/** Filters; none: there is no form. */
	readonly fields: readonly Field[]
	readonly label: string
	readonly found: Pick<Gathered, 'next'> & Partial<Pick<Gathered, 'holes' | 'cut'>>
	readonly body: Html
}

export function listPage({ path, params, fields, label, found: { holes = [], cut, next }, body }: List): Html {
	return html`${fields.length > 0 && filters(path, params, fields)}<section id="list" aria-label="${label}">
${holes.map(hole)}
${body}
${pager(path, params, next, cut === true ? 'Look further back' : 'More')}</section>`
}

function hole({ rows, from, to }: Gathered['holes'][number]): Html {
	return html`<p>${mark('hole', 'ill')} ${amount(counted(rows, 'row'))} of the history could not be written,
from ${time(from)} to ${time(to)}. The messages themselves were sent.</p>`
}

/** Links to the first and the next entries, as far as they exist. */
function pager(path: string, params: URLSearchParams, next: string | null, words: string): Html {
	const link = (before: string | null, rel: string, name: string) => {
		const query = new URLSearchParams(params)
		if (before === null) query.delete('before')
		else query.set('before', before)
		return html`<a rel="${rel}" href="${path}?${query.toString()}">${name}</a> `
	}
	const first = params.get('before') !== null && link(null, 'first', 'To the first')
	const further = next !== null && link(next, 'next', words)
	return html`<nav class="pager" aria-label="Further entries">${first}${further}</nav>`
}

function filters(path: string, params: URLSearchParams, fields: readonly Field[]): Html {
	const shown = fields.map(({ name, label, among }) => {
		const value = params.get(name) ?? ''
		const choices = among?.includes(value) === false && value !== '' ? [...among, value] : among
		const field =
			choices === undefined
				? html`<input id="f-${name}" name="${name}" value="${value}" autocomplete="off" spellcheck="false">`
				: html`<select id="f-${name}" name="${name}"><option value="">any</option>${choices.map(
						(one) => html`<option${one === value && html` selected`}>${one}</option>`,
					)}</select>`
		return html`<p><label for="f-${name}">${label}</label>${field}</p>`
	})
	return html`<form class="filters" method="get" action="${path}" role="search">${shown}<p><button
type="submit">Show</button></p></form>`
}
