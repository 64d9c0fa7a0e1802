// How long the program takes to read a range of blocks, beside its own requests sent bare (nobody is faster), and
// beside the script that a user would write with viem.
import { Pool } from 'undici'
import { createPublicClient, http } from 'viem'
import { hex, openFolder, startHook, startProxy, watched } from './stage.js'

/** Passes its value on to the address in its call data: a payment inside a contract. */
const SPLITTER = '0x600f80600b6000396000f36000600060006000346000355af100'
const PER_BLOCK = 20

/** Blocks of 20 transactions, two of them to one of the first 1,000 watches each; every second payment is inner. */
async function seedBlocks(anvil, blocks) {
	const { contractAddress } = await anvil.send({ data: SPLITTER })
	await anvil.rpc('evm_setAutomine', false)
	const accounts = await anvil.rpc('eth_accounts')
	for (let block = 0; block < blocks; block += 1) {
		for (let at = 0; at < PER_BLOCK; at += 1) {
			const payee = watched(at < 2 ? (block * 7 + at * 13) % 1_000 : 10_000_000 + block * PER_BLOCK + at)
			const inner = { to: contractAddress, data: `0x${payee.slice(2).padStart(64, '0')}` }
			const tx = { from: accounts[at], value: '0x1', gas: hex(100_000), ...(at % 2 === 0 ? { to: payee } : inner) }
			await anvil.rpc('eth_sendTransaction', tx)
		}
		await anvil.rpc('evm_mine')
	}
	await anvil.rpc('evm_setAutomine', true)
}

export async function measureCatchUp(anvil, { blocks, addresses, delayMs = 0, withNaive = false }) {
	const list = Array.from({ length: addresses }, (_, index) => watched(index))
	const proxy = await startProxy(anvil.url, delayMs)
	const hook = await startHook()
	const folder = openFolder({ rpc: proxy.url, hook: hook.url, addresses: list })
	const once = async () => {
		const startedAtMs = performance.now()
		await folder.start('once').end()
		return performance.now() - startedAtMs
	}
	await once()
	const from = (await anvil.head()) + 1
	await seedBlocks(anvil, blocks)
	const to = await anvil.head()
	proxy.take()
	const wallMs = await once()
	const exchanges = proxy.take()
	const floor = async (lanes) => {
		const startedAtMs = performance.now()
		await replay(proxy.url, exchanges, lanes)
		return performance.now() - startedAtMs
	}
	const [floorMs, floorInFourMs] = [await floor(1), await floor(4)]
	let naiveMs = null
	if (withNaive) {
		const startedAtMs = performance.now()
		await naive(proxy.url, list, from, to)
		naiveMs = performance.now() - startedAtMs
	}
	folder.close()
	await proxy.close()
	hook.close()
	const calls = exchanges.reduce((sum, { methods }) => sum + methods.length, 0)
	// Without the start of the process and without deliveries, which the floor has not either.
	const oursMs = Math.max(...exchanges.map(({ toMs }) => toMs)) - Math.min(...exchanges.map(({ fromMs }) => fromMs))
	const rest = { wallMs, oursMs, floorMs, floorInFourMs, naiveMs }
	return { blocks, addresses, delayMs, alerts: hook.hits.length, requests: exchanges.length, calls, ...rest }
}

/** Sends recorded requests again, so many at a time, and parses every answer. */
async function replay(url, exchanges, lanes) {
	const pool = new Pool(url, { connections: lanes, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 })
	const queue = exchanges.values()
	const headers = { 'content-type': 'application/json' }
	const lane = async () => {
		for (const { request } of queue) {
			const { body } = await pool.request({ method: 'POST', path: '/', headers, body: request })
			await body.json()
		}
	}
	await Promise.all(Array.from({ length: lanes }, lane))
	await pool.destroy()
}

/** One address after the other, everything asked for that the alert should say. Anvil takes 300 blocks at once. */
async function naive(url, addresses, from, to) {
	const client = createPublicClient({ transport: http(url) })
	for (const address of addresses) {
		for (const side of ['fromAddress', 'toAddress']) {
			for (let first = from; first <= to; first += 250) {
				const filter = { fromBlock: hex(first), toBlock: hex(Math.min(to, first + 249)), [side]: [address] }
				const traces = await client.request({ method: 'trace_filter', params: [filter] })
				for (const { action, error, blockNumber } of traces)
					if (error === undefined && BigInt(action.value ?? 0) > 0n)
						await client.getBlock({ blockNumber: BigInt(blockNumber) })
			}
		}
	}
}
