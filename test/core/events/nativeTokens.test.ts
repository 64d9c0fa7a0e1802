// The chain's own coin, shown as a token by its logs: told by its frames, and not a second time. Elsewhere the same
// address is a token like any other.
import { describe, expect, test } from 'vitest'
import { createTokenReader } from '../../../src/chain/logs/tokenReader.js'
import type { Address } from '../../../src/model/glossary.js'
import { silent } from '../../support/silent.js'
import { standingClock } from '../../support/standingClock.js'
import { signatures, wordOf } from '../../support/tokenContracts.js'
import { address } from '../build.js'

const system: Address = '0xfffffffffffffffffffffffffffffffffffffffe'
const era: Address = '0x000000000000000000000000000000000000800a'
const matic: Address = '0x0000000000000000000000000000000000001010'
const celo: Address = '0x471ece3750da237f93b8e339c536989b8978a438'
const usdc: Address = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'

/** Contracts whose transfers are sent of, of those that wrote one each. */
async function told(chainId: number, contracts: readonly Address[]): Promise<readonly Address[]> {
	const reader = createTokenReader({ chainId, known: new Map(), isPrivate: false, clock: standingClock, log: silent })
	const topic = (who: number) => `0x${wordOf(address(who))}` as const
	const logs = contracts.map((contract) => ({
		address: contract,
		topics: [signatures.transfer, topic(1), topic(2)],
		data: `0x${wordOf(5n)}` as const,
	}))
	const block = { number: 1n, hash: `0x${'b'.repeat(64)}` as const }
	const tx = { txHash: `0x${'a'.repeat(64)}` as const, txIndex: 0, block, initiator: null, logs }
	return (await reader.eventsOf(tx)).map(({ contract }) => contract)
}

describe('the coin as a token', () => {
	test.each<[string, number, readonly Address[]]>([
		['Ethereum, with EIP-7708', 1, [matic, celo]],
		['Monad', 143, [matic, celo]],
		['zkSync Era', 324, [matic, celo]],
		['Abstract, of the same kind', 2_741, [matic, celo]],
		['Polygon', 137, [celo]],
		['its test net Amoy', 80_002, [celo]],
		['Celo', 42_220, [matic]],
		['BNB Smart Chain', 56, [matic, celo]],
	])('%s', async (_, chainId, others) => {
		// A log of another token in between: places are counted among all logs.
		expect(await told(chainId, [system, usdc, era, matic, celo])).toEqual([usdc, ...others])
	})

	test('default: Celo’s test nets by their own contracts', async () => {
		const alfajores: Address = '0xf194afdf50b03e69bd7d057c1aa9e10c9954e4c9'
		const baklava: Address = '0xddc9be57f553fe75752d61606b94cbd7e0264ef8'
		expect(await told(44_787, [alfajores, baklava])).toEqual([baklava])
		expect(await told(62_320, [alfajores, baklava])).toEqual([alfajores])
	})
})
