import type { ChainEvent } from '../model/alert.js'
import type { Part, TxTrace } from '../model/chain.js'
import type { TokenEvent } from '../model/token.js'
import { eventsOf } from './events.js'

/** What happened in one transaction, or as rewards of one block. */
export interface Happening {
	readonly blockNumber: bigint
	/** First what its frames tell, then what its logs do. */
	readonly events: readonly ChainEvent[]
}

/** Everything that happened in a part, in the order of the chain; whoever it concerns. */
export function* happeningsIn(part: Pick<Part, 'transactions' | 'tokens'>): Generator<Happening> {
	const tokens = groupsOf(part.tokens ?? [])
	let next = 0
	for (const tx of part.transactions) {
		for (let group = tokens[next]; group !== undefined && isBefore(group[0], tx); group = tokens[next]) {
			next++
			yield happening(group)
		}
		const group = tokens[next]
		const isSame = group !== undefined && group[0]?.txHash === tx.txHash
		if (isSame) next++
		const events = [...eventsOf(tx), ...(isSame ? group : [])]
		if (events.length > 0) yield { blockNumber: tx.block.number, events }
	}
	for (const group of tokens.slice(next)) yield happening(group)
}

function happening(events: readonly TokenEvent[]): Happening {
	return { blockNumber: events[0]?.block.number ?? 0n, events }
}

/** By transaction. */
function groupsOf(tokens: readonly TokenEvent[]): readonly (readonly TokenEvent[])[] {
	const groups = new Map<string, TokenEvent[]>()
	for (const event of tokens) {
		const group = groups.get(event.txHash)
		if (group === undefined) groups.set(event.txHash, [event])
		else group.push(event)
	}
	return [...groups.values()]
}

/** Rewards stand after all transactions of their block. */
function isBefore(token: TokenEvent | undefined, tx: TxTrace): boolean {
	if (token === undefined) return true
	if (token.block.number !== tx.block.number) return token.block.number < tx.block.number
	if (tx.txHash === null) return true
	return (token.txIndex ?? Number.MAX_SAFE_INTEGER) < (tx.txIndex ?? Number.MAX_SAFE_INTEGER)
}
