/** The page of watches: a part of them at a time, for there may be a million. */

import { formatAmount } from '../core/amount.js'
import type { Address } from '../model/glossary.js'
import type { Watch } from '../model/watch.js'
import type { PageFacts } from './facts.js'
import { type Html, html } from './html.js'
import { filters, pager, table, time, whole } from './layout.js'

const watchesAPage = 100
const budgetMs = 10

export async function watches(facts: PageFacts, params: URLSearchParams) {
	const text = (params.get('q') ?? '').trim().toLowerCase().slice(0, 200)
	const network = params.get('network') ?? ''
	const start = Math.min(facts.watches.length, Number(/^\d{1,9}$/.exec(params.get('before') ?? '')?.[0] ?? 0))
	const { found, next, isCut } = chosen(facts, { text, network, start })
	const newest = new Map<string, { id: string; block: number }>()
	for (const { name } of facts.networks) {
		if (!found.some((watch) => watch.network === name)) continue
		const shown = new Set(found.flatMap((watch) => (watch.network === name ? [watch.address] : [])))
		for (const { id, block, alerts } of facts.announcements(name)) {
			const address = alerts[0]?.data.watch.address.toLowerCase() as Address | undefined
			if (address === undefined || !shown.has(address)) continue
			const key = `${name} ${address}`
			if ((newest.get(key)?.block ?? -1) < Number(block.number)) newest.set(key, { id, block: Number(block.number) })
		}
	}
	return {
		of: facts.watches.length,
		watches: found.map((watch) => {
			const { address, label, tags, watchlist, kinds, direction, receivers } = watch
			const settings = facts.networks.find(({ name }) => name === watch.network)
			const book = facts.book(watch.network, address)
			const event = facts.activity.lastEvent(watch.network, address)
			const announced = newest.get(`${watch.network} ${address}`)
			return {
				...{
					network: watch.network,
					address: facts.checksum(address),
					label,
					tags,
					watchlist,
					kinds,
					direction,
					receivers,
				},
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
		}),
		next,
		cut: isCut,
	}
}

interface Wanted {
	readonly text: string
	readonly network: string
	/** Number of the first that is looked at. */
	readonly start: number
}

/** A whole address is looked up; anything else is looked for, for a bounded time. */
function chosen({ watches: all }: PageFacts, { text, network, start }: Wanted) {
	const found: Watch[] = []
	if (/^0x[0-9a-f]{40}$/.test(text)) {
		for (const [name, { index }] of all.networks) {
			if (network === '' || network === name) found.push(...(index.get(text as Address) ?? []))
		}
		return { found, next: null, isCut: false }
	}
	const endMs = performance.now() + budgetMs
	const isAsked = ({ network: own, address, label, tags, watchlist }: Watch) =>
		(network === '' || own === network) &&
		(text === '' ||
			address.includes(text) ||
			watchlist.toLowerCase().includes(text) ||
			(label ?? '').toLowerCase().includes(text) ||
			tags.some((tag) => tag.toLowerCase().includes(text)))
	for (let at = start; at < all.length; at++) {
		if (at % 64 === 0 && performance.now() > endMs) return { found, next: String(at), isCut: true }
		const watch = all.at(at)
		if (watch === undefined || !isAsked(watch)) continue
		if (found.length === watchesAPage) return { found, next: String(at), isCut: false }
		found.push(watch)
	}
	return { found, next: null, isCut: false }
}

export function watchesBody(
	{ watches: found, of, next, cut }: Awaited<ReturnType<typeof watches>>,
	facts: PageFacts,
	params: URLSearchParams,
): Html {
	return html`${filters('/watches', params, [
		{ name: 'q', label: 'Address, label, tag, watchlist' },
		{ name: 'network', label: 'Network', among: facts.networks.map(({ name }) => name) },
	])}
<section id="list" data-live aria-label="Watches">
<p>${found.length} shown, of ${of} in all${cut ? '; the others were not looked at yet' : ''}.</p>
${table(
	'Watches',
	['Watch', 'Network', 'Tags', 'Told of', 'Receivers', 'Last event', 'Balance', 'Closed to', 'Watchlist'],
	found.map((watch) => [
		html`${watch.label ?? ''} <code>${watch.address}</code>`,
		whole(watch.network),
		watch.tags.join(', '),
		`${watch.kinds.join(', ')}${watch.direction === 'both' ? '' : `, ${watch.direction} only`}`,
		html`${watch.receivers.map((name, at) => html`${at === 0 ? null : ', '}${whole(name)}`)}`,
		html`${
			watch.lastEvent === null
				? null
				: watch.lastEvent.at === null
					? `block ${watch.lastEvent.block}`
					: time(Date.parse(watch.lastEvent.at))
		} <a href="/alerts?address=${watch.address}&amp;network=${encodeURIComponent(watch.network)}">alerts<span
class="hidden"> of ${watch.label ?? watch.address}</span></a>`,
		watch.book === null ? 'not closed' : html`<code>${watch.book.balance}</code> ${watch.book.asset}`,
		watch.book === null ? '' : html`<span class="whole">${watch.book.closedTo}</span>`,
		whole(watch.watchlist),
	]),
)}
${pager('/watches', params, next, cut ? 'Look further' : 'More')}</section>`
}
