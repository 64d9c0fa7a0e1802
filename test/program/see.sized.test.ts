// What a person sees with: explain, doctor, replay.

import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ether, startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { noTraces } from '../support/dialectTable.js'
import { type FaultProxy, startFaultProxy } from '../support/faultProxy.js'
import { describeOnce, inFull, testInFull, testOnce } from '../support/longRun.js'
import { openSite, type Site } from '../support/program.js'
import { createAddress, encodeActions, puppetInit } from '../support/puppet.js'
import { inProcess, other, settings, siteOf, stranger, treasury, vault, watchlist } from './site.js'

let node: TestAnvil
let proxy: FaultProxy
/** Providers have the key in the path. */
let rpc: string
let site: Site
const puppet = createAddress(other, 0n)

/** Of a test's own. */
const siteWith = (files: Readonly<Record<string, string>>) => inProcess(siteOf(files))

beforeAll(async () => {
	node = await startTestAnvil()
	proxy = await startFaultProxy(node.url)
	rpc = `${proxy.url}/KEYq7XthatZ9mustN0tK2show/evm`
	site = inProcess(
		openSite({
			'tracewatch.yaml': settings(rpc, { hook: 'http://127.0.0.1:9/x' }),
			'watchlists/a.yaml': watchlist([
				`{address: ${treasury}, label: Treasury, min_value: 2 wei}`,
				`{address: ${vault}, label: Vault, direction: out}`,
			]),
		}),
	)
	await node.receipt(await node.send({ from: other, data: puppetInit }))
})

afterAll(async () => {
	await site.close()
	await proxy.close()
	await node.stop()
})

