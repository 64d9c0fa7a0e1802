/** The room `pages` makes the pages for people, each as HTML and as JSON. They are read-only. */

import { StateError } from '../errors.js'
import type { Page } from '../model/ports.js'
import { alertsBody } from './alerts.js'
import { deliveriesBody, deliveryPage } from './deliveries.js'
import { type Html, html } from './look/html.js'
import { page } from './look/layout.js'
import { icon, style } from './look/static.js'
import { overview, overviewBody } from './overview.js'
import type { PageFacts } from './pageData.js'
import { alerts } from './rows.js'
import { standingOf } from './standing.js'
import { titleOf, watchBody, watchPage } from './watch.js'
import { watches, watchesBody } from './watches.js'

interface Made {
	readonly title: string
	readonly found: object
	readonly body: Html
	readonly status?: number
}

type Maker = (facts: PageFacts, params: URLSearchParams) => Promise<Made>

const pages = new Map<string, Maker>([
	['/', maker(() => 'Overview', overview, overviewBody)],
	['/alerts', maker(() => 'Alerts', alerts, alertsBody)],
	['/watches', maker(() => 'Watches', watches, watchesBody)],
	['/watch', maker(titleOf, watchPage, watchBody)],
	['/deliveries', maker(() => 'Deliveries', deliveryPage, deliveriesBody)],
])

/** `find`: null: there is no such watch. */
function maker<Found extends object>(
	titleOf: (found: Found) => string,
	find: (facts: PageFacts, params: URLSearchParams) => Promise<Found | null>,
	bodyOf: (found: Found, facts: PageFacts, params: URLSearchParams) => Html,
): Maker {
	return async (facts, params) => {
		const found = await find(facts, params)
		return found === null ? notWatched : { title: titleOf(found), found, body: bodyOf(found, facts, params) }
	}
}

const notWatched: Made = {
	title: 'Not watched',
	found: { error: 'no watchlist names this address on this network' },
	body: html`<p class="none">No watchlist names this address on this network. <a href="/watches">All watches</a></p>`,
	status: 404,
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
		body: html`<p class="none">This cannot be shown now: ${why}.</p>`,
		status: 503,
	}
}

/** The page at `path` with the query `params`; null when there is none. */
export async function pageAt(
	path: string,
	params: URLSearchParams,
	facts: () => PageFacts | Promise<PageFacts>,
): Promise<Page | null> {
	if (path === '/style.css') return { status: 200, type: 'text/css; charset=utf-8', body: style }
	if (path === '/icon.svg') return { status: 200, type: 'image/svg+xml', body: icon }
	const make = pages.get(path)
	if (make === undefined) return null
	const now = await facts()
	const { status = 200, found, ...made } = await make(now, params).catch(unreadable)
	if (params.get('format') === 'json') {
		return { status, type: 'application/json; charset=utf-8', body: `${JSON.stringify(found)}\n` }
	}
	const standing = standingOf(await now.health())
	const body = page({ ...made, path, params, standing, version: now.version, nowMs: now.clock() })
	return { status, type: 'text/html; charset=utf-8', body }
}
