/** What a chain tells of a span, in the form in which the books say what must be told. */
import { eventsOf, type FramedEvent } from '../../src/core/events/events.js'
import { sides } from '../../src/core/matching/match.js'
import type { Part } from '../../src/model/chain.js'
import type { Address } from '../../src/model/glossary.js'
import type { Books, Due } from '../support/books.js'

export function eventsIn(parts: readonly Part[]): readonly FramedEvent[] {
	return parts.flatMap(({ transactions }) => transactions.flatMap(eventsOf))
}

/** Alerts that a watch on each address, of both kinds, would make: an endowment belongs to its deployment. */
export function dueIn(parts: readonly Part[], watched: readonly Address[]): readonly Due[] {
	const isWatched = new Set(watched)
	return eventsIn(parts)
		.filter(({ kind, frameType }) => kind === 'deployment' || !frameType.startsWith('create'))
		.flatMap((event) =>
			sides(event)
				.filter(({ address }) => isWatched.has(address))
				.map(({ address, direction }) => ({
					address,
					direction,
					kind: event.kind,
					txHash: event.txHash,
					block: event.block.number,
					from: event.from ?? '0x',
					to: event.to,
					valueWei: event.valueWei,
				})),
		)
}

/** One line each, sorted, so that a difference can be read. */
export function linesOf(dues: Books['due']): readonly string[] {
	return dues
		.map(({ block, txHash, kind, direction, address, from, to, valueWei }) =>
			[block, txHash, kind, direction, address, from, to, valueWei].join(' '),
		)
		.sort()
}