describe('tracewatch explain', () => {
	testOnce('says of each frame whether it counts, and why or why not', async () => {
		const data = encodeActions([
			{ do: 'call', to: treasury, valueWei: 5n, bubble: true },
			{ do: 'call', to: treasury, valueWei: 1n, bubble: true },
			{ do: 'call', to: vault, valueWei: 3n, bubble: true },
			{ do: 'call', to: stranger, valueWei: 4n, bubble: true },
			{ do: 'delegatecall', to: puppet, inner: [], bubble: true },
			{
				do: 'call',
				to: puppet,
				valueWei: 6n,
				inner: [{ do: 'call', to: treasury, valueWei: 6n, bubble: true }, { do: 'revert' }],
			},
		])
		const hash = await node.send({ from: other, to: puppet, valueWei: 100n, data, gas: 2_000_000n })
		const { stdout, code, stderr } = await site.run(['explain', hash])
		expect(stderr).toBe('')
		expect(code).toBe(0)
		const verdicts = stdout.split('\n').filter((line) => /^[│ ]*[*-] /.test(line.trimStart()) || / [*-] /.test(line))
		expect(verdicts.map((line) => line.replace(/^[│├└─ ]+/, ''))).toEqual([
			'- counts, but neither side is watched',
			'* counts for Treasury (a.yaml): transfer, in → hook',
			'- no alert for Treasury (a.yaml): below its min_value',
			'- no alert for Vault (a.yaml): the other direction is watched',
			'- counts, but neither side is watched',
			'- does not count: this kind of call moves no coins, whatever value it shows',
			'- does not count: it failed',
			'- does not count: it stands under a call that failed, so it was undone',
		])
	})

	testInFull('behavior: explain names who authorised whose code, whether that held, and for which watch', async () => {
		// Accounts 0 and 7 of Anvil's usual mnemonic.
		const sponsor = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
		const owner = privateKeyToAccount('0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356')
		const chain = siteWith({
			'tracewatch.yaml': settings(rpc, { hook: 'http://127.0.0.1:9/x' }),
			'watchlists/a.yaml': watchlist([`{address: "${owner.address}", label: Cold}`]),
		})
		const nonceOf = async (address: string) =>
			Number(BigInt(await node.rpc<string>('eth_getTransactionCount', [address, 'latest'])))
		const nonce = await nonceOf(owner.address)
		const chainId = Number(BigInt(await node.rpc<string>('eth_chainId', [])))
		const sign = (more: number) => owner.signAuthorization({ contractAddress: stranger, chainId, nonce: nonce + more })
		const raw = await sponsor.signTransaction({
			type: 'eip7702',
			chainId,
			nonce: await nonceOf(sponsor.address),
			gas: 500_000n,
			maxFeePerGas: 10n ** 11n,
			maxPriorityFeePerGas: 1n,
			to: stranger,
			authorizationList: [await sign(0), await sign(7)],
		})
		const hash = await node.rpc<string>('eth_sendRawTransaction', [raw])
		const { stdout, stderr } = await chain.run(['explain', hash])
		expect(stderr).toBe('')
		expect(stdout).toContain(`nonce ${nonce})\n   * counts for Cold (a.yaml): delegation, if the code changed → hook`)
		expect(stdout).toContain(`nonce ${nonce + 7})\n   - no alert for Cold (a.yaml): it did not hold`)
	})

	testInFull('behavior: a failed transaction shows its reason', async () => {
		const word = (n: number) => n.toString(16).padStart(64, '0')
		const text = Buffer.from('no funds today').toString('hex').padEnd(64, '0')
		// Code that reverts with what it is called with: copies its calldata and reverts.
		const echo = `0x600a600c600039600a6000f3366000600037366000fd`
		const deploy = await node.send({ from: other, data: echo })
		const { contractAddress } = await node.receipt(deploy)
		if (contractAddress === null) throw new Error('no contract')
		const data = `0x08c379a0${word(32)}${word(14)}${text}`
		const hash = await node.send({ from: other, to: contractAddress, data, gas: 100_000n })
		const { stdout, code } = await site.run(['explain', hash])
		expect(code).toBe(0)
		expect(stdout).toContain('failed in block')
		expect(stdout).toContain('reason: "no funds today"')
	})

	testOnce('error: an argument that is no transaction is refused', async () => {
		expect((await site.run(['explain', '0x12'])).code).toBe(2)
		const ofAlert = await site.run(['explain', `31337:5:below:balance:0x${'ab'.repeat(20)}`])
		expect([ofAlert.code, ofAlert.stderr]).toEqual([2, expect.stringContaining('that of an alert is its `txHash`')])
		const { code, stderr } = await site.run(['explain', `0x${'ab'.repeat(32)}`])
		expect(code).toBe(1)
		expect(stderr).toContain('no mined transaction')
	})

	inFull(() => {
		test('behavior: a node with debug methods only will do', async () => {
			const geth = await startDialectGateway(rpc, { lacks: noTraces, clientVersion: 'Geth/v1.16.0' })
			onTestFinished(() => geth.close())
			const own = siteWith({
				'tracewatch.yaml': settings(geth.url, { hook: 'http://127.0.0.1:9/x' }),
				'watchlists/a.yaml': watchlist([`{address: ${treasury}, label: Treasury}`]),
			})
			const data = encodeActions([{ do: 'call', to: treasury, valueWei: 5n, bubble: true }])
			const hash = await node.send({ from: other, to: puppet, valueWei: 100n, data, gas: 2_000_000n })
			const { stdout, code } = await own.run(['explain', hash])
			expect(code).toBe(0)
			expect(stdout).toContain('* counts for Treasury (a.yaml): transfer, in → hook')
		})
	})
})

