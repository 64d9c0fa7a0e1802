// Which transfers of a flood get an alert.
import { expect, test } from 'vitest'
import { createFloodGate } from '../../../src/core/matching/flood.js'
import { type Match, match } from '../../../src/core/matching/match.js'
import type { SeenEvent } from '../../../src/kinds/list.js'
import type { TokenEvent } from '../../../src/model/token.js'
import type { Watch } from '../../../src/model/watch.js'
import { address, blockRef, hash, indexOf, watch } from '../build.js'

const usd = address(0x05d)

function received(contract: TokenEvent['contract'], at: number): TokenEvent {
	return {
		...{ kind: 'token', standard: 'erc20', contract, from: address(9), to: address(1), amountRaw: 5n, tokenId: null },
		...{ operator: null, initiator: address(9), txHash: hash(at), txIndex: at, trace: 'log_0', block: blockRef(10) },
	}
}

/** 150 unknown tokens, then the named one; the contracts that get an alert. */
function keptOf(...watches: readonly Watch[]) {
	const index = indexOf(...watches)
	const gate = createFloodGate<{ readonly match: Match<SeenEvent> }>(undefined, undefined, index)
	const spam = Array.from({ length: 150 }, (_, at) => received(address(0x1000 + at), at))
	for (const one of match([...spam, received(usd, 150)], index, () => true)) gate.add({ match: one })
	return gate.kept().map(({ one }) => (one.match.event as TokenEvent).contract)
}

const all = watch({ kinds: ['token'], tokens: 'all', watchlist: 'a.yaml' })
const named = watch({ kinds: ['token'], tokens: new Set([usd]), watchlist: 'b.yaml' })

test('default: of unknown tokens the first 100 of a block get an alert', () => {
	expect(keptOf(all)).toHaveLength(100)
	expect(keptOf(all)).not.toContain(usd)
})

test('behavior: a token that another watchlist names for the same address and receiver is never left out', () => {
	expect(keptOf(named, all)).toContain(usd)
	expect(keptOf(all, named)).toContain(usd)
})
