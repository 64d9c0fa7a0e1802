// A stranger writes what he likes, as often as he can pay for: what reaches the receivers of it stays within bounds.

import { describe, expect, onTestFinished, test } from 'vitest'
import { toChecksum } from '../../src/config/address.js'
import type { Address, Hex } from '../../src/model/glossary.js'
import type { TokenChoice } from '../../src/model/token.js'
import { headline } from '../../src/notify/text/sentence.js'
import { ether, startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { assemble, initOf } from '../support/assembler.js'
import { soaked } from '../support/soak.js'
import { callOf, erc20, flood, liar, lie, signatures, wordOf } from '../support/tokenContracts.js'
import { alertOf, openBench, watchOf } from './bench.js'

/** Logs one batch of so many ids, all 0, and as many amounts, all 0; calldata as above. */
function batch(): Hex {
	const size = '0 CALLDATALOAD 32 MUL'
	return initOf(
		assemble(`
	          64 0 MSTORE ${size} 96 ADD 32 MSTORE
	          0 CALLDATALOAD 64 MSTORE 0 CALLDATALOAD ${size} 96 ADD MSTORE
	          32 CALLDATALOAD CALLER CALLER ${signatures.batch} ${size} 2 MUL 128 ADD 0 LOG4 STOP`),
	)
}

async function openOn(node: TestAnvil, alice: Address, tokens: TokenChoice) {
	const bench = await openBench({
		urls: [node.url],
		watches: [watchOf(alice, { kinds: ['transfer', 'token'], tokens, label: 'Treasury' })],
		network: { tokens: new Map([[alice, { address: alice, symbol: 'NONE', decimals: 1, minAmountRaw: null }]]) },
		books: false,
		timeoutMs: 600_000,
		maxBodyBytes: 2 ** 30,
	})
	onTestFinished(() => bench.close())
	await bench.settle()
	return bench
}

describe('a flood of transfers', () => {
	const many = soaked(1_000, 100_000)

	test(`default: of ${many} in one block 100 are reported, and the last says so`, { timeout: 300_000 }, async () => {
		const node = await startTestAnvil(['--gas-limit', '20000000000'])
		onTestFinished(() => node.stop())
		const [stranger, alice] = (await node.accounts()) as [Address, Address]
		const { contractAddress } = await node.receipt(await node.send({ from: stranger, data: flood() }))
		const to = contractAddress as Address
		const [all, known, named] = [
			await openOn(node, alice, 'all'),
			await openOn(node, alice, 'known'),
			await openOn(node, alice, new Set([to])),
		]
		await node.automine(false)
		const data = (count: number): Hex => `0x${wordOf(BigInt(count))}${wordOf(alice)}`
		const hash = await node.send({ from: stranger, to, data: data(many - 50), gas: 15_000_000_000n })
		await node.send({ from: stranger, to, data: data(50), gas: 50_000_000n })
		await node.send({ from: stranger, to: alice, valueWei: ether, gas: 50_000n })
		await node.mine(1)
		await all.settle()
		await known.settle()
		const told = await all.posted()
		const alerts = told.map(alertOf)
		// The coin that came behind them all is not among what is left out.
		expect(alerts.map(({ kind }) => kind)).toEqual([...Array(100).fill('token'), 'transfer'])
		expect(alerts.slice(0, 100).map(({ id }) => id)).toEqual(
			Array.from({ length: 100 }, (_, at) => `31337:${hash}:log_${at}:token:${alice}`),
		)
		expect(alerts.map(({ more }) => more ?? 0)).toEqual([...Array(99).fill(0), many - 100, 0])
		expect(told[99] && headline(told[99].message)).toContain(
			`and ${many - 100} more transfers of unknown tokens or of nothing in this block, without alerts of their own`,
		)
		expect((await known.posted()).map(alertOf).map(({ kind }) => kind)).toEqual(['transfer'])
		if (many <= 1_000) {
			await named.settle()
			// Whoever names a contract wants to know all of it.
			expect((await named.posted()).map(alertOf).filter(({ kind }) => kind === 'token')).toHaveLength(many)
		}
	})

	test(`behavior: a batch of ${many} entries in one log`, { timeout: 300_000 }, async () => {
		const node = await startTestAnvil(['--gas-limit', '20000000000', '--memory-limit', '1000000000'])
		onTestFinished(() => node.stop())
		const [stranger, alice] = (await node.accounts()) as [Address, Address]
		const { contractAddress } = await node.receipt(await node.send({ from: stranger, data: batch() }))
		const to = contractAddress as Address
		const all = await openOn(node, alice, 'all')
		const data: Hex = `0x${wordOf(BigInt(many))}${wordOf(alice)}`
		const hash = await node.send({ from: stranger, to, data, gas: 15_000_000_000n })
		expect((await node.receipt(hash)).status).toBe('0x1')
		await all.settle()
		const alerts = (await all.posted()).map(alertOf)
		expect(alerts).toHaveLength(100)
		expect(alerts[99]).toMatchObject({ id: `31337:${hash}:log_0_99:token:${alice}`, more: many - 100 })
	})
})

test('behavior: junk in front of a transfer of an unlisted token does not hide it', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const [stranger, alice, bob] = (await node.accounts()) as [Address, Address, Address]
	const deploy = async (data: Hex) =>
		(await node.receipt(await node.send({ from: stranger, data }))).contractAddress as Address
	const [junk, real, sent] = [await deploy(flood()), await deploy(erc20('REAL', 18)), await deploy(erc20('SENT', 18))]
	await node.receipt(await node.send({ from: stranger, to: sent, data: mintOf(alice) }))
	const all = await openOn(node, alice, 'all')
	// A hundred contracts that each log one payment by alice.
	const forger = await deploy(liar())
	const code = await node.rpc('eth_getCode', [forger, 'latest'])
	const forgers = Array.from(
		{ length: 101 },
		(_, at) => `0x${(at + 1_000_000).toString(16).padStart(40, '0')}` as Address,
	)
	for (const each of forgers) await node.rpc('anvil_setCode', [each, code])
	await node.automine(false)
	const gas = 5_000_000n
	await node.send({ from: stranger, to: junk, data: `0x${wordOf(100n)}${wordOf(alice)}`, gas })
	const incoming = await node.send({ from: stranger, to: real, data: mintOf(alice), gas })
	await node.mine(1)
	const forged = lie([transferTopic, `0x${wordOf(alice)}`, `0x${wordOf(bob)}`], `0x${wordOf(7n)}`)
	for (const each of forgers) await node.send({ from: stranger, to: each, data: forged, gas: 100_000n })
	const outgoing = await node.send({
		from: alice,
		to: sent,
		data: callOf('transfer(address,uint256)', bob, 3n),
		gas: 200_000n,
	})
	await node.mine(1)
	await all.settle()
	const told = (await all.posted()).map(alertOf)
	const [first, second] = [told.slice(0, 100), told.slice(100)]
	expect(first.at(-1)).toMatchObject({ txHash: incoming, more: 1, moreContracts: [toChecksum(junk)] })
	expect(second).toHaveLength(100)
	expect(second.at(-1)).toMatchObject({ txHash: outgoing, direction: 'out', more: 2 })
	// The two that got no alert of their own.
	expect(second.at(-1)?.moreContracts).toEqual(forgers.slice(99).map(toChecksum))
	// Reading the same chain once more chooses the same.
	const again = await openOn(node, alice, 'all')
	again.setWatches([watchOf(alice, { kinds: ['transfer', 'token'], tokens: 'all', label: 'Treasury', fromBlock: 1n })])
	await again.settle()
	const ids = (await again.posted()).map((one) => alertOf(one).id)
	expect(ids.filter((id) => told.some((one) => one.id === id))).toEqual(told.map(({ id }) => id))
	expect(ids.length).toBeLessThanOrEqual(told.length + 1)
})

