import type { Address } from '../model/glossary.js'
import type { KnownTokens } from '../model/token.js'
import type { Watch } from '../model/watch.js'
import type { Match } from './match.js'
import { noTokens } from './tokenChoice.js'

/**
 * For the price of one transaction anybody logs a hundred thousand transfers of a token that nobody knows. So many are
 * told to a watch of one block; the last of them says how many more there were. Tokens that the network or the watch
 * names are told without a bound, but where nothing moves: that, too, anybody can log of them.
 */
const mostUnknown = 100

export interface KeptOfFlood<T> {
	readonly one: T
	/** Transfers of unknown tokens or of nothing, of the same watch in the same block, that are not told. */
	readonly more: number
}

export interface FloodGate<T> {
	/** In the order of the chain. */
	add(one: T): void
	readonly kept: readonly KeptOfFlood<T>[]
}

/** What a flood leaves out is not held. */
export function createFloodGate<T extends { readonly match: Match }>(known: KnownTokens = noTokens): FloodGate<T> {
	/** By name: a watch is another object each time that it is asked for. */
	const floods = new Map<string, { block: bigint; seen: number; lastKept: number }>()
	const kept: { one: T; more: number }[] = []
	function add(one: T): void {
		const { event, watch } = one.match
		if (event.kind === 'token' && (event.amountRaw === 0n || !isNamed(watch, event.contract, known))) {
			const { number } = event.block
			const key = `${watch.network} ${watch.watchlist} ${watch.address}`
			const flood = floods.get(key)
			const now = flood?.block === number ? flood : { block: number, seen: 0, lastKept: -1 }
			floods.set(key, now)
			now.seen++
			if (now.seen > mostUnknown) {
				const last = kept[now.lastKept]
				if (last !== undefined) last.more++
				return
			}
			now.lastKept = kept.length
		}
		kept.push({ one, more: 0 })
	}
	return { add, kept }
}

function isNamed({ tokens }: Watch, contract: Address, known: KnownTokens): boolean {
	return known.has(contract) || (tokens instanceof Object && tokens.has(contract))
}
