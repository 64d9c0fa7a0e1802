/** The page of watches. It shows 100 at a time, since there may be a million. */

import { setImmediate } from 'node:timers/promises'
import { formatAmount } from '../base/amount.js'
import { csvText } from '../base/text/csvLine.js'
import type { Address } from '../model/glossary.js'
import type { Watch } from '../model/watch.js'
import { watchLink, wholeAddress } from './addresses.js'
import { kindsInWords } from './chosenKinds.js'
import { ago, amount, counted, grouped } from './look/figures.js'
import { type Html, html } from './look/html.js'
import { filters, pager, table, whole } from './look/layout.js'
import type { BookOf, PageFacts } from './pageData.js'

const watchesAPage = 100
/** Watches that are searched before the search yields to the event loop: a few milliseconds of work. */
const watchesATurn = 4_096
/** More watches than this are shown in the order of the watchlists only. */
const mostSorted = 10_000

export async function watches(facts: PageFacts, params: URLSearchParams) {
	const text = (params.get('q') ?? '').trim().toLowerCase().slice(0, 200)
	const network = params.get('network') ?? ''
	const start = Math.min(facts.watches.length, Number(/^\d{1,9}$/.exec(params.get('before') ?? '')?.[0] ?? 0))
	const sort = params.get('sort') ?? ''
	const wanted = { text, network, start }
	const sorted = sort === '' ? null : await inOrder(facts, wanted, sort)
	const { found, next } = sorted ?? (await chosen(facts, wanted, watchesAPage))
	return {
		of: facts.watches.length,
		/** Whether a `sort` was ignored because more watches match than are sorted. */
		tooManyToSort: sort !== '' && sorted === null,
		watches: await watchRows(facts, found),
		next,
	}
}

