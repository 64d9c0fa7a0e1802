/**
 * Cleans everything that is stored and sent. Every message passes the store, so text from nodes, receivers, labels and
 * files is stripped of secrets and unsafe characters here, before it is written. Ids, hashes and amounts come from this
 * program and stay unchanged.
 */

import { fitWords } from '../base/text/outgoing.js'
import { isSliceOver, nextSlice } from '../base/waits/slices.js'
import type { Store } from '../model/ports.js'

/** Fields that hold text from outside, of messages and of what is written about them. */
const words: ReadonlySet<string> = new Set([
	...['label', 'tags', 'watchlist', 'counterpartyLabel', 'symbol', 'asset'],
	...['reason', 'reasons', 'lateReason', 'insteadOf', 'lastError', 'error', 'answer', 'failures'],
])

/** Cleaned texts cached during one step. */
const mostKnown = 1_000

/** Wraps a store so that `clean` processes all text written to it. */
export function guarded(store: Store, clean: (text: string) => string): Store {
	const fit = (text: string) => fitWords(clean(text))
	return {
		...store,
		commit: async ({ deliveries, folded, announcements, gaps, seen, ...rest }) =>
			await store.commit({
				...rest,
				...(seen && { seen: inWords(seen, fit) }),
				...(gaps && { gaps: new Map([...gaps].map(([number, gap]) => [number, inWords(gap, fit)])) }),
				...(deliveries && { deliveries: await each(deliveries, fit) }),
				...(folded && { folded: await each(folded, fit) }),
				...(announcements && { announcements: await each(announcements, fit) }),
			}),
		post: async (deliveries) => await store.post(await each(deliveries, fit)),
		changeTroubles: async (troubles, post) => await store.changeTroubles(troubles, post && inWords(post, fit)),
		resolve: async (resolutions, post) => await store.resolve(inWords(resolutions, fit), post && inWords(post, fit)),
	}
}

/** A spammer can cause thousands of messages in one block: cache the repeated texts, and yield between time slices. */
async function each<T>(all: readonly T[], fit: (text: string) => string): Promise<readonly T[]> {
	const known = new Map<string, string>()
	const fitOnce = (text: string) => {
		const now = known.get(text) ?? fit(text)
		if (known.size < mostKnown) known.set(text, now)
		return now
	}
	const cleaned: T[] = []
	for (const item of all) {
		if (isSliceOver()) await nextSlice()
		cleaned.push(inWords(item, fitOnce))
	}
	return cleaned
}

/** A copy of plain data in which these fields are cleaned, at any depth. */
export function inWords<T>(value: T, fit: (text: string) => string, isWords = false): T {
	if (typeof value === 'string') return (isWords ? fit(value) : value) as T
	if (Array.isArray(value)) return value.map((item) => inWords(item, fit, isWords)) as T
	if (typeof value !== 'object' || value === null) return value
	const entries = Object.entries(value).map(([name, item]) => [name, inWords(item, fit, words.has(name))])
	return Object.fromEntries(entries) as T
}