test('behavior: a token whose contract is gone, or never answers, is reported by its address', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const [stranger, alice] = (await node.accounts()) as [Address, Address]
	const deploy = async (data: Hex) =>
		(await node.receipt(await node.send({ from: stranger, data }))).contractAddress as Address
	const [gone, endless] = [await deploy(flood()), await deploy(erc20('USDC', 6))]
	const all = await openOn(node, alice, 'all')
	const to = (count: bigint): Hex => `0x${wordOf(count)}${wordOf(alice)}`
	await node.receipt(await node.send({ from: stranger, to: gone, data: to(1n) }))
	await node.rpc('anvil_setCode', [gone, '0x'])
	// A loop without an end is what `symbol` runs into, as far as its gas goes.
	await node.receipt(await node.send({ from: stranger, to: endless, data: mintOf(alice) }))
	await node.rpc('anvil_setCode', [endless, '0x5b600056'])
	await all.settle()
	const lines = (await all.posted()).map(({ message }) =>
		headline(message).replaceAll(/0x[0-9a-fA-F]{4}…[0-9a-fA-F]{4}/g, '0x…'),
	)
	expect(lines).toEqual([
		'[local] Treasury received 1 units of the unknown token 0x… from 0x…',
		'[local] Treasury received 5 units of the unknown token 0x…, newly made',
	])
})

/** What `symbol` and `decimals` run into. */
const hostile: Readonly<Record<string, Hex>> = {
	'a name of 150 kB': '0x620249f06000f3',
	'as many bytes as memory takes': '0x63ffffffff6000f3',
	'a length of 4 GB': '0x602060005263ffffffff60205260406000f3',
	'a place behind its end': '0x63ffffffff60005260406000f3',
	'a revert with words': '0x60206000fd',
	'no instruction': '0xfe',
	'a call to itself, for ever': '0x60006000600060006000305af1',
}

test('behavior: a contract with a hostile answer for its name: the transfer is reported, and soon', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const [stranger, alice] = (await node.accounts()) as [Address, Address]
	const all = await openOn(node, alice, 'all')
	for (const code of Object.values(hostile)) {
		const { contractAddress } = await node.receipt(await node.send({ from: stranger, data: erc20('USDC', 6) }))
		const to = contractAddress as Address
		await node.receipt(await node.send({ from: stranger, to, data: mintOf(alice) }))
		await node.rpc('anvil_setCode', [to, code])
	}
	await all.settle()
	const told = (await all.posted()).map(alertOf).map(({ token }) => [token?.symbol, token?.decimals, token?.amountRaw])
	expect(told).toHaveLength(Object.keys(hostile).length)
	for (const [symbol, decimals, amount] of told) {
		expect(symbol).toBeNull()
		// The first word of what it answers, whatever that is.
		expect([null, 0, 32]).toContain(decimals)
		expect(amount).toBe('5')
	}
})

const mintOf = (to: Address) => callOf('mint(address,uint256)', to, 5n)

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
