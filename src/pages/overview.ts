/** The first page: the latest alerts, networks, receivers and configuration. */

import { counted } from '../base/text/counted.js'
import { iso } from '../base/utc.js'
import { booksInWords, notProvedInWords } from '../core/ledger/booksInWords.js'
import { networkLine } from '../core/networkLine.js'
import { knownNames, receiverCounts } from '../core/outbox/receiverCounts.js'
import { alertTable } from './alertTable.js'
import { ago, amount, grouped, time } from './look/figures.js'
import { type Html, html } from './look/html.js'
import { mark, table, whole } from './look/layout.js'
import type { PageFacts } from './pageData.js'
import { announced } from './rows.js'
import { standingOf } from './standing.js'

const MOST_LATEST = 12

export async function overview(facts: PageFacts) {
	const { clock, config, watches } = facts
	const nowMs = clock()
	const health = await facts.health()
	const summary = await facts.summary().catch(() => null)
	const networks = facts.networks.map(({ name, chainId, endpoints }) => {
		const own = health.networks.find(({ network }) => network === name)
		const state = summary?.networks.get(name)
		const { source, books, logs, ...reached } = networkLine(state, own)
		return {
			network: name,
			chainId,
			ok: own?.ok ?? true,
			reason: own?.reason ?? null,
			...reached,
			lastPollAt: own?.lastPollAt ?? null,
			source,
			endpoint: facts.endpoint(name),
			...{ endpoints, books, logs },
			watches: watches.networks.get(name)?.length ?? 0,
		}
	})
	const configured = facts.receivers.map(({ name }) => name)
	const receivers = knownNames(configured, summary?.receivers).map((name) => {
		const settings = facts.receivers.find((one) => one.name === name)
		const answer = facts.lastAnswer(name)
		return {
			receiver: name,
			type: settings?.type ?? null,
			place: settings?.place ?? 'not configured any more',
			fallback: settings?.fallback ?? null,
			...receiverCounts(summary?.receivers.get(name), summary === null ? null : 0),
			lastAnswer: answer === null ? null : { at: iso(answer.atMs), result: answer.result, words: answer.words },
		}
	})
	const { state, troubles } = standingOf(health)
	return {
		ok: health.ok,
		reason: health.reason,
		state,
		troubles,
		at: iso(nowMs),
		version: facts.version,
		startedAt: iso(facts.startedAtMs),
		config: {
			file: config.path,
			loadedAt: iso(config.loadedAtMs),
			refused: config.isRefused,
			watches: watches.length,
			...(config.changed && { changed: config.changed }),
		},
		networks,
		receivers,
		latest: latestOf(facts),
	}
}

/** The newest alerts and retractions that the state still keeps, newest first; one of each event and address. */
function latestOf(facts: PageFacts) {
	const newest = announced(facts).sort((one, other) => other.data.detectedAt.localeCompare(one.data.detectedAt))
	return newest.slice(0, MOST_LATEST).map(({ status, data, ...alert }) => {
		const type = status === 'announced' ? alert.type : ('alert.removed' as const)
		const says = facts.says({ type, timestamp: data.detectedAt, data: { ...data, deliveryId: '' } })
		return { id: data.id, type, toldAt: data.detectedAt, alert: data, says }
	})
}

type Overview = Awaited<ReturnType<typeof overview>>

/** Open books, and blocks whose books or token logs were not proved. */
function unproved(networks: Overview['networks']): Html {
	const lines = networks.flatMap(({ network, books, logs }) =>
		[...notProvedInWords(books, logs)].map((words) => html`<li>${network}: ${words}</li>`),
	)
	return lines.length === 0 ? html`` : html`<ul class="quiet">${lines}</ul>`
}

function headInWords({ head, headUnknownSince }: Overview['networks'][number]) {
	if (head !== null) return grouped(head)
	return headUnknownSince === null ? 'not known' : html`unknown since ${time(headUnknownSince)}`
}

