// The shapes of address poisoning, played once, and what is said of each: with `tokens: known`, and with `all`.
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import type { TokenChoice } from '../../src/model/token.js'
import { composeMessage } from '../../src/notify/text/message.js'
import { headline } from '../../src/notify/text/sentence.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { callOf, erc20 } from '../support/tokenContracts.js'
import { openBench, watchOf } from './bench.js'

const friend: Address = `0x1234ab${'0'.repeat(27)}9876543`
const imitation: Address = `0x1234ff${'7'.repeat(27)}1116543`
const weaker: Address = `0x123fff${'7'.repeat(27)}1116543`

async function play(node: TestAnvil) {
	const [minter, alice, stranger] = (await node.accounts()) as [Address, Address, Address]
	for (const one of [imitation, weaker]) {
		await node.rpc('anvil_impersonateAccount', [one])
		await node.rpc('anvil_setBalance', [one, '0xde0b6b3a7640000'])
	}
	const deploy = async (symbol: string) => {
		const { contractAddress } = await node.receipt(await node.send({ from: minter, data: erc20(symbol, 6) }))
		return contractAddress as Address
	}
	const [usd, counterfeit, gift] = [
		await deploy('USDC'),
		await deploy('USDC'),
		await deploy('claim at gift.example.org'),
	]
	const first = BigInt(await node.rpc<string>('eth_blockNumber', [])) + 1n
	const mint = (to: Address, amount: bigint) => callOf('mint(address,uint256)', to, amount)
	const from = (who: Address, to: Address, amount: bigint) =>
		callOf('transferFrom(address,address,uint256)', who, to, amount)
	const steps = [
		{ from: minter, to: usd, data: mint(alice, 9_000_000n) },
		{ from: minter, to: usd, data: mint(imitation, 9_000_000n) },
		{ from: minter, to: counterfeit, data: mint(alice, 9_000_000n) },
		{ from: alice, to: usd, data: callOf('transfer(address,uint256)', friend, 2_500_000n) },
		{ from: imitation, to: alice, valueWei: 7n },
		{ from: imitation, to: usd, data: callOf('transfer(address,uint256)', alice, 1n) },
		{ from: stranger, to: usd, data: from(alice, imitation, 0n) },
		{ from: stranger, to: counterfeit, data: from(alice, imitation, 1_000_000n) },
		{ from: stranger, to: counterfeit, data: from(alice, weaker, 2_500_000n) },
		{ from: minter, to: gift, data: mint(alice, 1_000_000n) },
		{ from: alice, to: usd, data: callOf('transfer(address,uint256)', imitation, 2_500_000n) },
		// No imitation: an approval that someone uses.
		{ from: stranger, to: usd, data: from(alice, stranger, 3_000_000n) },
	]
	for (const step of steps) await node.receipt(await node.send(step))
	return { alice, usd, first }
}

async function said(node: TestAnvil, { alice, usd, first }: Awaited<ReturnType<typeof play>>, tokens: TokenChoice) {
	const bench = await openBench({
		urls: [node.url],
		watches: [watchOf(alice, { kinds: ['transfer', 'token'], tokens, label: 'Treasury', fromBlock: first })],
		network: { tokens: new Map([[usd, { address: usd, symbol: 'USDC', decimals: 6, minAmountRaw: null }]]) },
		books: false,
	})
	onTestFinished(() => bench.close())
	await bench.settle()
	const posted = await bench.posted()
	// Addresses and times differ from run to run.
	const lines = posted.map(({ message }) =>
		headline(message)
			.replaceAll(/0x[0-9a-fA-F]{4}…[0-9a-fA-F]{4}/g, '0x…')
			.replace(/ \(late: of [-0-9]+ [:0-9]+ UTC\)$/, ''),
	)
	return {
		lines: lines.map((line) => line.replace('[local] ', '')),
		texts: posted.map((one) => composeMessage(one.message).text),
	}
}

test('default: each shape of address poisoning has its own words', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const played = await play(node)
	const known = await said(node, played, 'known')
	const coin = 'LOOK-ALIKE: Treasury received 0.000000000000000007 ETH from 0x…'
	const dust = 'LOOK-ALIKE: Treasury received 0.000001 USDC from 0x…'
	const fallen = 'LOOK-ALIKE: Treasury sent 2.5 USDC to 0x…'
	const used = 'Treasury sent 3 USDC to 0x…, in a transaction of 0x…'
	const minted = 'Treasury received 9 USDC, newly made'
	const paid = 'Treasury sent 2.5 USDC to 0x…'
	expect(known.lines).toEqual([minted, paid, coin, dust, fallen, used])
	const all = await said(node, played, 'all')
	expect(all.lines).toEqual([
		minted,
		'LOOK-ALIKE: Treasury received 9 of the unknown token "USDC" (0x…), newly made',
		paid,
		coin,
		dust,
		'LOOK-ALIKE: Treasury sent 0 USDC to 0x…, in a transaction of 0x…: nothing moved, and any account can do that',
		'LOOK-ALIKE: Treasury sent 1 of the unknown token "USDC" (0x…) to 0x…, in a transaction of 0x…',
		'LOOK-ALIKE: Treasury sent 2.5 of the unknown token "USDC" (0x…) to 0x…, in a transaction of 0x…',
		'Treasury received 1 of the unknown token "claim at gift[.]exa…" (0x…), newly made',
		fallen,
		used,
	])
	// In full, below the subject: who it was, and whether he needed anything for it.
	expect(all.texts[5]).toContain('not the watch itself: nothing moved, which needs no approval and any account can do')
	expect(all.texts[6]).toContain('not the watch itself: it used an approval, or the token says what it likes')
	expect(all.texts[10]).toContain('not the watch itself: it used an approval, or called a contract that is the watch')
})
