/** The first page: whether all is well, and where everything stands. */

import { booksInWords, unprovedInWords } from '../core/booksInWords.js'
import { isSilent, silentUntil } from '../core/silence.js'
import { unprovedLogsInWords } from '../core/unprovedLogs.js'
import type { WatchRules } from '../model/watch.js'
import { chart } from './chart.js'
import type { PageFacts } from './facts.js'
import { type Html, html } from './html.js'
import { mark, table, time, whole } from './layout.js'

export async function overview(facts: PageFacts) {
	const { clock, activity, config, watches } = facts
	const nowMs = clock()
	const health = await facts.health()
	const summary = await facts.summary().catch(() => null)
	const networks = facts.networks.map(({ name, chainId, endpoints }) => {
		const own = health.networks.find(({ network }) => network === name)
		const state = summary?.networks.get(name)
		const checkpoint = own?.checkpoint ?? (state === undefined ? null : Number(state.checkpoint.number))
		const head = own?.head ?? state?.seen?.head ?? null
		return {
			network: name,
			chainId,
			ok: own?.ok ?? true,
			reason: own?.reason ?? null,
			checkpoint,
			head,
			lagBlocks: checkpoint === null || head === null ? null : Math.max(0, head - checkpoint),
			lastPollAt: own?.lastPollAt ?? null,
			source: state?.seen?.source ?? null,
			endpoint: activity.endpoint(name),
			endpoints,
			books: state?.seen?.books ?? null,
			logs: state?.seen?.logs ?? null,
			watches: watches.networks.get(name)?.length ?? 0,
			lagsOfDay: activity.lags(name),
		}
	})
	const known = facts.receivers.map(({ name }) => name)
	const others = [...(summary?.receivers.keys() ?? [])].filter((name) => !known.includes(name))
	// A state that cannot be read says nothing of what waits: no number is no nought.
	const none = summary === null ? null : 0
	const receivers = [...known, ...others].map((name) => {
		const settings = facts.receivers.find((one) => one.name === name)
		const state = summary?.receivers.get(name)
		const word = activity.lastWord(name)
		return {
			receiver: name,
			type: settings?.type ?? null,
			place: settings?.place ?? 'not configured any more',
			fallback: settings?.fallback ?? null,
			pending: state?.pending ?? none,
			aside: state?.aside ?? none,
			held: state?.held ?? none,
			parked: state?.parked ?? none,
			dead: state?.dead ?? none,
			delivered: state?.delivered ?? none,
			lastDeliveredAt: iso(state?.lastDeliveredAtMs ?? null),
			lastAnswer: word === null ? null : { at: iso(word.atMs), result: word.result, words: word.words },
		}
	})
	return {
		ok: health.ok,
		reason: health.reason,
		at: iso(nowMs),
		version: facts.version,
		startedAt: iso(facts.startedAtMs),
		config: { file: config.path, loadedAt: iso(config.loadedAtMs), refused: config.isRefused, watches: watches.length },
		networks,
		receivers,
		silences: silencesInForce(facts, nowMs),
		alertsOfDay: activity.alerts(),
	}
}

type Overview = Awaited<ReturnType<typeof overview>>

/** Of receivers, and of watches by what they say: watches that say the same are counted together by their watchlist. */
function silencesInForce({ receivers, watches }: PageFacts, nowMs: number) {
	const own = receivers.flatMap(({ name, silences }) => (isSilent(silences, nowMs) ? [{ of: name, silences }] : []))
	const lists = new Map<string, NonNullable<WatchRules['silences']>>()
	for (const { watchlist, silences = [] } of watches.rules) {
		if (isSilent(silences, nowMs)) lists.set(watchlist, [...(lists.get(watchlist) ?? []), ...silences])
	}
	const all = [...own, ...[...lists].map(([name, silences]) => ({ of: `watches of ${name}`, silences }))]
	return all.map(({ of, silences }) => {
		const untilMs = silentUntil(silences, nowMs)
		return { of, until: untilMs === null || untilMs === Number.POSITIVE_INFINITY ? null : iso(untilMs) }
	})
}

/** What is open in the books, and what of them and of token logs was never proved. */
function unproved(networks: Overview['networks']): Html {
	const lines = networks.flatMap(({ network, books, logs }) => [
		...[...(books === null ? [] : unprovedInWords(books))].map((words) => html`<li>${network}: books ${words}</li>`),
		...[...(logs === null ? [] : unprovedLogsInWords(logs))].map((words) => html`<li>${network}: tokens ${words}</li>`),
	])
	return lines.length === 0 ? html`` : html`<ul class="quiet">${lines}</ul>`
}

