/** Which blocks may hold logs that an endpoint has not told of, as their headers say. */

import { topics } from '../../core/tokenLogs.js'
import type { AddressSet } from '../../model/chain.js'
import type { KnownTokens } from '../../model/token.js'
import type { Header } from '../wire.js'
import { bytesOf, mayHold, placesOf, topicPlacesOf } from './bloom.js'
import type { Log } from './wireLogs.js'

const TOPIC_PLACES = Object.values(topics).map(placesOf)

/**
 * Blocks of which the header does not rule out one more log: those that hold a hit (the same address may stand in
 * another of their transactions), and those whose bloom may hold an address. Of the others it is certain.
 */
export function doubtsOf(
	found: readonly Log[],
	headers: readonly Header[],
	{ addresses, known }: { readonly addresses: AddressSet; readonly known: KnownTokens },
): readonly Header[] {
	const hits = new Set(found.map(({ block }) => block.number))
	const places = topicPlacesOf(addresses)
	const unindexed = [...known.values()].flatMap((token) => (token.decimals === null ? [placesOf(token.address)] : []))
	return headers.filter(({ number, logsBloom, txHashes }) => {
		if (txHashes.length === 0) return false
		if (logsBloom === null || hits.has(number)) return true
		const bloom = bytesOf(logsBloom)
		if (!TOPIC_PLACES.some((topic) => mayHold(bloom, topic))) return false
		for (const place of places.values()) if (mayHold(bloom, place)) return true
		return unindexed.some((place) => mayHold(bloom, place))
	})
}

/** So many of them, without a pattern that somebody could learn. */
export function sample<T>(all: readonly T[], most: number, random: () => number): readonly T[] {
	if (all.length <= most) return all
	const left = [...all]
	return Array.from({ length: most }, () => left.splice(Math.floor(random() * left.length), 1)[0]).flatMap((one) =>
		one === undefined ? [] : [one],
	)
}
