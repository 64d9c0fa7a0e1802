// A contract of a stranger, or the node, answers badly when it is asked for a symbol, or whether an address has code:
// no alert is held up by more than a moment, the endpoint is read on, and nothing is invented.
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { type Dialect, startDialectGateway } from '../support/dialectGateway.js'
import { callOf, erc20 } from '../support/tokenContracts.js'
import { alertOf, openBench, watchOf } from './bench.js'

const word = (value: bigint) => value.toString(16).padStart(64, '0')
const never = new Promise<never>(() => {})
const tenMegabytes = `0x${word(32n)}${word(5_000_000n)}${'41'.repeat(5_000_000)}`

const answers: Readonly<
	Record<string, { readonly twist: NonNullable<Dialect['twist']>; readonly symbol: string | null }>
> = {
	'never comes': {
		twist: (method) => (method === 'eth_call' || method === 'eth_getCode' ? never : undefined),
		symbol: null,
	},
	'is 10 MB long': {
		twist: (method) => (method === 'eth_call' ? tenMegabytes : undefined),
		symbol: `${'A'.repeat(32)}…`,
	},
	'is no hex': { twist: (method) => (method === 'eth_call' ? { lie: true } : undefined), symbol: null },
	'is a lie': {
		twist: (method) => (method === 'eth_call' ? `0x${word(32n)}${word(4n)}${'55534443'.padEnd(64, '0')}` : undefined),
		symbol: 'USDC',
	},
}

test.each(Object.keys(answers))('behavior: an answer that %s holds up no one', async (name) => {
	const { twist = () => undefined, symbol = null } = answers[name] ?? {}
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const gateway = await startDialectGateway(node.url, { twist })
	onTestFinished(() => gateway.close())
	const [from, alice] = (await node.accounts()) as [Address, Address]
	const watches = [watchOf(alice, { kinds: ['transfer', 'token'], tokens: 'all' })]
	const bench = await openBench({ urls: [gateway.url], watches, books: false, timeoutMs: 600_000 })
	onTestFinished(() => bench.close())
	await bench.settle()
	const took: number[] = []
	for (let at = 0; at < 3; at++) {
		const { contractAddress } = await node.receipt(await node.send({ from, data: erc20(`SPAM${at}`, 6) }))
		const mint = callOf('mint(address,uint256)', alice, 5n)
		await node.receipt(await node.send({ from, to: contractAddress as Address, data: mint }))
		await node.receipt(await node.send({ from, to: alice, valueWei: 7n }))
		const startedAtMs = performance.now()
		await bench.settle()
		took.push(performance.now() - startedAtMs)
	}
	const alerts = (await bench.posted()).map(alertOf)
	expect(alerts.map(({ kind }) => kind)).toEqual(['token', 'transfer', 'token', 'transfer', 'token', 'transfer'])
	const told = alerts.flatMap(({ token }) => (token === undefined ? [] : [token]))
	expect(told.map((token) => [token.known, token.amountRaw])).toEqual(Array.from({ length: 3 }, () => [false, '5']))
	// Words are waited for at most 2 s. On a busy machine a long one may come too late: it is then left out, and so are
	// those of the next minute.
	for (const [at, token] of told.entries()) {
		const isLate = took.slice(0, at + 1).some((ms) => ms >= 2_000)
		expect(token.symbol).toBe(isLate && token.symbol === null ? null : symbol)
	}
	// Two seconds at most, and where that was without success not again: 2.0 s, then 0.1 s at rest.
	if (name === 'never comes') expect(Math.min(...took.slice(1)) * 3).toBeLessThan(took[0] ?? 0)
})
