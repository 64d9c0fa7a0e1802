/** Whether the program watches at present: the banner on every page. */

import type { Health } from '../model/trouble.js'
import { type Html, html } from './look/html.js'

export interface Standing {
	/**
	 * `not-watching`: a network is not scanned, or the state cannot be read. `degraded`: every network was scanned
	 * a while ago, but something needs an operator, such as polls that fail, or a receiver that refuses messages.
	 */
	readonly state: 'watching' | 'degraded' | 'not-watching'
	/** One line: `Watching normally`, `Degraded`, `Not watching ethereum`. */
	readonly words: string
	/** Everything that is wrong, each in a sentence. */
	readonly troubles: readonly string[]
}

export function standingOf(health: Health): Standing {
	const troubles = health.reasons ?? (health.reason === null ? [] : [health.reason])
	// A reason while it is well is no fault.
	if (health.ok) return { state: 'watching', words: 'Watching normally', troubles }
	if ((health.status ?? 'stalled') === 'stalled') return { state: 'not-watching', words: notWatching(health), troubles }
	return { state: 'degraded', words: 'Degraded', troubles }
}

function notWatching({ networks }: Health): string {
	const names = networks.flatMap(({ ok, network }) => (ok ? [] : [network]))
	return names.length === 0 || networks.length === 1 ? 'Not watching' : `Not watching ${names.join(', ')}`
}

const signs: Readonly<Record<Standing['state'], string>> = { watching: '●', degraded: '▲', 'not-watching': '■' }

export function banner({ state, words, troubles }: Standing): Html {
	const lines = troubles.length === 0 ? null : html`<ul>${troubles.map((one) => html`<li>${one}</li>`)}</ul>`
	return html`<div id="health" class="health ${state}" role="status"><p><span
aria-hidden="true">${signs[state]}</span> ${words}</p>${lines}</div>`
}
