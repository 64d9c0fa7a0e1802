/** Which blocks may hold logs that an endpoint has not given, as their headers say. */

import { topics } from '../../core/tokenLogs.js'
import type { AddressSet } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { KnownTokens } from '../../model/token.js'
import type { Header } from '../wire.js'
import { bloomBytes, mayHold, type Places, placesOf, topicPlacesOf } from './bloom.js'
import type { Log } from './wireLogs.js'

const TOPIC_PLACES = Object.values(topics).map(placesOf)

export interface DoubtQuestion {
	readonly addresses: AddressSet
	readonly known: KnownTokens
	/** Tokens that anybody is told of; null: any. */
	readonly wanted: ReadonlySet<Address> | null
}

/**
 * Blocks of which the header does not rule out one more log that counts: those that hold a hit of such a token (the
 * same address may stand in another of their transactions), and those whose bloom may hold all of a contract that is
 * told of, a topic and an address. Of the others it is certain, as far as the endpoint fills its blooms: where the
 * chain is not known to, an empty one says nothing until it was seen to; none does once a log belied an empty one.
 */
export function createDoubts<Endpoint extends object>(isKnownToFill: boolean) {
	const filling = new WeakMap<Endpoint, 'yes' | 'no'>()
	return (
		endpoint: Endpoint,
		found: readonly Log[],
		headers: readonly Header[],
		question: DoubtQuestion,
	): readonly Header[] => {
		if (filling.get(endpoint) !== 'no' && headers.some(({ logsBloom }) => logsBloom !== null && !isEmpty(logsBloom))) {
			filling.set(endpoint, 'yes')
		}
		if (isContradicted(found, headers)) filling.set(endpoint, 'no')
		const fills = filling.get(endpoint) ?? (isKnownToFill ? 'yes' : 'unseen')
		const hits = new Set<bigint>()
		for (const { block, address } of found) if (question.wanted?.has(address) !== false) hits.add(block.number)
		const maybe = maybeIn(question)
		return headers.filter(({ number, logsBloom, txHashes }) => {
			if (txHashes.length === 0) return false
			if (logsBloom === null || fills === 'no' || hits.has(number)) return true
			return isEmpty(logsBloom) ? fills !== 'yes' : maybe(bloomBytes(logsBloom))
		})
	}
}

function maybeIn({ addresses, known, wanted }: DoubtQuestion): (bloom: Uint8Array) => boolean {
	const parties = topicPlacesOf(addresses)
	const contracts: readonly Places[] | null = wanted === null ? null : [...wanted].map(placesOf)
	const unindexed = [...known.values()].flatMap((token) => (token.decimals === null ? [placesOf(token.address)] : []))
	return (bloom) => {
		const has = (places: Places) => mayHold(bloom, places)
		if (!TOPIC_PLACES.some(has)) return false
		if (contracts !== null && !contracts.some(has)) return false
		for (const places of parties.values()) if (has(places)) return true
		return unindexed.some(has)
	}
}

const EMPTY = `0x${'0'.repeat(512)}`

function isEmpty(bloom: string): boolean {
	return bloom === EMPTY
}

function isContradicted(found: readonly Log[], headers: readonly Header[]): boolean {
	const empty = new Set<bigint>()
	for (const { number, logsBloom } of headers) if (logsBloom !== null && isEmpty(logsBloom)) empty.add(number)
	return found.some(({ block }) => empty.has(block.number))
}

/** So many of them, without a pattern that somebody could learn. */
export function sample<T>(all: readonly T[], most: number, random: () => number): readonly T[] {
	if (all.length <= most) return all
	const left = [...all]
	return Array.from({ length: most }, () => left.splice(Math.floor(random() * left.length), 1)[0]).flatMap((one) =>
		one === undefined ? [] : [one],
	)
}
