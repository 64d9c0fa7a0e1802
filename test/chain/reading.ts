/** What a source or a chain tells of a span, in the form in which the books say what must be told. */
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.js'
import type { Source } from '../../src/chain/sources/source.js'
import { eventsOf, type FramedEvent } from '../../src/core/events/events.js'
import { sides } from '../../src/core/matching/match.js'
import { cut } from '../../src/core/spans.js'
import type { AddressSet, Part, Span } from '../../src/model/chain.js'
import type { Address } from '../../src/model/glossary.js'
import type { Books, Due } from '../support/books.js'
import { never } from '../support/pool.js'

export function openRpc(url: string): Rpc {
	return createRpc({ url })
}

export async function readAll(
	source: Source,
	rpc: Rpc,
	span: Span,
	addresses: AddressSet,
	blocks = 10,
): Promise<readonly Part[]> {
	const parts: Part[] = []
	for (const piece of cut(span, blocks)) {
		parts.push(await source.read({ rpc, span: piece, addresses, last: null }, never))
	}
	return parts
}

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

/** Block, transaction, place and amount of every event of the addresses: what an alert's id is made of. */
export function placesOf(parts: readonly Part[], watched: readonly Address[]): readonly string[] {
	const isWatched = new Set(watched)
	return eventsIn(parts)
		.filter((event) => sides(event).some(({ address }) => isWatched.has(address)))
		.map(({ block, txHash, txIndex, trace, kind, frameType, from, to, valueWei }) =>
			[block.number, block.hash, txHash, txIndex, trace, kind, frameType, from, to, valueWei].join(' '),
		)
}