/** What the pages know of each watch. */
export async function watchRows(facts: PageFacts, found: readonly Watch[]) {
	const bookOf = await facts.readBooks(found)
	const newest = newestAnnounced(facts, found)
	return found.map((watch) => {
		const { address, label, tags, watchlist, kinds, direction, receivers } = watch
		const settings = facts.networks.find(({ name }) => name === watch.network)
		const book = bookOf(watch.network, address)
		const event = facts.activity.lastEvent(watch.network, address)
		const announced = newest.get(`${watch.network} ${address}`)
		return {
			...{ network: watch.network, address: facts.checksum(address), label, tags, watchlist },
			...{ kinds, direction, receivers },
			lastEvent:
				event === null && announced === undefined
					? null
					: {
							id: event?.id ?? announced?.id ?? '',
							at: event === null ? null : new Date(event.atMs).toISOString(),
							block: announced?.block ?? null,
						},
			book:
				book === null
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

export type WatchRow = Awaited<ReturnType<typeof watchRows>>[number]

/** The newest announcement that the state still keeps, by network and address. */
function newestAnnounced(facts: PageFacts, found: readonly Watch[]) {
	const newest = new Map<string, { id: string; block: number }>()
	for (const { name } of facts.networks) {
		const shown = new Set(found.flatMap((watch) => (watch.network === name ? [watch.address] : [])))
		if (shown.size === 0) continue
		for (const { id, block, alerts } of facts.announcements(name)) {
			const address = alerts[0]?.data.watch.address.toLowerCase() as Address | undefined
			if (address === undefined || !shown.has(address)) continue
			const key = `${name} ${address}`
			if ((newest.get(key)?.block ?? -1) < Number(block.number)) newest.set(key, { id, block: Number(block.number) })
		}
	}
	return newest
}

interface Wanted {
	readonly text: string
	readonly network: string
	/** Number of the first watch to search, or to show in an order. */
	readonly start: number
}

/** A whole address is looked up in the index; any other text is searched in all watches. */
async function chosen({ watches: all }: PageFacts, { text, network, start }: Wanted, most: number) {
	const found: Watch[] = []
	if (/^0x[0-9a-f]{40}$/.test(text)) {
		for (const [name, { index }] of all.networks) {
			if (network === '' || network === name) found.push(...(index.get(text as Address) ?? []))
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
		if (found.length === most) return { found, next: String(at) }
		found.push(watch)
	}
	return { found, next: null }
}

/** Null: the order has no such name, or more than `mostSorted` watches match. */
async function inOrder(facts: PageFacts, wanted: Wanted, sort: string) {
	const name = sort.replace(/^-/, '')
	const order = Object.hasOwn(orders, name) ? orders[name] : undefined
	if (order === undefined) return null
	const { found, next } = await chosen(facts, { ...wanted, start: 0 }, mostSorted)
	if (next !== null) return null
	const bookOf: BookOf = name === 'balance' ? await facts.readBooks(found) : () => null
	const valued = found.map((watch) => ({ watch, value: order(watch, facts, bookOf) }))
	const turn = sort.startsWith('-') ? -1 : 1
	valued.sort((one, other) => turn * compare(one.value, other.value))
	const end = wanted.start + watchesAPage
	const shown = valued.slice(wanted.start, end).map(({ watch }) => watch)
	return { found: shown, next: end < valued.length ? String(end) : null }
}

type Value = string | bigint

const orders: Readonly<Record<string, (watch: Watch, facts: PageFacts, bookOf: BookOf) => Value>> = {
	watch: ({ label, address }) => (label ?? address).toLowerCase(),
	network: ({ network }) => network,
	watchlist: ({ watchlist }) => watchlist,
	event: ({ network, address }, { activity }) => BigInt(activity.lastEvent(network, address)?.atMs ?? 0),
	balance: ({ network, address }, _, bookOf) => bookOf(network, address)?.balanceWei ?? -1n,
}

function compare(one: Value, other: Value): number {
	if (typeof one === 'string' || typeof other === 'string')
		return String(one).localeCompare(String(other), 'en', { numeric: true })
	return one < other ? -1 : one > other ? 1 : 0
}

export function watchesBody(
	{ watches: found, of, next, tooManyToSort }: Awaited<ReturnType<typeof watches>>,
	facts: PageFacts,
	params: URLSearchParams,
): Html {
	const nowMs = facts.clock()
	const hasNetworks = facts.networks.length > 1
	return html`${filters('/watches', params, [
		{ name: 'q', label: 'Address, label, tag, watchlist' },
		{ name: 'network', label: 'Network', among: facts.networks.map(({ name }) => name) },
	])}
<section id="list" data-live aria-label="Watches">
<p class="quiet">${grouped(found.length)} shown, of ${grouped(of)} in all.${
		tooManyToSort
			? html` More than ${counted(mostSorted, 'watch', 'watches')} match: search for fewer to sort them.`
			: null
	}</p>
${table(
	'Watches',
	[
		{ name: 'Watch', sortBy: 'watch' },
		'Address',
		...(hasNetworks ? [{ name: 'Network', sortBy: 'network' }] : []),
		{ name: 'Balance', isNumber: true, sortBy: 'balance' },
		{ name: 'Last event', sortBy: 'event' },
		...['Alerts', 'Receivers'],
		{ name: 'Watchlist, tags', sortBy: 'watchlist' },
	],
	found.map((watch) => [
		watchLink(watch.network, watch),
		wholeAddress(watch.address),
		...(hasNetworks ? [whole(watch.network)] : []),
		watch.book === null
			? html`<span class="quiet">not closed</span>`
			: html`<span title="at block ${grouped(watch.book.closedTo)}">${amount(watch.book.balance)} ${
					watch.book.asset
				}</span>`,
		lastEvent(watch, nowMs),
		hover(kindsInWords(watch)),
		hover(watch.receivers.join(', ')),
		html`${hover(watch.watchlist)} <span class="quiet">${hover(watch.tags.join(', '))}</span>`,
	]),
	{ path: '/watches', params },
)}
${pager('/watches', params, next, 'More')}</section>`
}

/** Wide screens cut it to keep each watch on one line. */
function hover(words: string): Html {
	return html`<span title="${words}">${words}</span>`
}

export function lastEvent({ lastEvent: event }: WatchRow, nowMs: number): Html | string {
	if (event === null) return ''
	return event.at === null ? `block ${grouped(event.block ?? 0)}` : ago(Date.parse(event.at), nowMs)
}

const csvColumns = [
	...['network', 'address', 'label', 'tags', 'watchlist', 'kinds', 'direction', 'receivers', 'last_event_at'],
	...['closed_to', 'balance_wei', 'balance', 'asset'],
]

export function watchesCsv(found: readonly WatchRow[]): string {
	const lines = found.map(({ network, address, label, tags, watchlist, kinds, direction, receivers, ...rest }) => [
		...[network, address, label ?? '', tags.join(' '), watchlist, kinds.join(' '), direction, receivers.join(' ')],
		...[rest.lastEvent?.at ?? '', String(rest.book?.closedTo ?? ''), rest.book?.balanceWei ?? ''],
		...[rest.book?.balance ?? '', rest.book?.asset ?? ''],
	])
	return csvText([csvColumns, ...lines])
}
