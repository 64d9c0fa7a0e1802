/** The room of the pages for people: which there are, each as HTML and as JSON. They only read. */

import { StateError } from '../errors.js'
import type { PageFacts } from './facts.js'
import { type Html, html } from './html.js'
import { page } from './layout.js'
import { alerts, alertsBody, deliveriesBody, deliveryPage } from './messages.js'
import { overview, overviewBody } from './overview.js'
import { icon, script, style } from './static.js'
import { watches, watchesBody } from './watches.js'

export interface Page {
	readonly status: number
	readonly type: string
	readonly body: string
	/** Never changes while this program runs. */
	readonly isStatic?: true
}

const utf8 = '; charset=utf-8'

/** Null where there is no such page. `path` and `params` as the request has them. */
export async function pageAt(path: string, params: URLSearchParams, facts: () => PageFacts): Promise<Page | null> {
	if (path === '/style.css') return { status: 200, type: `text/css${utf8}`, body: style, isStatic: true }
	if (path === '/refresh.js') return { status: 200, type: `text/javascript${utf8}`, body: script, isStatic: true }
	if (path === '/icon.svg') return { status: 200, type: 'image/svg+xml', body: icon, isStatic: true }
	const asked = pages[path]
	if (!Object.hasOwn(pages, path) || asked === undefined) return null
	const now = facts()
	const made = await asked(now, params).catch(unreadable)
	const { title, found, body } = made
	const status = made.isUnreadable === true ? 503 : 200
	if (params.get('format') === 'json') {
		return { status, type: `application/json${utf8}`, body: `${JSON.stringify(found)}\n` }
	}
	const query = new URLSearchParams(params)
	query.set('format', 'json')
	const health = await now.health()
	const frame = { title, path, version: now.version, health, jsonPath: `${path}?${query.toString()}`, body }
	return { status, type: `text/html${utf8}`, body: page(frame) }
}

interface Made {
	readonly title: string
	readonly found: object
	readonly body: Html
	/** The state cannot be read at present. */
	readonly isUnreadable?: true
}

/** A database that is away: whoever looks at night sees why, here and above, and not that a page failed. */
function unreadable(error: unknown): Made {
	if (!(error instanceof StateError)) throw error
	const why = error.message
	return {
		title: 'Not now',
		found: { error: why },
		body: html`<section id="list" data-live><p class="none">This cannot be shown now: ${why}.</p></section>`,
		isUnreadable: true,
	}
}

const pages: Readonly<Record<string, (facts: PageFacts, params: URLSearchParams) => Promise<Made>>> = {
	async '/'(facts) {
		const found = await overview(facts)
		return { title: 'Overview', found, body: overviewBody(found) }
	},
	async '/alerts'(facts, params) {
		const found = await alerts(facts, params)
		return { title: 'Alerts', found, body: alertsBody(found, facts, params) }
	},
	async '/watches'(facts, params) {
		const found = await watches(facts, params)
		return { title: 'Watches', found, body: watchesBody(found, facts, params) }
	},
	async '/deliveries'(facts, params) {
		const found = await deliveryPage(facts, params)
		return { title: 'Deliveries', found, body: deliveriesBody(found, facts, params) }
	},
}
