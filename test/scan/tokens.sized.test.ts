// Token transfers, from the node's answers to what is posted.
import { describe, expect, onTestFinished, test } from 'vitest'
import { toChecksum } from '../../src/config/address.js'
import type { Address, Hash, Hex } from '../../src/model/glossary.js'
import type { KnownToken } from '../../src/model/token.js'
import { headline } from '../../src/notify/text/sentence.js'
import { startTestAnvil, type TestAnvil, type Tx } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { divided, testInFull, testOnce } from '../support/longRun.js'
import { START_MS } from '../support/standingClock.js'
import { callOf, erc20, erc721 } from '../support/tokenContracts.js'
import { alertOf, openBench, watchOf } from './bench.js'

async function deploy(node: TestAnvil, init: Hex): Promise<Address> {
	const [from] = (await node.accounts()) as [Address]
	const { contractAddress } = await node.receipt(await node.send({ from, data: init }))
	return contractAddress as Address
}

/** Resolves when it stands in a block: with automine the hash may be answered before. */
async function sent(node: TestAnvil, tx: Tx): Promise<Hash> {
	return (await node.receipt(await node.send(tx))).transactionHash
}

const usd = (address: Address, part: Partial<KnownToken> = {}): KnownToken => ({
	address,
	symbol: 'USDC',
	decimals: 6,
	minAmountRaw: null,
	...part,
})

