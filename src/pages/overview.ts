/** The first page: the latest alerts, networks, receivers and configuration. */

import { counted } from '../base/text/counted.js'
import { iso } from '../base/utc.js'
import { booksInWords, notProvedInWords } from '../core/ledger/booksInWords.js'
import { networkLine } from '../core/networkLine.js'
import { receiverCounts } from '../core/outbox/receiverCounts.js'
import { alertTable } from './alertTable.js'
import { ago, amount, grouped, time } from './look/figures.js'
import { type Html, html } from './look/html.js'
import { mark, table, whole } from './look/layout.js'
import type { PageFacts } from './pageData.js'
import { standingOf } from './standing.js'

const MOST_LATEST = 12
/** When the state cannot be read, the counts are unknown, not 0. */
const UNKNOWN_COUNTS = {
	...{ pending: null, aside: null, failedAttempts: null, held: null },
	...{ parked: null, dead: null, delivered: null, lastDeliveredAt: null },
}

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
	const known = facts.receivers.map(({ name }) => name)
	const others = [...(summary?.receivers.keys() ?? [])].filter((name) => !known.includes(name))
	const receivers = [...known, ...others].map((name) => {
		const settings = facts.receivers.find((one) => one.name === name)
		const answer = facts.lastAnswer(name)
		return {
			receiver: name,
			type: settings?.type ?? null,
			place: settings?.place ?? 'not configured any more',
			fallback: settings?.fallback ?? null,
			...(summary === null ? UNKNOWN_COUNTS : receiverCounts(summary.receivers.get(name))),
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
	const all = facts.networks.flatMap(({ name }) =>
		[...facts.announcements(name)].flatMap(({ status, alerts: [first] }) =>
			first === undefined
				? []
				: [{ type: status === 'announced' ? first.type : ('alert.removed' as const), data: first.data }],
		),
	)
	const newest = all.sort((one, other) => other.data.detectedAt.localeCompare(one.data.detectedAt))
	return newest.slice(0, MOST_LATEST).map(({ type, data }) => ({
		...{ id: data.id, type, toldAt: data.detectedAt, alert: data },
		says: facts.says({ type, timestamp: data.detectedAt, data: { ...data, deliveryId: '' } }),
	}))
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
	return headUnknownSince === null ? 'not known' : html`unknown since ${time(Date.parse(headUnknownSince))}`
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
${table(
	'Networks',
	[
		...['Network', 'State'],
		...['Head', 'Scanned to', 'Behind'].map((name) => ({ name, isNumber: true })),
		...['Last poll', 'Books', 'Endpoint'],
		{ name: 'Watches', isNumber: true },
	],
	networks.map((one) => ({
		cells: [
			html`${whole(one.network)} <small>chain ${one.chainId}</small>`,
			one.ok ? mark('watched', 'well') : mark('not watched', 'ill'),
			headInWords(one),
			one.checkpoint === null ? 'not yet' : grouped(one.checkpoint),
			one.lagBlocks === null
				? 'not known'
				: html`<span class="whole">${amount(counted(one.lagBlocks, 'block'))}</span>`,
			ago(one.lastPollAt === null ? null : Date.parse(one.lastPollAt), nowMs),
			booksInWords(one.books ?? undefined).replace(/\d{5,}/g, grouped),
			html`${whole(one.endpoint ?? one.endpoints[0] ?? '', 32)}${one.endpoint === null ? ' (not asked yet)' : null}
<small>${one.source ?? 'source not chosen yet'}</small>`,
			html`<a href="/watches?network=${encodeURIComponent(one.network)}">${grouped(one.watches)}</a>`,
		],
	})),
)}${unproved(networks)}</section>
<section id="receivers" aria-labelledby="h-receivers"><h2 id="h-receivers">Receivers</h2>
${table(
	'Receivers',
	[
		'Receiver',
		...['Pending', 'Held', 'Parked', 'Dead', 'Delivered'].map((name) => ({ name, isNumber: true })),
		...['Last delivered', 'Last answer', 'Fallback'],
	],
	receivers.map((one) => ({
		cells: [
			html`${whole(one.receiver)} <small>${one.type === null ? '' : `${one.type}, `}${whole(one.place, 32)}</small>`,
			html`${one.failedAttempts ? mark('retrying', 'waits') : null} ${
				one.aside ? mark(`fails at ${one.aside} alone`, 'ill') : null
			} ${count(one.pending, 'pending', one.receiver)}`,
			count(one.held, 'held', one.receiver),
			html`${one.parked ? mark('refuses everything', 'ill') : null} ${count(one.parked, 'parked', one.receiver)}`,
			html`${one.dead ? mark('given up', 'ill') : null} ${count(one.dead, 'dead', one.receiver)}`,
			one.delivered === null ? 'not known' : grouped(one.delivered),
			ago(one.lastDeliveredAt === null ? null : Date.parse(one.lastDeliveredAt), nowMs),
			one.lastAnswer === null
				? 'none since the start'
				: html`${one.lastAnswer.words} <small>${ago(Date.parse(one.lastAnswer.at ?? ''), nowMs)}</small>`,
			whole(one.fallback ?? 'none'),
		],
	})),
)}</section>
<section id="config" aria-labelledby="h-config"><h2 id="h-config">Configuration</h2>
<p><code>${config.file}</code>, read ${ago(Date.parse(config.loadedAt ?? ''), nowMs)}${
		config.refused
			? html`. ${mark('refused', 'ill')} The watchlists as edited are wrong; these are the last good ones`
			: null
	}.${changedLine(config.changed)}</p></section>`
}

/** The number of deliveries with a status, as a link to them. */
function count(number: number | null, status: string, name: string): Html | string {
	if (number === null || number === 0) return String(number ?? 'not known')
	return html`<a href="/deliveries?status=${status}&amp;receiver=${encodeURIComponent(name)}">${grouped(number)}</a>`
}

/** The watches that the last reload added and removed. */
function changedLine(changed: Overview['config']['changed']) {
	if (changed === undefined || changed.added + changed.removed === 0) return null
	const { added, removed, addedWatches, removedWatches } = changed
	const line = (word: string, count: number, named: readonly string[]) => {
		const rest = count > named.length ? ` and ${count - named.length} more` : ''
		return count === 0 ? null : html` ${word}: ${named.join(', ')}${rest}.`
	}
	return html`${line('Added by the last reload', added, addedWatches)}${line('Removed', removed, removedWatches)}`
}