describe('tracewatch doctor', () => {
	testOnce('shows what the endpoint can do, by its host only', async () => {
		// Enough transactions to prove its answers by.
		for (const valueWei of [1n, 2n, 3n, 4n, ether])
			await node.receipt(await node.send({ from: treasury, to: vault, valueWei }))
		await node.mine(25)
		const { stdout, code } = await site.run(['doctor'])
		expect(code).toBe(0)
		expect(stdout).toContain('anvil/')
		expect(stdout).toContain('31337')
		expect(stdout).toMatch(/ots level +8/)
		expect(stdout).toMatch(/trace_filter yes/)
		expect(stdout).not.toContain('KEYq7XthatZ9mustN0tK2show')
		for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
	})

	testInFull('args: --json', async () => {
		const { stdout } = await site.run(['doctor', '--json'])
		const { networks } = JSON.parse(stdout)
		const seen = { otsLevel: 8, chainId: '31337', lists: 'either', trusted: true, source: 'trace_filter' }
		const contracts = { ask: 'together', by: 'hash' }
		expect(networks[0].endpoints[0]).toMatchObject({ ...seen, balances: 'together', contracts })
	})

	testOnce(
		'behavior: of a private network it asks nothing about an address; names the source that is used',
		async () => {
			const asked: string[] = []
			const ear = await startDialectGateway(rpc, { twist: (method) => void asked.push(method) })
			onTestFinished(() => ear.close())
			const hidden = siteWith({
				'tracewatch.yaml': settings(ear.url, { hook: 'http://127.0.0.1:9/x' }).replace(
					'    chain_id: 31337',
					'    chain_id: 31337\n    private: true',
				),
				'watchlists/a.yaml': watchlist([`{address: ${treasury}, kinds: [income]}`]),
			})
			const { stdout, code } = await hidden.run(['doctor', '--json'])
			expect(code).toBe(0)
			const [network] = JSON.parse(stdout).networks
			expect(network.untold).toMatch(/^`income` is found by books alone, .* its blocks name none: take `private` out/)
			expect(network.endpoints[0]).toMatchObject({ source: 'trace_block', trusted: true })
			expect(asked).toContain('trace_block')
			for (const method of ['trace_filter', 'trace_transaction']) expect(asked).not.toContain(method)
		},
	)

	inFull(() => {
		test('error: a source is forced that the endpoint has not got', async () => {
			const geth = await startDialectGateway(rpc, { lacks: noTraces, clientVersion: 'Geth/v1.16.0' })
			onTestFinished(() => geth.close())
			const forced = siteWith({
				'tracewatch.yaml': settings(geth.url, { hook: 'http://127.0.0.1:9/x' }).replace(
					'    chain_id: 31337',
					'    chain_id: 31337\n    source: trace_block',
				),
				'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
			})
			const { stdout, code } = await forced.run(['doctor'])
			expect(code).toBe(1)
			expect(stdout).toMatch(/trusted +no/)
			expect(stdout).toContain('`source: trace_block` is not what it can do')
		})
	})

	inFull(() => {
		test('error: an endpoint that is down, and one of another chain', async () => {
			const broken = siteWith({
				'tracewatch.yaml': settings('http://127.0.0.1:9/KEYq7XthatZ9mustN0tK2show', { hook: 'http://127.0.0.1:9/x' }),
				'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
			})
			const down = await broken.run(['doctor'])
			expect(down.code).toBe(75)
			expect(down.stdout).not.toContain('KEYq7XthatZ9mustN0tK2show')
			broken.write('tracewatch.yaml', settings(rpc, { hook: 'http://127.0.0.1:9/x' }).replace('31337', '1'))
			const wrong = await broken.run(['doctor'])
			expect(wrong.code).toBe(1)
			expect(wrong.stdout).toContain('chain 31337')
		})
	})
})

inFull(() => {
	test('tracewatch replay, args: --format json gives one envelope a line', async () => {
		const head = await node.head()
		const hash = await node.send({ from: vault, to: treasury, valueWei: 77n })
		const { stdout, code } = await site.run(['replay', '--from', String(head), '--to', 'latest', '--format', 'json'])
		expect(code).toBe(0)
		const found = stdout
			.trim()
			.split('\n')
			.map((line) => JSON.parse(line))
		const mine = found.filter(({ data }) => data.txHash === hash)
		expect(mine.map(({ type, data }) => [type, data.direction, data.valueWei])).toEqual([
			['alert.transfer', 'out', '77'],
			['alert.transfer', 'in', '77'],
		])
	})
})

describeOnce('without the secrets of the service', () => {
	test('status and deliveries read the state all the same; commands that need them say which are missing', async () => {
		const opened = siteWith({
			'tracewatch.yaml': settings(rpc, { hook: 'http://127.0.0.1:9/x' }),
			'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
		})
		await opened.run(['once'])
		const secretive = settings('${NODE_URL}', { hook: '${HOOK_URL}' })
		opened.write('tracewatch.yaml', secretive)
		const { stdout, code } = await opened.run(['status', '--json'])
		expect(code).toBe(0)
		expect(JSON.parse(stdout)).toMatchObject({
			networks: [{ network: 'local', chainId: 31337 }],
			receivers: [{ receiver: 'hook' }],
		})
		expect((await opened.run(['deliveries'])).code).toBe(0)
		const once = await opened.run(['once'])
		expect(once.code).toBe(78)
		expect(once.stderr).toContain('NODE_URL')
	})
})
