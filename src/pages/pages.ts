/** The room `pages` makes the pages for people, each as HTML and as JSON. They are read-only. */

import { StateError } from '../errors.js'
import type { Page } from '../model/ports.js'
import { alerts, alertsBody } from './alerts.js'
import { deliveriesBody, deliveryPage } from './deliveries.js'
import { type Html, html } from './look/html.js'
import { page } from './look/layout.js'
import { icon, style } from './look/static.js'
import { overview, overviewBody } from './overview.js'
import type { PageFacts } from './pageData.js'
import { banner, standingOf } from './standing.js'
import { titleOf, watchBody, watchPage } from './watch.js'
import { watches, watchesBody } from './watches.js'

const utf8 = '; charset=utf-8'

/** The page at `path` with the query `params`; null when there is none. */
export async function pageAt(
	path: string,
	params: URLSearchParams,
	facts: () => PageFacts | Promise<PageFacts>,
): Promise<Page | null> {
	if (path === '/style.css') return { status: 200, type: `text/css${utf8}`, body: style }
	if (path === '/icon.svg') return { status: 200, type: 'image/svg+xml', body: icon }
	const asked = pages[path]
	if (!Object.hasOwn(pages, path) || asked === undefined) return null
	const now = await facts()
	const made = await asked(now, params).catch(unreadable)
	const format = params.get('format')
	if (format === 'json') {
		return { status: made.status ?? 200, type: `application/json${utf8}`, body: `${JSON.stringify(made.found)}\n` }
	}
	const withParam = (name: string, value: string) => {
		const query = new URLSearchParams(params)
		query.set(name, value)
		return `${path}?${query.toString()}`
	}
	const standing = standingOf(await now.health())
	const refresh = Number(/^\d{2,4}$/.exec(params.get('refresh') ?? '')?.[0] ?? 0)
	const body = page({
		...{ title: made.title, path, version: now.version, body: made.body, nowMs: now.clock() },
		...{ banner: banner(standing), trouble: standing.state === 'watching' ? null : standing.words },
		again: withParam('refresh', '60'),
		jsonPath: withParam('format', 'json'),
		refreshS: refresh === 0 ? null : refresh,
		...(path === '/' && { isHeadingHidden: true as const }),
	})
	return { status: made.status ?? 200, type: `text/html${utf8}`, body }
}

interface Made {
	readonly title: string
	readonly found: object
	readonly body: Html
	/** Default: 200. */
	readonly status?: number
}

/**
 * A page that explains that the state, such as a database, cannot be read, instead of a general error. Other errors are
 * thrown.
 */
function unreadable(error: unknown): Made {
	if (!(error instanceof StateError)) throw error
	const why = error.message
	return {
		title: 'Not now',
		found: { error: why },
		body: html`<section id="list"><p class="none">This cannot be shown now: ${why}.</p></section>`,
		status: 503,
	}
}

const notWatched: Made = {
	title: 'Not watched',
	found: { error: 'no watchlist names this address on this network' },
	body: html`<p class="none">No watchlist names this address on this network. <a href="/watches">All watches</a></p>`,
	status: 404,
}

const pages: Readonly<Record<string, (facts: PageFacts, params: URLSearchParams) => Promise<Made>>> = {
	async '/'(facts) {
		const found = await overview(facts)
		return { title: 'Overview', found, body: overviewBody(found, facts) }
	},
	async '/alerts'(facts, params) {
		const found = await alerts(facts, params)
		return { title: 'Alerts', found, body: alertsBody(found, facts, params) }
	},
	async '/watches'(facts, params) {
		const found = await watches(facts, params)
		return { title: 'Watches', found, body: watchesBody(found, facts, params) }
	},
	async '/watch'(facts, params) {
		const found = await watchPage(facts, params)
		if (found === null) return notWatched
		return { title: titleOf(found), found, body: watchBody(found, facts, params) }
	},
	async '/deliveries'(facts, params) {
		const found = await deliveryPage(facts, params)
		return { title: 'Deliveries', found, body: deliveriesBody(found, facts, params) }
	},
}