describe('tokens', () => {
	testOnce("default: a known token in and out, by the operator's symbol", async () => {
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
			await sent(node, { from: minter, to: token, data: callOf('mint(address,uint256)', alice, 5_000_000n) }),
			await sent(node, { from: alice, to: token, data: callOf('transfer(address,uint256)', bob, 1_500_000n) }),
			await sent(node, {
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

	test.each(divided([0, null], (decimals) => decimals === 0))(
		'behavior: a known token that indexes no party, with decimals %s, is found in a long span',
		async (decimals) => {
			const node = await startTestAnvil()
			onTestFinished(() => node.stop())
			const [minter, alice] = (await node.accounts()) as [Address, Address]
			const token = await deploy(node, erc721({ indexed: false }))
			const tokens = new Map([[token, usd(token, { symbol: 'KITTY', decimals })]])
			const watches = [watchOf(alice, { kinds: ['token'] })]
			const bench = await openBench({ urls: [node.url], watches, network: { tokens } })
			onTestFinished(() => bench.close())
			await bench.settle()
			await node.mine(20)
			const data = callOf('transferFrom(address,address,uint256)', `0x${'0'.repeat(40)}`, alice, 7n)
			const hash = await sent(node, { from: minter, to: token, data })
			await node.mine(20)
			await bench.settle()
			expect((await bench.posted()).map(alertOf).map(({ id }) => id)).toEqual([`31337:${hash}:log_0:token:${alice}`])
		},
	)

	testOnce('behavior: a reorganisation takes an alert back, and reports what came in its place', async () => {
		const node = await startTestAnvil()
		onTestFinished(() => node.stop())
		const [minter, alice] = (await node.accounts()) as [Address, Address]
		const token = await deploy(node, erc20('FAKE', 2))
		const tokens = new Map([[token, usd(token)]])
		const watches = [watchOf(alice, { kinds: ['token'] })]
		const bench = await openBench({ urls: [node.url], watches, network: { tokens } })
		onTestFinished(() => bench.close())
		await node.mine(3)
		await bench.settle()
		const snapshot = await node.rpc('evm_snapshot')
		const mint = (amount: bigint) => callOf('mint(address,uint256)', alice, amount)
		const gone = await sent(node, { from: minter, to: token, data: mint(1n) })
		await bench.settle()
		await node.rpc('evm_revert', [snapshot])
		await node.rpc('anvil_setNextBlockBaseFeePerGas', ['0x3b9aca01'])
		const came = await sent(node, { from: minter, to: token, data: mint(2n) })
		await node.mine(2)
		await bench.settle()
		expect((await bench.posted()).map(({ message }) => [message.type, message.data.id])).toEqual([
			['alert.token', `31337:${gone}:log_0:token:${alice}`],
			['alert.token', `31337:${came}:log_0:token:${alice}`],
			['alert.removed', `31337:${gone}:log_0:token:${alice}`],
		])
	})

	testInFull('behavior: an announced token stays announced when no one asks for tokens any more', async () => {
		const node = await startTestAnvil()
		onTestFinished(() => node.stop())
		const [minter, alice] = (await node.accounts()) as [Address, Address]
		const token = await deploy(node, erc20('FAKE', 2))
		const tokens = new Map([[token, usd(token)]])
		const bench = await openBench({
			urls: [node.url],
			watches: [watchOf(alice, { kinds: ['token'] })],
			network: { tokens },
		})
		onTestFinished(() => bench.close())
		await bench.settle()
		await sent(node, { from: minter, to: token, data: callOf('mint(address,uint256)', alice, 1n) })
		await bench.settle()
		bench.setWatches([watchOf(alice, { kinds: ['transfer'] })])
		await node.mine(20)
		await bench.settle()
		expect((await bench.posted()).map(({ message }) => message.type)).toEqual(['alert.token'])
	})

	test.each(divided([1, 3_000, 4_000], (count) => count < 4_000))(
		'behavior: %i watches cost one call more for a block near the head',
		async (count) => {
			const node = await startTestAnvil()
			onTestFinished(() => node.stop())
			const [minter, alice] = (await node.accounts()) as [Address, Address]
			const token = await deploy(node, erc20('FAKE', 2))
			const others = Array.from(
				{ length: count - 1 },
				(_, at): Address => `0x${(at + 1).toString(16).padStart(40, 'c')}`,
			)
			const calls: number[] = []
			const nowMs = START_MS
			for (const tokens of [undefined, new Map([[token, usd(token)]])]) {
				const gateway = await startDialectGateway(node.url, {})
				onTestFinished(() => gateway.close())
				const watches = [alice, ...others].map((one) => watchOf(one, { kinds: ['transfer', 'token'] }))
				const network = tokens === undefined ? {} : { tokens }
				// The clock stands still: what an endpoint can do is not asked again meanwhile.
				const bench = await openBench({ urls: [gateway.url], watches, network, books: false, clock: () => nowMs })
				onTestFinished(() => bench.close())
				const mint = () => sent(node, { from: minter, to: token, data: callOf('mint(address,uint256)', minter, 1n) })
				await mint()
				await bench.settle()
				await mint()
				await bench.settle()
				const before = gateway.total()
				await mint()
				await bench.settle()
				calls.push(gateway.total() - before)
			}
			const [without = 0, withTokens = 0] = calls
			expect(withTokens - without).toBe(1)
		},
	)

	testOnce('behavior: an unknown token by its own word, cleaned, and only where all are asked for', async () => {
		const node = await startTestAnvil()
		onTestFinished(() => node.stop())
		const [minter, alice, bob] = (await node.accounts()) as [Address, Address, Address]
		const token = await deploy(node, erc20('USD\u0421', 6))
		const watches = [
			watchOf(alice, { kinds: ['token'], tokens: 'all', label: 'Treasury' }),
			watchOf(bob, { kinds: ['token'] }),
		]
		const gateway = await startDialectGateway(node.url, {})
		onTestFinished(() => gateway.close())
		const bench = await openBench({ urls: [gateway.url], watches })
		onTestFinished(() => bench.close())
		await bench.settle()
		for (const who of [alice, bob, alice]) {
			await sent(node, { from: minter, to: token, data: callOf('mint(address,uint256)', who, 1_500_000n) })
			await bench.settle()
		}
		const posted = await bench.posted()
		expect(posted.map(alertOf).map(({ token: told, value, asset }) => ({ ...told, value, asset }))).toEqual(
			[1, 2].map(() => ({
				standard: 'erc20',
				address: toChecksum(token),
				symbol: 'USD\\u{421}',
				decimals: 6,
				known: false,
				amountRaw: '1500000',
				amount: '1.5',
				tokenId: null,
				value: '1.5',
				asset: 'USD\\u{421}',
			})),
		)
		expect(gateway.count('eth_call')).toBe(2)
		const [first] = posted
		if (first === undefined) throw new Error('nothing was posted')
		const short = `${toChecksum(token).slice(0, 6)}…${toChecksum(token).slice(-4)}`
		expect(headline(first.message)).toBe(
			`[local] Treasury received 1.5 of the unknown token "USD\\u{421}" (${short}), newly made`,
		)
	})
})
