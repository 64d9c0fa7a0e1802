/** Whether the program watches at present: the banner on every page. */

import type { StateSummary } from '../model/state.js'
import { counted } from './look/figures.js'
import { type Html, html } from './look/html.js'
import type { PageFacts } from './pageData.js'

/**
 * `not-watching`: a network is not scanned, or the state cannot be read. `degraded`: every network was scanned
 * a while ago, but something needs an operator, such as polls that fail, or a receiver that refuses messages.
 */
export type StandingName = 'watching' | 'degraded' | 'not-watching'

export interface Standing {
	readonly state: StandingName
	/** One line: `Watching normally`, `Degraded`, `Not watching ethereum`. */
	readonly words: string
	/** Everything that is wrong, each in a sentence. */
	readonly troubles: readonly string[]
}

type Health = Awaited<ReturnType<PageFacts['health']>>

/** `summary`: null when the state cannot be read. */
export function standingOf(health: Health, summary: StateSummary | null): Standing {
	const reasons = health.reasons ?? (health.reason === null ? [] : [health.reason])
	const troubles = [...reasons, ...receiversInTrouble(summary, reasons)]
	const isStalled = !health.ok && (health.status ?? 'stalled') === 'stalled'
	if (isStalled) return { state: 'not-watching', words: notWatching(health), troubles }
	// A reason while it is well is no fault.
	if (troubles.length > (health.ok ? reasons.length : 0)) return { state: 'degraded', words: 'Degraded', troubles }
	return { state: 'watching', words: 'Watching normally', troubles }
}

function notWatching({ networks }: Health): string {
	const names = networks.flatMap(({ ok, network }) => (ok ? [] : [network]))
	if (names.length === 0 || networks.length === 1) return 'Not watching'
	const shown = names.slice(0, 3).join(', ')
	return `Not watching ${shown}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`
}

/** Failed attempts that the health does not report yet, or not any more. */
function receiversInTrouble(summary: StateSummary | null, reasons: readonly string[]): readonly string[] {
	return [...(summary?.receivers ?? [])].flatMap(([name, { pending, failedAttempts = 0, quarantined = 0 }]) => {
		const isKnown = reasons.some((reason) => reason.startsWith(`${name} `))
		const waits = `${counted(pending, 'delivery', 'deliveries')} ${pending === 1 ? 'waits' : 'wait'}`
		return [
			...(failedAttempts > 0 && !isKnown ? [`${name} fails at present: ${waits} and are retried`] : []),
			...(quarantined > 0 && !isKnown
				? [`${name} fails at ${counted(quarantined, 'message')} alone; the others are sent`]
				: []),
		]
	})
}

const signs: Readonly<Record<StandingName, string>> = { watching: '●', degraded: '▲', 'not-watching': '■' }

export function banner({ state, words, troubles }: Standing): Html {
	const lines = troubles.length === 0 ? null : html`<ul>${troubles.map((one) => html`<li>${one}</li>`)}</ul>`
	return html`<div id="health" data-live class="health ${state}" role="status"><p><span
aria-hidden="true">${signs[state]}</span> ${words}</p>${lines}</div>`
}
