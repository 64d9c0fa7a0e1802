/**
 * Cleans everything that is stored and sent. Every message passes the store, so text from nodes, receivers, labels and
 * files is stripped of secrets and unsafe characters here, before it is written. Ids, hashes and amounts come from this
 * program and stay unchanged.
 */

import { fitWords } from '../base/text/outgoing.js'
import { isSliceOver, nextSlice } from '../base/waits/slices.js'
import type { Delivery, Resolution } from '../model/delivery.js'
import type { Store } from '../model/ports.js'
import type { Announcement, Commit, Gap, Seen } from '../model/state.js'

/** Fields of messages that hold text from outside. */
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

/** Cleaned texts cached during one step. */
const mostKnown = 1_000

/** Wraps a store so that `clean` processes all text written to it. */
export function guarded(store: Store, clean: (text: string) => string): Store {
	const fit = (text: string) => fitWords(clean(text))
	const delivery = (one: Delivery, own = fit): Delivery => ({
		...one,
		message: inWords(one.message, own),
		lastError: one.lastError === null ? null : own(one.lastError),
	})
	const resolution = (one: Resolution): Resolution => {
		if ('error' in one) return { ...one, error: fit(one.error) }
		return one.result === 'delivered' && one.answer !== undefined ? { ...one, answer: fit(one.answer) } : one
	}
	return {
		...store,
		commit: async (change) => await store.commit(await commit(change)),
		post: async (deliveries) => await store.post(await each(deliveries, delivery)),
		resolve: async (resolutions, post) =>
			await store.resolve(
				resolutions.map(resolution),
				post?.map((one) => delivery(one)),
			),
	}

	/**
	 * A spammer can cause thousands of messages in one block: cache the repeated texts, and yield between time slices.
	 */
	async function each<T>(all: readonly T[], one: (item: T, fit: (text: string) => string) => T): Promise<readonly T[]> {
		const known = new Map<string, string>()
		const fitOnce = (text: string) => {
			const before = known.get(text)
			if (before !== undefined) return before
			const now = fit(text)
			if (known.size < mostKnown) known.set(text, now)
			return now
		}
		const cleaned: T[] = []
		for (const item of all) {
			if (isSliceOver()) await nextSlice()
			cleaned.push(one(item, fitOnce))
		}
		return cleaned
	}

	function inGap(gap: Gap | null): Gap | null {
		return gap && { ...gap, reason: fit(gap.reason) }
	}

	function inSeen(seen: Seen): Seen {
		const { books } = seen
		const reason = books?.reason ?? null
		return books === undefined || reason === null ? seen : { ...seen, books: { ...books, reason: fit(reason) } }
	}

	async function commit({ deliveries, folded, announcements, gaps, seen, ...rest }: Commit): Promise<Commit> {
		return {
			...rest,
			...(seen === undefined ? {} : { seen: inSeen(seen) }),
			...(gaps === undefined ? {} : { gaps: new Map([...gaps].map(([number, gap]) => [number, inGap(gap)])) }),
			...(deliveries === undefined ? {} : { deliveries: await each(deliveries, delivery) }),
			...(folded === undefined ? {} : { folded: await each(folded, delivery) }),
			...(announcements === undefined ? {} : { announcements: await each(announcements, announcement) }),
		}
	}
}

function announcement(one: Announcement, fit: (text: string) => string): Announcement {
	return { ...one, alerts: one.alerts.map((alert) => inWords(alert, fit)) }
}

/** A copy of plain data in which these fields are cleaned, at any depth. */
function inWords<T>(value: T, fit: (text: string) => string, isWords = false): T {
	if (typeof value === 'string') return (isWords ? fit(value) : value) as T
	if (Array.isArray(value)) return value.map((item) => inWords(item, fit, isWords)) as T
	if (typeof value !== 'object' || value === null) return value
	const entries = Object.entries(value).map(([name, item]) => [name, inWords(item, fit, words.has(name))])
	return Object.fromEntries(entries) as T
}