export function overviewBody(facts: Overview): Html {
	const { config, networks, receivers, silences } = facts
	const count = (number: number | null, status: string, name: string) =>
		number === null || number === 0
			? String(number ?? 'not known')
			: html`<a href="/deliveries?status=${status}&amp;receiver=${encodeURIComponent(name)}">${number}</a>`
	const counted = `${config.watches} ${config.watches === 1 ? 'watch' : 'watches'}`
	return html`
<section id="networks" data-live aria-labelledby="h-networks"><h2 id="h-networks">Networks</h2>
${table(
	'Networks',
	['Network', 'State', 'Head', 'Scanned to', 'Behind', 'Last poll', 'Books', 'Endpoint', 'Watches'],
	networks.map((one) => [
		html`${whole(one.network)} <small>chain ${one.chainId}</small>`,
		one.ok ? mark('well', 'well') : html`${mark('not well', 'ill')} ${one.reason ?? ''}`,
		html`<span class="whole">${one.head ?? 'not known'}</span>`,
		html`<span class="whole">${one.checkpoint ?? 'not yet'}</span>`,
		html`<span class="whole">${one.lagBlocks === null ? 'not known' : blocks(one.lagBlocks)}</span>`,
		time(one.lastPollAt === null ? null : Date.parse(one.lastPollAt)),
		booksInWords(one.books ?? undefined),
		html`${whole(one.endpoint ?? one.endpoints[0] ?? '', 32)}${one.endpoint === null ? ' (not asked yet)' : null}
<small>${one.source ?? 'source not chosen yet'}</small>`,
		html`<a href="/watches?network=${encodeURIComponent(one.network)}">${one.watches}</a>`,
	]),
)}${unproved(networks)}</section>
<section id="day" data-live aria-labelledby="h-day"><h2 id="h-day">The last day</h2>
${chart({ id: 'c-alerts', title: 'Alerts', values: facts.alertsOfDay, unit: 'alerts' })}
${networks.map(({ network, lagsOfDay }, at) =>
	chart({ id: `c-lag-${at}`, title: `Lag of ${network}`, values: lagsOfDay, unit: 'blocks' }),
)}
<p class="quiet">Of the lag, what this process has seen: it runs since
${time(Date.parse(facts.startedAt ?? ''))}.</p></section>
<section id="receivers" data-live aria-labelledby="h-receivers"><h2 id="h-receivers">Receivers</h2>
${table(
	'Receivers',
	['Receiver', 'Pending', 'Held', 'Parked', 'Dead', 'Delivered', 'Last delivered', 'Last answer', 'Fallback'],
	receivers.map((one) => [
		html`${whole(one.receiver)} <small>${one.type === null ? '' : `${one.type}, `}${whole(one.place, 32)}</small>`,
		!one.aside
			? count(one.pending, 'pending', one.receiver)
			: html`${mark(`fails at ${one.aside} alone`, 'ill')} ${count(one.pending, 'pending', one.receiver)}`,
		count(one.held, 'held', one.receiver),
		html`${one.parked ? mark('takes nothing', 'ill') : null} ${count(one.parked, 'parked', one.receiver)}`,
		html`${one.dead ? mark('given up', 'ill') : null} ${count(one.dead, 'dead', one.receiver)}`,
		String(one.delivered ?? 'not known'),
		time(one.lastDeliveredAt === null ? null : Date.parse(one.lastDeliveredAt)),
		one.lastAnswer === null
			? 'none since the start'
			: html`${one.lastAnswer.words} <small>${time(Date.parse(one.lastAnswer.at ?? ''))}</small>`,
		whole(one.fallback ?? 'none'),
	]),
)}</section>
<section id="silences" data-live aria-labelledby="h-silences"><h2 id="h-silences">Silences in force</h2>
${table(
	'Silences in force',
	['Of', 'Until'],
	silences.map(({ of, until }) => [of, until === null ? 'no end' : time(Date.parse(until))]),
)}</section>
<section id="config" data-live aria-labelledby="h-config"><h2 id="h-config">Configuration</h2>
<p><code>${config.file}</code>: ${counted}, read ${time(Date.parse(config.loadedAt ?? ''))}${
		config.refused
			? html`. ${mark('refused', 'ill')} The watchlists as edited are wrong; these are the last good ones`
			: null
	}.</p></section>`
}

function blocks(count: number): string {
	return count === 1 ? '1 block' : `${count} blocks`
}

function iso<T extends number | null>(ms: T) {
	return ms === null ? null : new Date(ms).toISOString()
}