export function overviewBody(found: Overview, facts: PageFacts): Html {
	const { config, networks, receivers } = found
	const nowMs = facts.clock()
	return html`
<section id="latest" aria-labelledby="h-latest"><h2 id="h-latest">Latest alerts</h2>
${alertTable(
	found.latest.map(({ alert, ...row }) => ({ ...row, reason: null, alerts: [alert], deliveries: [] })),
	facts,
	{ isShort: true },
)}<p><a href="/alerts">All alerts</a></p></section>
<section id="networks" aria-labelledby="h-networks"><h2 id="h-networks">Networks</h2>
${table('Networks', networks, [
	['Network', ({ network, chainId }) => html`${whole(network)} <small>chain ${chainId}</small>`],
	['State', ({ ok }) => (ok ? mark('watched', 'well') : mark('not watched', 'ill'))],
	['Head', headInWords, 'number'],
	['Scanned to', ({ checkpoint }) => (checkpoint === null ? 'not yet' : grouped(checkpoint)), 'number'],
	[
		'Behind',
		({ lagBlocks }) => (lagBlocks === null ? 'not known' : whole(amount(counted(lagBlocks, 'block')))),
		'number',
	],
	['Last poll', ({ lastPollAt }) => ago(lastPollAt, nowMs)],
	['Books', ({ books }) => booksInWords(books ?? undefined).replace(/\d{5,}/g, grouped)],
	[
		'Endpoint',
		({ endpoint, endpoints, source }) => html`${whole(endpoint ?? endpoints[0] ?? '', 32)}${
			endpoint === null && ' (not asked yet)'
		}
<small>${source ?? 'source not chosen yet'}</small>`,
	],
	[
		'Watches',
		({ network, watches }) => html`<a href="/watches?network=${encodeURIComponent(network)}">${grouped(watches)}</a>`,
		'number',
	],
])}${unproved(networks)}</section>
<section id="receivers" aria-labelledby="h-receivers"><h2 id="h-receivers">Receivers</h2>
${table('Receivers', receivers, [
	[
		'Receiver',
		({ receiver, type, place }) =>
			html`${whole(receiver)} <small>${type === null ? '' : `${type}, `}${whole(place, 32)}</small>`,
	],
	[
		'Pending',
		({ receiver, pending, failedAttempts, aside }) =>
			html`${failedAttempts ? mark('retrying', 'waits') : null} ${
				aside ? mark(`fails at ${aside} alone`, 'ill') : null
			} ${count(pending, 'pending', receiver)}`,
		'number',
	],
	['Held', ({ receiver, held }) => count(held, 'held', receiver), 'number'],
	['Parked', ({ receiver, parked }) => count(parked, 'parked', receiver, 'refuses everything'), 'number'],
	['Dead', ({ receiver, dead }) => count(dead, 'dead', receiver, 'given up'), 'number'],
	['Delivered', ({ delivered }) => (delivered === null ? 'not known' : grouped(delivered)), 'number'],
	['Last delivered', ({ lastDeliveredAt }) => ago(lastDeliveredAt, nowMs)],
	[
		'Last answer',
		({ lastAnswer }) =>
			lastAnswer === null
				? 'none since the start'
				: html`${lastAnswer.words} <small>${ago(lastAnswer.at, nowMs)}</small>`,
	],
	['Fallback', ({ fallback }) => whole(fallback ?? 'none')],
])}</section>
<section id="config" aria-labelledby="h-config"><h2 id="h-config">Configuration</h2>
<p><code>${config.file}</code>, read ${ago(config.loadedAt, nowMs)}${
		config.refused
			? html`. ${mark('refused', 'ill')} The watchlists as edited are wrong; these are the last good ones`
			: null
	}.${changedLine(config.changed)}</p></section>`
}

/** The number of deliveries with a status, as a link to them, after what it means where there are any. */
function count(number: number | null, status: string, name: string, means?: string): Html | string {
	if (number === null || number === 0) return String(number ?? 'not known')
	const query = `status=${status}&receiver=${encodeURIComponent(name)}`
	return html`${means && mark(means, 'ill')} <a href="/deliveries?${query}">${grouped(number)}</a>`
}

/** How many watches the last reload added and removed. */
function changedLine(changed: Overview['config']['changed']) {
	if (changed === undefined || changed.added + changed.removed === 0) return null
	return ` The last reload added ${counted(changed.added, 'watch', 'watches')} and removed ${changed.removed}.`
}
