// A stranger writes what he likes, as often as he can pay for: what reaches the receivers of it stays within bounds.
import { describe, expect, onTestFinished, test } from 'vitest'
import { assemble } from '../../src/devnode/assembler.js'
import { initOf } from '../../src/devnode/contracts.js'
import type { Address, Hex } from '../../src/model/glossary.js'
import type { TokenChoice } from '../../src/model/token.js'
import { headline } from '../../src/notify/text/sentence.js'
import { ether, startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { sized } from '../support/longRun.js'
import { callOf, erc20, flood, signatures, wordOf } from '../support/tokenContracts.js'
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
		timeoutMs: 120_000,
		maxBodyBytes: 2 ** 30,
	})
	onTestFinished(() => bench.close())
	await bench.settle()
	return bench
}

describe('a flood of transfers', () => {
	const many = sized(2_000, 100_000)

	test(`default: of ${many} in one block 100 are told, and the last says so`, { timeout: 300_000 }, async () => {
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
			`and ${many - 100} more transfers of unknown tokens or of nothing in this block, which are not told`,
		)
		expect((await known.posted()).map(alertOf).map(({ kind }) => kind)).toEqual(['transfer'])
		if (many <= 2_000) {
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

test('behavior: a token whose contract is gone, or never answers, is told by its address', async () => {
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

test('behavior: whatever a contract answers when asked for its name, the transfer is told, and soon', async () => {
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
	const startMs = Date.now()
	await all.settle()
	const told = (await all.posted()).map(alertOf).map(({ token }) => [token?.symbol, token?.decimals, token?.amountRaw])
	expect(told).toHaveLength(Object.keys(hostile).length)
	for (const [symbol, decimals, amount] of told) {
		expect(symbol).toBeNull()
		// The first word of what it answers, whatever that is.
		expect([null, 0, 32]).toContain(decimals)
		expect(amount).toBe('5')
	}
	// All are asked at once, and nobody waits longer than two seconds; 0.3 s at rest.
	expect(Date.now() - startMs).toBeLessThan(20_000)
})

const mintOf = (to: Address) => callOf('mint(address,uint256)', to, 5n)
