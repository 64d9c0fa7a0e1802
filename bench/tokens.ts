// What tokens cost besides the coin: calls and processor, near the head and catching up, on a chain whose every block
// moves tokens of a known contract.
import { openChain } from '../src/daemon/open.js'
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
	readonly native: Both
	readonly withTokens: Both
}

interface Both {
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
				const [native, withTokens] = [
					await walked(anvil.url, { span, addresses, how, known: null }),
					await walked(anvil.url, { span, addresses, how, known }),
				]
				const asked = how === 'near' ? NEAR_BLOCKS : blocks
				rows.push({ addresses, how, blocks: asked, transfers: withTokens.transfers, native, withTokens })
			}
		}
		return rows
	} finally {
		await anvil.stop()
	}
}

interface Walk {
	readonly span: Span
	readonly addresses: number
	readonly how: TokenCost['how']
	/** Null: the coin alone. */
	readonly known: KnownTokens | null
}

async function walked(url: string, { span, addresses, how, known }: Walk): Promise<Both & { transfers: number }> {
	const proxy = await startProxy(url)
	const network = { ...networkAt(proxy.url), ...(known !== null && { tokens: known }) }
	const { chain } = openChain(network, { clock: Date.now, log: quiet, areTokensAsked: () => known !== null })
	const index = watchIndex(watchedUpTo(addresses))
	let transfers = 0
	const walk = async (one: Span) => {
		for await (const part of chain.walk(one, index, never)) transfers += part.tokens?.length ?? 0
	}
	// What an endpoint is asked once, to get to know it, does not count.
	await chain.head(never)
	await walk({ from: span.to, to: span.to })
	proxy.take()
	transfers = 0
	const near = Array.from({ length: NEAR_BLOCKS }, (_, at) => span.to - BigInt(NEAR_BLOCKS - at))
	const { cpuMs } = await cost(async () => {
		if (how === 'catching') await walk(span)
		else for (const block of near) await walk({ from: block, to: block })
	})
	const exchanges = proxy.take()
	await chain.close()
	await proxy.close()
	return {
		calls: exchanges.reduce((sum, { methods }) => sum + methods.length, 0),
		answerBytes: exchanges.reduce((sum, { answer }) => sum + answer.length, 0),
		cpuMs,
		transfers,
	}
}
