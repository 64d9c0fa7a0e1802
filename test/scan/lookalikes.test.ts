// Address poisoning, as it is done: an imitation pays a little, or nothing, or makes the victim seem to have paid it.

import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { headline } from '../../src/notify/text/sentence.js'
import { ether, startTestAnvil } from '../support/anvil.js'
import { assemble } from '../support/assembler.js'
import { callOf, erc20, wordOf } from '../support/tokenContracts.js'
import { alertOf, openBench, watchOf } from './bench.js'

const friend: Address = `0x1234ab${'0'.repeat(27)}9876543`
const imitation: Address = `0x1234ff${'7'.repeat(27)}1116543`
const weaker: Address = `0x123fff${'7'.repeat(27)}1116543`
const router: Address = `0xc0deab${'0'.repeat(27)}9876543`
const likeRouter: Address = `0xc0deff${'7'.repeat(27)}1116543`

test('default: an imitation of an address that the watch has paid is marked, even after a restart', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const [minter, alice] = (await node.accounts()) as [Address, Address]
	for (const one of [imitation, weaker, likeRouter]) {
		await node.rpc('anvil_impersonateAccount', [one])
		await node.rpc('anvil_setBalance', [one, '0xde0b6b3a7640000'])
	}
	await node.rpc('anvil_setCode', [router, '0x00'])
	const deploy = async () =>
		(await node.receipt(await node.send({ from: minter, data: erc20('FAKE', 6) }))).contractAddress
	const [usd, counterfeit] = [(await deploy()) as Address, (await deploy()) as Address]
	const tokens = new Map([[usd, { address: usd, symbol: 'USDC', decimals: 6, minAmountRaw: null }]])
	const watches = [watchOf(alice, { kinds: ['transfer', 'token'], tokens: 'all', label: 'Treasury' })]
	const bench = await openBench({ urls: [node.url], watches, network: { tokens } })
	onTestFinished(() => bench.close())
	await bench.settle()
	const transfer = (to: Address, amount: bigint) => callOf('transfer(address,uint256)', to, amount)
	const steal = (to: Address) => callOf('transferFrom(address,address,uint256)', alice, to, 0n)
	const steps = [
		{ from: minter, to: usd, data: callOf('mint(address,uint256)', alice, 10n ** 12n) },
		{ from: minter, to: counterfeit, data: callOf('mint(address,uint256)', alice, 10n ** 12n) },
		// No one was paid yet.
		{ from: imitation, to: alice, valueWei: 1n },
		{ from: alice, to: usd, data: transfer(friend, 2_500_000n) },
		{ from: alice, to: router, valueWei: ether, gas: 100_000n },
		// Dust, nothing at all, a counterfeit of the same amount, and from one who imitates a contract only.
		{ from: imitation, to: alice, valueWei: 2n },
		{ from: imitation, to: usd, data: steal(imitation) },
		{ from: weaker, to: alice, valueWei: 3n },
		{ from: weaker, to: counterfeit, data: callOf('transferFrom(address,address,uint256)', alice, weaker, 2_500_000n) },
		{ from: likeRouter, to: alice, valueWei: 4n },
		// The victim falls for it: that is said too, and once more.
		{ from: alice, to: usd, data: transfer(imitation, 7n) },
		{ from: alice, to: usd, data: transfer(imitation, 8n) },
		{ from: alice, to: usd, data: transfer(friend, 9n) },
	]
	for (const step of steps) {
		await node.receipt(await node.send(step))
		await bench.settle()
	}
	const posted = await bench.posted()
	expect(
		posted.map(alertOf).map(({ kind, direction, token, valueWei, lookalike }) => {
			return [kind, direction, token?.amountRaw ?? valueWei, lookalike?.prefix ?? null, lookalike?.suffix ?? null]
		}),
	).toEqual([
		['token', 'in', '1000000000000', null, null],
		['token', 'in', '1000000000000', null, null],
		['transfer', 'in', '1', null, null],
		['token', 'out', '2500000', null, null],
		['transfer', 'out', ether.toString(), null, null],
		['transfer', 'in', '2', 4, 4],
		['token', 'out', '0', 4, 4],
		['transfer', 'in', '3', null, null],
		['token', 'out', '2500000', 3, 4],
		['transfer', 'in', '4', null, null],
		['token', 'out', '7', 4, 4],
		['token', 'out', '8', 4, 4],
		['token', 'out', '9', null, null],
	])
	expect(alertOf(posted[5] as (typeof posted)[number]).lookalike?.of.toLowerCase()).toBe(friend)
	expect(headline((posted[5] as (typeof posted)[number]).message)).toMatch(/^\[local\] LOOK-ALIKE: Treasury received /)
	expect((await bench.store.network('local'))?.payees?.get(alice)?.map(({ address }) => address)).toEqual([
		router,
		friend,
	])
})

// An account that has lent itself code (EIP-7702) pays of its own, and strangers can make it pay whom they like: the
// same as a router does, and both in one list.
test('behavior: whom strangers make a watch pay takes no one’s place, and is no friend', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const [stranger, alice] = (await node.accounts()) as [Address, Address]
	await node.rpc('anvil_impersonateAccount', [imitation])
	await node.rpc('anvil_setBalance', [imitation, '0xde0b6b3a7640000'])
	// Passes on what it is sent, to whom the caller says.
	await node.rpc('anvil_setCode', [router, assemble('0 0 0 0 CALLVALUE 0 CALLDATALOAD GAS CALL STOP')])
	await node.rpc('anvil_setCode', [alice, `0xef0100${router.slice(2)}`])
	const watches = [watchOf(alice, { kinds: ['transfer'], direction: 'both' })]
	const bench = await openBench({ urls: [node.url], watches, books: false })
	onTestFinished(() => bench.close())
	await bench.settle()
	const made = (to: Address, valueWei: bigint) => ({
		...{ from: stranger, to: alice, valueWei, gas: 200_000n },
		data: `0x${wordOf(to)}` as const,
	})
	const steps = [
		made(imitation, 5n),
		{ from: alice, to: friend, valueWei: 6n },
		{ from: imitation, to: alice, valueWei: 7n },
		made(imitation, 8n),
		{ from: alice, to: friend, valueWei: 9n },
	]
	for (const step of steps) {
		await node.receipt(await node.send(step))
		await bench.settle()
	}
	// Left out: coins on their way in to be passed on, and dust, which is passed on to no one.
	const outOrDust = (await bench.posted()).map(alertOf).filter(({ initiator, direction, to }) => {
		return direction === 'out' ? BigInt(to ?? 0) !== 0n : initiator?.toLowerCase() === imitation
	})
	expect(
		outOrDust.map(({ direction, valueWei, lookalike }) => [direction, valueWei, lookalike?.of.toLowerCase() ?? null]),
	).toEqual([
		// No one whom it imitates had been paid.
		['out', '5', null],
		// Which of the two is the real one no one knows yet: that is said, once.
		['out', '6', imitation],
		['in', '7', friend],
		['out', '8', friend],
		['out', '9', null],
	])
	expect((await bench.store.network('local'))?.payees?.get(alice)).toEqual([
		{ address: imitation, amount: '0.000000000000000005', startedBy: 'other' },
		{ address: friend, amount: '0.000000000000000009', startedBy: 'watch' },
	])
})
