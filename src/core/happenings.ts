import type { ChainEvent } from '../model/alert.js'
import type { Part, TxTrace } from '../model/chain.js'
import type { TokenEvent } from '../model/token.js'
import { eventsIn } from './events.js'
import { stepItems } from './steps.js'

/** What happened in one transaction, or as rewards of one block; where it is much, in several of these. */
export interface Happening {
	readonly blockNumber: bigint
	/** First what its frames tell, then what its logs do. */
	readonly events: readonly ChainEvent[]
}

/** Everything that happened in a part, in the order of the chain; whoever it concerns. */
export function* happeningsIn(part: Pick<Part, 'transactions' | 'tokens'>): Generator<Happening> {
	const tokens = part.tokens ?? []
	/** First of those that have not had their turn. */
	let next = 0
	const take = (): readonly TokenEvent[] => {
		const from = next
		while (next < tokens.length && tokens[next]?.txHash === tokens[from]?.txHash) next++
		return tokens.slice(from, next)
	}
	for (const tx of part.transactions) {
		while (next < tokens.length && isBefore(tokens[next], tx)) yield happening(take())
		const own = tokens[next]?.txHash === tx.txHash ? take() : []
		let events: ChainEvent[] = []
		for (const event of eventsIn(tx)) {
			if (events.length === stepItems) {
				yield { blockNumber: tx.block.number, events }
				events = []
			}
			events.push(event)
		}
		if (own.length > 0) events = [...events, ...own]
		if (events.length > 0) yield { blockNumber: tx.block.number, events }
	}
	while (next < tokens.length) yield happening(take())
}

function happening(events: readonly TokenEvent[]): Happening {
	return { blockNumber: events[0]?.block.number ?? 0n, events }
}

/** Rewards stand after all transactions of their block. */
function isBefore(token: TokenEvent | undefined, tx: TxTrace): boolean {
	if (token === undefined) return true
	if (token.block.number !== tx.block.number) return token.block.number < tx.block.number
	if (tx.txHash === null) return true
	return (token.txIndex ?? Number.MAX_SAFE_INTEGER) < (tx.txIndex ?? Number.MAX_SAFE_INTEGER)
}
