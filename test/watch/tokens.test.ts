// Token transfers, from the node's answers to what is posted.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Address, Hex } from '../../src/model/glossary.js'
import type { KnownToken } from '../../src/model/token.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { callOf, erc20 } from '../support/tokenContracts.js'
import { alertOf, openBench, watchOf } from './bench.js'

async function deploy(node: TestAnvil, init: Hex): Promise<Address> {
	const [from] = (await node.accounts()) as [Address]
	const { contractAddress } = await node.receipt(await node.send({ from, data: init }))
	return contractAddress as Address
}

const usd = (address: Address, part: Partial<KnownToken> = {}): KnownToken => ({
	address,
	symbol: 'USDC',
	decimals: 6,
	minAmountRaw: null,
	...part,
})

describe('tokens', () => {
	test("default: a known token in and out, by the operator's symbol", async () => {
		const node = await startTestAnvil()
		onTestFinished(() => node.stop())
		const [minter, alice, bob] = (await node.accounts()) as [Address, Address, Address]
		const token = await deploy(node, erc20('FAKE', 2))
		const tokens = new Map([[token, usd(token)]])
		const bench = await openBench({
			urls: [node.url],
			watches: [watchOf(alice, { kinds: ['transfer', 'token'], label: 'Treasury' })],
			network: { tokens },
		})
		onTestFinished(() => bench.close())
		await bench.settle()
		const hashes = [
			await node.send({ from: minter, to: token, data: callOf('mint(address,uint256)', alice, 5_000_000n) }),
			await node.send({ from: alice, to: token, data: callOf('transfer(address,uint256)', bob, 1_500_000n) }),
			await node.send({
				from: bob,
				to: token,
				data: callOf('transferFrom(address,address,uint256)', alice, bob, 500_000n),
			}),
		]
		await node.mine(1)
		await bench.settle()
		const alerts = (await bench.posted()).map(alertOf)
		expect(
			alerts.map(({ id, kind, direction, value, asset, from, to, initiator }) => ({
				id,
				kind,
				direction,
				value,
				asset,
				from: from?.toLowerCase(),
				to: to.toLowerCase(),
				initiator: initiator?.toLowerCase(),
			})),
		).toEqual([
			{
				id: `31337:${hashes[0]}:log_0:token:${alice}`,
				kind: 'token',
				direction: 'in',
				value: '5',
				asset: 'USDC',
				from: `0x${'0'.repeat(40)}`,
				to: alice,
				initiator: minter,
			},
			{
				id: `31337:${hashes[1]}:log_0:token:${alice}`,
				kind: 'token',
				direction: 'out',
				value: '1.5',
				asset: 'USDC',
				from: alice,
				to: bob,
				initiator: alice,
			},
			{
				id: `31337:${hashes[2]}:log_0:token:${alice}`,
				kind: 'token',
				direction: 'out',
				value: '0.5',
				asset: 'USDC',
				from: alice,
				to: bob,
				initiator: bob,
			},
		])
	})
})
