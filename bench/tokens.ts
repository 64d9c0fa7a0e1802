// What tokens cost besides the coin, near the head and catching up, by how logs are proved, on a chain whose every
// block moves tokens of a known contract.
import type { NetworkSettings } from '../src/config/settings/settings.js'
import { openChain } from '../src/daemon/openNetwork.js'
import type { Span } from '../src/model/chain.js'
import type { Address } from '../src/model/glossary.js'
import type { KnownTokens } from '../src/model/token.js'
import { callOf, erc20 } from '../test/support/tokenContracts.js'
import { cost } from './measure.js'
import { networkAt, quiet, watchIndex } from './ours.js'
import { startProxy } from './proxy.js'
import { mined, startChain, watched, watchedUpTo } from './seed.js'

export interface TokenCost {
	readonly addresses: number
	/** `near`: a block at a time; `catching`: all of them at once. */
	readonly how: 'near' | 'catching'
	readonly blocks: number
	readonly transfers: number
	readonly costs: Readonly<Record<Way, WalkCost>>
}

/** `off`: the coin alone; else with tokens, `witnessed`: with a second endpoint too. */
export type Way = 'off' | 'auto' | 'witnessed'

interface WalkCost {
	readonly calls: number
	readonly cpuMs: number
	readonly answerBytes: number
}

const never = new AbortController().signal
const PER_BLOCK = 20
const NEAR_BLOCKS = 30

export async function measureTokens(blocks: number): Promise<readonly TokenCost[]> {
	const anvil = await startChain()
	try {
		const [from = '0x'] = await anvil.accounts()
		const { contractAddress } = await mined(anvil, await anvil.send({ from, data: erc20('USD', 6) }))
		if (contractAddress === null) throw new Error('the token was not deployed')
		await anvil.automine(false)
		const first = (await anvil.head()) + 1n
		for (let block = 0; block < blocks; block += 1) {
			for (let at = 0; at < PER_BLOCK; at += 1) {
				// One of them to one of the first thousand who are watched.
				const to: Address = at === 0 ? watched((block * 7) % 1_000) : `0x${String(block * 20 + at).padStart(40, 'e')}`
				const data = callOf('mint(address,uint256)', to, 5n)
				await anvil.send({ from, to: contractAddress, data, gas: 200_000n })
			}
			await anvil.mine(1)
		}
		const span = { from: first, to: await anvil.head() }
		const known: KnownTokens = new Map([
			[contractAddress, { address: contractAddress, symbol: 'USD', decimals: 6, minAmountRaw: null }],
		])
		const rows: TokenCost[] = []
		for (const addresses of [1, 1_000, 100_000]) {
			for (const how of ['near', 'catching'] as const) {
				const walk = (way: Way) => walked(anvil.url, { span, addresses, how, known, way })
				const { transfers, ...auto } = await walk('auto')
				const costs = { off: await walk('off'), auto, witnessed: await walk('witnessed') }
				rows.push({ addresses, how, blocks: how === 'near' ? NEAR_BLOCKS : blocks, transfers, costs })
			}
		}
		return rows
	} finally {
		await anvil.stop()
	}
}

interface Moved {
	readonly transfers: number
}

interface Walk {
	readonly span: Span
	readonly addresses: number
	readonly how: TokenCost['how']
	readonly known: KnownTokens
	readonly way: Way
}

async function walked(url: string, { span, addresses, how, known, way }: Walk): Promise<WalkCost & Moved> {
	const proxies = [await startProxy(url), ...(way === 'witnessed' ? [await startProxy(url)] : [])]
	const network: NetworkSettings = {
		...networkAt(url),
		rpc: proxies.map((proxy) => proxy.url),
		tokens: known,
	}
	const tokensWanted = () => new Set(known.keys())
	const areTokensAsked = () => way !== 'off'
	const { chain } = openChain(network, { clock: Date.now, log: quiet, areTokensAsked, tokensWanted })
	const index = watchIndex(watchedUpTo(addresses))
	let transfers = 0
	const walk = async (one: Span) => {
		for await (const part of chain.walk(one, index, never)) transfers += part.tokens?.length ?? 0
	}
	// What an endpoint is asked once, to get to know it, does not count.
	await chain.head(never)
	await walk({ from: span.to, to: span.to })
	for (const proxy of proxies) proxy.take()
	transfers = 0
	const near = Array.from({ length: NEAR_BLOCKS }, (_, at) => span.to - BigInt(NEAR_BLOCKS - at))
	const { cpuMs } = await cost(async () => {
		if (how === 'catching') await walk(span)
		else for (const block of near) await walk({ from: block, to: block })
	})
	const exchanges = proxies.flatMap((proxy) => proxy.take())
	await chain.close()
	for (const proxy of proxies) await proxy.close()
	return {
		calls: exchanges.reduce((sum, { methods }) => sum + methods.length, 0),
		answerBytes: exchanges.reduce((sum, { answer }) => sum + answer.length, 0),
		cpuMs,
		transfers,
	}
}
