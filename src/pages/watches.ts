/** The page of watches. It shows 100 at a time, since there may be a million. */

import { setImmediate } from 'node:timers/promises'
import { formatAmount } from '../base/amount.js'
import { usualKinds } from '../kinds/all.js'
import type { Watch } from '../model/watch.js'
import { isAddress, watchLink, wholeAddress } from './addresses.js'
import { listPage } from './listPage.js'
import { ago, amount, grouped } from './look/figures.js'
import { type Html, html } from './look/html.js'
import { type Column, table, whole } from './look/layout.js'
import type { PageFacts } from './pageData.js'
import { announced } from './rows.js'

const watchesAPage = 100
/** Watches that are searched before the search yields to the event loop: a few milliseconds of work. */
const watchesATurn = 4_096

export async function watches(facts: PageFacts, params: URLSearchParams) {
	const text = (params.get('q') ?? '').trim().toLowerCase().slice(0, 200)
	const network = params.get('network') ?? ''
	const start = Math.min(facts.watches.length, Number(/^\d{1,9}$/.exec(params.get('before') ?? '')?.[0] ?? 0))
	const { found, next } = await chosen(facts, { text, network, start })
	return { of: facts.watches.length, watches: watchRows(facts, found), next }
}

export function watchRows(facts: PageFacts, found: readonly Watch[]) {
	const newest = newestAnnounced(facts)
	return found.map((watch) => {
		const { address, label, tags, watchlist, kinds, direction, receivers } = watch
		const settings = facts.networks.find(({ name }) => name === watch.network)
		const book = facts.state(watch.network)?.books.get(address)
		return {
			...{ network: watch.network, address: facts.checksum(address), label, tags, watchlist },
			...{ kinds, direction, receivers },
			lastEvent: newest.get(`${watch.network} ${address}`) ?? null,
			book:
				book === undefined
					? null
					: {
							closedTo: Number(book.block),
							balanceWei: String(book.balanceWei),
							balance: formatAmount(book.balanceWei, settings?.decimals ?? 18),
							asset: settings?.symbol ?? '',
						},
		}
	})
}

export type WatchRow = ReturnType<typeof watchRows>[number]

/** The newest announcement that the state still keeps, by network and address. */
function newestAnnounced(facts: PageFacts) {
	const newest = new Map<string, { id: string; at: string; block: number }>()
	for (const { block, data } of announced(facts)) {
		const key = `${data.network} ${data.watch.address.toLowerCase()}`
		const event = { id: data.id, at: data.detectedAt, block: Number(block.number) }
		if ((newest.get(key)?.block ?? -1) < event.block) newest.set(key, event)
	}
	return newest
}

interface Wanted {
	readonly text: string
	readonly network: string
	/** Number of the first watch to search. */
	readonly start: number
}

/** A whole address is looked up in the index; any other text is searched in all watches. */
async function chosen({ watches: all }: PageFacts, { text, network, start }: Wanted) {
	const found: Watch[] = []
	if (isAddress(text)) {
		for (const [name, { index }] of all.networks) {
			if (network === '' || network === name) found.push(...(index.get(text) ?? []))
		}
		return { found, next: null }
	}
	const isAsked = ({ network: own, address, label, tags, watchlist }: Watch) =>
		(network === '' || own === network) &&
		(text === '' ||
			address.includes(text) ||
			watchlist.toLowerCase().includes(text) ||
			(label ?? '').toLowerCase().includes(text) ||
			tags.some((tag) => tag.toLowerCase().includes(text)))
	for (let at = start; at < all.length; at++) {
		if (at % watchesATurn === watchesATurn - 1) await setImmediate()
		const watch = all.at(at)
		if (watch === undefined || !isAsked(watch)) continue
		if (found.length === watchesAPage) return { found, next: String(at) }
		found.push(watch)
	}
	return { found, next: null }
}

export function watchesBody(
	found: Awaited<ReturnType<typeof watches>>,
	facts: PageFacts,
	params: URLSearchParams,
): Html {
	const nowMs = facts.clock()
	const network: Column<WatchRow> = ['Network', ({ network }) => whole(network)]
	const shown = table('Watches', found.watches, [
		['Watch', (watch) => watchLink(watch.network, watch)],
		['Address', ({ address }) => wholeAddress(address)],
		...(facts.networks.length > 1 ? [network] : []),
		['Balance', balanceOf, 'number'],
		['Last event', ({ lastEvent: event }) => event && ago(event.at, nowMs)],
		['Alerts', kindsInWords],
		['Receivers', ({ receivers }) => receivers.join(', ')],
		['Watchlist, tags', ({ watchlist, tags }) => html`${watchlist} <span class="quiet">${tags.join(', ')}</span>`],
	])
	return listPage({
		...{ path: '/watches', params, found, label: 'Watches' },
		fields: [
			{ name: 'q', label: 'Address, label, tag, watchlist' },
			{ name: 'network', label: 'Network', among: facts.networks.map(({ name }) => name) },
		],
		body: html`<p class="quiet">${grouped(found.watches.length)} shown, of ${grouped(found.of)} in all.</p>${shown}`,
	})
}

export function kindsInWords({ kinds, direction }: WatchRow): string {
	const isUsual = kinds.length === usualKinds.length && usualKinds.every((kind) => kinds.includes(kind))
	const words = isUsual ? 'the default kinds' : kinds.join(', ')
	return direction === 'both' ? words : `${words}; ${direction} only`
}

function balanceOf({ book }: WatchRow): Html {
	if (book === null) return html`<span class="quiet">not closed</span>`
	return html`<span title="at block ${grouped(book.closedTo)}">${amount(book.balance)} ${book.asset}</span>`
}
