// A statement of tokens against the contracts' own books: each balance in it, after each block that moves it.
import { describe, expect, onTestFinished, test } from 'vitest'
import { createChain } from '../../src/chain/chain.js'
import { createEndpoints } from '../../src/chain/endpoints/endpoints.js'
import { createRpc } from '../../src/chain/rpc/rpc.js'
import type { Address } from '../../src/model/glossary.js'
import type { KnownTokens } from '../../src/model/token.js'
import { type TokenStatementItem, tokenStatementOf } from '../../src/statements/tokenStatement.js'
import type { TestAnvil } from '../support/anvil.js'
import { sized } from '../support/longRun.js'
import { silent } from '../support/silent.js'
import { callOf, wordOf } from '../support/tokenContracts.js'
import { playTokens } from '../support/tokenScenario.js'

const signal = new AbortController().signal

function openChain(url: string, known: KnownTokens) {
	const clock = Date.now
	const endpoints = createEndpoints({ rpcs: [createRpc({ url, clock })], chainId: 31337, clock, log: silent })
	const tokens = { chainId: 31337, known, areAsked: () => true }
	const chain = createChain({ endpoints, tokens, clock, log: silent })
	onTestFinished(() => chain.close())
	return chain
}

async function collect(items: AsyncIterable<TokenStatementItem>): Promise<readonly TokenStatementItem[]> {
	const all: TokenStatementItem[] = []
	for await (const item of items) all.push(item)
	return all
}

/** By the contract; null where it answers nothing. */
async function held(node: TestAnvil, contract: Address, owner: Address, id: bigint | null, block: bigint) {
	const data = id === null ? callOf('balanceOf(address)', owner) : callOf('balanceOf(address,uint256)', owner, id)
	return BigInt(await node.rpc<string>('eth_call', [{ to: contract, data }, `0x${block.toString(16)}`]))
}

describe('a statement of tokens', () => {
	test.each(sized([3], [3, 4, 5, 6]))('seed %i: its balances are the contracts’, and it closes', async (seed) => {
		const { node, people, contracts, known, span } = await playTokens(seed, { blocks: sized(12, 40) })
		const { usd, fee, odd, weth, items } = contracts
		const chain = openChain(node.url, known)
		const asked = new Set([usd, fee, odd, weth, items])
		for (const address of [people.alice, people.bob]) {
			const said = await collect(tokenStatementOf({ address, span, contracts: asked }, chain, signal))
			const after = new Map<string, () => Promise<void>>()
			const closed: string[] = []
			for (const item of said) {
				if (item.item === 'read') continue
				expect(item.item).not.toBe('unproved')
				if (item.item === 'unproved') continue
				const { account, block, balanceRaw } = item
				const own = () => held(node, account.contract, address, account.tokenId, block.number)
				if (item.item === 'entry') {
					const key = `${account.contract} ${account.tokenId} ${block.number}`
					after.set(key, async () => expect(balanceRaw, key).toBe(await own()))
					continue
				}
				expect(balanceRaw).toBe(await own())
				if (item.item === 'opening') expect(block.number).toBe(span.from - 1n)
				else {
					expect(item.explainedRaw).toBe(balanceRaw)
					closed.push(`${account.contract} ${account.tokenId}`)
				}
			}
			for (const check of after.values()) await check()
			expect(closed.filter((one) => one.startsWith(items)).sort()).toEqual([`${items} 1`, `${items} 2`])
			expect(closed).toHaveLength(6)
		}
	})

	test('behavior: what no log reports is a difference, and the one who says nothing is not proved', async () => {
		const { node, people, contracts, known, span } = await playTokens(3, { blocks: 14 })
		const { usd, liar, nft } = contracts
		const { alice } = people
		// It grew by itself: balances stand in storage by address.
		const before = await held(node, usd, alice, null, span.to)
		await node.rpc('anvil_setStorageAt', [usd, `0x${wordOf(alice)}`, `0x${wordOf(before + 77n)}`])
		const to = await node.mine(1)
		const chain = openChain(node.url, known)
		const whole = { from: span.from, to }
		const ofUsd = await collect(
			tokenStatementOf({ address: alice, span: whole, contracts: new Set([usd]) }, chain, signal),
		)
		const closing = ofUsd.at(-1)
		if (closing?.item !== 'closing') throw new Error('it ends with its closing balance')
		expect(closing.balanceRaw - closing.explainedRaw).toBe(77n)
		const rest = new Set([liar, nft])
		const unproved = await collect(tokenStatementOf({ address: alice, span: whole, contracts: rest }, chain, signal))
		const about = (contract: Address) =>
			unproved.filter((item) => item.item !== 'read' && item.account.contract === contract).map(({ item }) => item)
		for (const contract of [liar, nft]) {
			const kinds = about(contract)
			if (kinds.length === 0) continue
			expect(kinds[0]).toBe('unproved')
			expect(kinds.at(-1)).toBe('unproved')
			expect(kinds.includes('closing')).toBe(false)
		}
		expect(about(liar).length + about(nft).length).toBeGreaterThan(0)
	})
})
