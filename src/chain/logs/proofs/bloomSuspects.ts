/** Which blocks may hold logs that an endpoint has not given, by their headers. */

import { controlTopics, isControlLog } from '../../../core/events/controlLogs.js'
import { mayIndexNothing, topics } from '../../../core/events/tokenLogs.js'
import type { AddressSet } from '../../../model/chain.js'
import type { Address } from '../../../model/glossary.js'
import type { KnownTokens } from '../../../model/token.js'
import type { Header } from '../../wire/wire.js'
import { addressPlacesOf, bloomBytes, mayHold, type Places, placesOf, topicPlacesOf } from './bloom.js'
import type { Log } from './wireLogs.js'

const TOPIC_PLACES = Object.values(topics).map(placesOf)
const CONTROL_PLACES = [...controlTopics].map(placesOf)

export interface SuspectQuestion {
	/** Empty: no token transfer is wanted. */
	readonly addresses: AddressSet
	/** Contracts whose own logs are wanted. */
	readonly contracts: ReadonlySet<Address>
	readonly known: KnownTokens
	/** Tokens that watches want; null: all. */
	readonly wanted: ReadonlySet<Address> | null
}

/**
 * Blocks whose header does not rule out a further relevant log: those with a hit of a wanted token (the same address
 * may be in another of their transactions), and those whose bloom may hold a wanted contract, a topic and an address
 * together. For the other blocks it is certain, if the endpoint fills its blooms. An empty bloom shows nothing until
 * that endpoint has given a filled one, unless the chain is known to fill them. Once a bloom lacks a log that was
 * found, no bloom of that endpoint counts.
 */
export function createBloomSuspects<Endpoint extends object>(isKnownToFill: boolean) {
	const filling = new WeakMap<Endpoint, 'yes' | 'no'>()
	return (
		endpoint: Endpoint,
		found: readonly Log[],
		headers: readonly Header[],
		question: SuspectQuestion,
	): readonly Header[] => {
		if (filling.get(endpoint) !== 'no' && headers.some(({ logsBloom }) => logsBloom !== null && !isEmpty(logsBloom))) {
			filling.set(endpoint, 'yes')
		}
		if (isContradicted(found, headers)) filling.set(endpoint, 'no')
		const fills = filling.get(endpoint) ?? (isKnownToFill ? 'yes' : 'unseen')
		const hits = new Set<bigint>()
		for (const log of found) {
			const isOfToken = question.addresses.size > 0 && question.wanted?.has(log.address) !== false
			if (isOfToken || isControlLog(log, question.contracts)) hits.add(log.block.number)
		}
		const maybe = maybeIn(question)
		return headers.filter(({ number, logsBloom, txHashes }) => {
			if (txHashes.length === 0) return false
			if (logsBloom === null || fills === 'no' || hits.has(number)) return true
			return isEmpty(logsBloom) ? fills !== 'yes' : maybe(bloomBytes(logsBloom))
		})
	}
}

function maybeIn(question: SuspectQuestion): (bloom: Uint8Array) => boolean {
	const mayMove = question.addresses.size === 0 ? () => false : mayMoveTokens(question)
	const rulers = addressPlacesOf(question.contracts)
	return (bloom) => {
		const has = (places: Places) => mayHold(bloom, places)
		return mayMove(bloom) || (rulers.some(has) && CONTROL_PLACES.some(has))
	}
}

function mayMoveTokens({ addresses, known, wanted }: SuspectQuestion): (bloom: Uint8Array) => boolean {
	const parties = topicPlacesOf(addresses)
	const contracts: readonly Places[] | null = wanted === null ? null : [...wanted].map(placesOf)
	const unindexed = [...known.values()].flatMap((token) => (mayIndexNothing(token) ? [placesOf(token.address)] : []))
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
	const blooms = new Map(headers.map(({ number, logsBloom }) => [number, logsBloom && bloomBytes(logsBloom)]))
	return found.some(({ block, address }) => {
		const bloom = blooms.get(block.number) ?? null
		return bloom !== null && !mayHold(bloom, placesOf(address))
	})
}

/** At most `most` of them, drawn at random, so that an endpoint cannot learn a pattern. */
export function sample<T>(all: readonly T[], most: number, random: () => number): readonly T[] {
	if (all.length <= most) return all
	const left = [...all]
	return Array.from({ length: most }, () => left.splice(Math.floor(random() * left.length), 1)[0]).flatMap((one) =>
		one === undefined ? [] : [one],
	)
}
