// Tokens in the settings and watchlists: what is read, and what gets what is wrong.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { ConfigError } from '../../src/errors.js'
import { temporaryFolder } from '../support/folder.js'

const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const dai = '0x6B175474E89094C44Da98b954EedeAC495271d0F'
const watched = '0x2222222222222222222222222222222222222222'
const lower = (address: string) => address.toLowerCase()

let folder: string
beforeEach(() => {
	folder = temporaryFolder()
	mkdirSync(join(folder, 'watchlists'))
})

function write(network: string, watch = '', chainId = 1): void {
	const settings = `networks:
  - name: ethereum
    chain_id: ${chainId}
    rpc: ["http://h"]
${network}receivers:
  - {name: hook, type: webhook, url: "http://h"}
`
	writeFileSync(join(folder, 'tracewatch.yaml'), settings)
	const watchlist = `network: ethereum\nreceivers: [hook]\nwatches:\n  - address: "${watched}"\n${watch}`
	writeFileSync(join(folder, 'watchlists/a.yaml'), watchlist)
}
const load = () => loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
const known = `    tokens:
      - {symbol: USDC, address: "${usdc}", decimals: 6, min_amount: "100.5"}
      - {symbol: DAI, address: "${dai}", decimals: 18}
`

async function problems(): Promise<readonly string[]> {
	try {
		await load()
		return []
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error
		return error.problems.map(({ file, line, message }) => `${file}:${line}: ${message}`)
	}
}

describe('the key `tokens` of networks and watches', () => {
	test('default: tokens by their address, amounts in the smallest unit; a watch says nothing', async () => {
		write(known)
		const { networks, watches } = await load()
		expect([...(networks[0]?.tokens ?? [])]).toEqual([
			[lower(usdc), { symbol: 'USDC', address: lower(usdc), decimals: 6, minAmountRaw: 100_500_000n }],
			[lower(dai), { symbol: 'DAI', address: lower(dai), decimals: 18, minAmountRaw: null }],
		])
		expect(watches.at(0)).not.toHaveProperty('tokens')
	})

	test('default: a network that names none', async () => {
		write('')
		expect((await load()).networks[0]).not.toHaveProperty('tokens')
	})

	test.each([
		['all', 'all'],
		['none', 'none'],
		['known', 'known'],
		[`[USDC, "${dai}"]`, new Set([lower(usdc), lower(dai)])],
		[`["0x${'12'.repeat(20)}"]`, new Set([`0x${'12'.repeat(20)}`])],
	])('behavior: a watch that says %s', async (written, choice) => {
		write(known, `    tokens: ${written}\n`)
		expect((await load()).watches.at(0)?.tokens).toEqual(choice)
	})

	test('behavior: `tokens` beside the watches holds for each watch without a `tokens` of its own', async () => {
		write(known, `  - {address: "0x${'3'.repeat(40)}", tokens: none}\ntokens: all\n`)
		expect([...(await load()).watches].map(({ tokens }) => tokens)).toEqual(['all', 'none'])
	})
})

describe('error:', () => {
	test.each([
		[
			'a token named twice',
			`    tokens: [{symbol: A, address: "${usdc}"}, {symbol: B, address: "${lower(usdc)}"}]\n`,
			'tracewatch.yaml:5: this token is named already; a network names a token once',
		],
		[
			'the coin of the chain',
			`    tokens: [{symbol: ETH, address: "0x${'f'.repeat(39)}e"}]\n`,
			'tracewatch.yaml:5: this contract shows the coin of the chain, which is reported as transfers: remove it',
		],
		[
			'an amount that is too fine',
			`    tokens: [{symbol: USDC, address: "${usdc}", decimals: 6, min_amount: "0.0000001"}]\n`,
			'tracewatch.yaml:5: `min_amount` has more digits after the point than the token, which has 6',
		],
		[
			'an amount with a unit',
			`    tokens: [{symbol: USDC, address: "${usdc}", decimals: 6, min_amount: 1 gwei}]\n`,
			'tracewatch.yaml:5: `min_amount` must be a number of whole tokens, such as 100 or 0.5',
		],
		[
			'an amount of very many digits',
			`    tokens: [{symbol: USDC, address: "${usdc}", decimals: 6, min_amount: "${'1'.repeat(300)}"}]\n`,
			'tracewatch.yaml:5: `min_amount` must be a number of whole tokens, such as 100 or 0.5',
		],
		['an unknown key', `    tokens: [{name: USDC, address: "${usdc}"}]\n`, 'tracewatch.yaml:5: unknown key `name`'],
	])('%s', async (_, network, message) => {
		write(network)
		expect((await problems()).join('\n')).toContain(message)
	})

	test.each([
		['[USDT]', 'an entry of `tokens` is not the symbol of a token of the network: `USDT`; did you mean `USDC`?'],
		['everything', '`tokens` must be known, all, none, or a list of symbols and addresses'],
		[`["${usdc.replace('A0b8', 'a0B8')}"]`, 'an entry of `tokens` has a wrong checksum'],
	])('a watch that says %s', async (written, message) => {
		write(known, `    tokens: ${written}\n`)
		expect((await problems()).join('\n')).toContain(message)
	})

	test('a symbol that two tokens have', async () => {
		write(`    tokens: [{symbol: A, address: "${usdc}"}, {symbol: A, address: "${dai}"}]\n`, '    tokens: [A]\n')
		expect((await problems()).join('\n')).toContain('names 2 tokens by the symbol `A`: write the address')
	})
})
