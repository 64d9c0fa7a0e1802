/**
 * The border for what is kept and sent: every message goes through the store, so what nodes, receivers, labels and
 * files supply loses secrets and unfit characters here, before it is written down. Ids, hashes and amounts are made by
 * this program and stay.
 */

import { fitWords } from '../base/outgoing.js'
import type { Delivery, Resolution } from '../model/delivery.js'
import type { Store } from '../model/ports.js'
import type { Commit, Gap, Seen } from '../model/state.js'

/** Fields of messages that hold words of others. */
const words: ReadonlySet<string> = new Set([
	'label',
	'tags',
	'watchlist',
	'counterpartyLabel',
	'reason',
	'lateReason',
	'insteadOf',
	'symbol',
	'asset',
])

/** The store, with everything that goes into it cleaned by `clean`. */
export function guarded(store: Store, clean: (text: string) => string): Store {
	const fit = (text: string) => fitWords(clean(text))
	const delivery = (one: Delivery): Delivery => ({
		...one,
		message: inWords(one.message, fit),
		lastError: one.lastError === null ? null : fit(one.lastError),
	})
	const resolution = (one: Resolution): Resolution => {
		if ('error' in one) return { ...one, error: fit(one.error) }
		if (one.result === 'delivered') return one.answer === undefined ? one : { ...one, answer: fit(one.answer) }
		return one.result === 'split' ? { ...one, into: one.into.map(delivery) } : one
	}
	return {
		...store,
		commit: async (change) => await store.commit(commit(change)),
		post: async (deliveries) => await store.post(deliveries.map(delivery)),
		resolve: async (resolutions, post) => await store.resolve(resolutions.map(resolution), post?.map(delivery)),
		merge: async (ids, digest) => await store.merge(ids, delivery(digest)),
	}

	function inGap(gap: Gap | null): Gap | null {
		return gap && { ...gap, reason: fit(gap.reason) }
	}

	function inSeen(seen: Seen): Seen {
		const { books } = seen
		const reason = books?.reason ?? null
		return books === undefined || reason === null ? seen : { ...seen, books: { ...books, reason: fit(reason) } }
	}

	function commit({ deliveries, announcements, gaps, seen, ...rest }: Commit): Commit {
		return {
			...rest,
			...(seen === undefined ? {} : { seen: inSeen(seen) }),
			...(gaps === undefined ? {} : { gaps: new Map([...gaps].map(([number, gap]) => [number, inGap(gap)])) }),
			...(deliveries === undefined ? {} : { deliveries: deliveries.map(delivery) }),
			...(announcements === undefined
				? {}
				: {
						announcements: announcements.map((one) => ({
							...one,
							alerts: one.alerts.map((alert) => inWords(alert, fit)),
						})),
					}),
		}
	}
}

/** A copy of plain data with the texts of those fields cleaned, however deep they stand. */
function inWords<T>(value: T, fit: (text: string) => string, isWords = false): T {
	if (typeof value === 'string') return (isWords ? fit(value) : value) as T
	if (Array.isArray(value)) return value.map((item) => inWords(item, fit, isWords)) as T
	if (typeof value !== 'object' || value === null) return value
	const entries = Object.entries(value).map(([name, item]) => [name, inWords(item, fit, words.has(name))])
	return Object.fromEntries(entries) as T
}
