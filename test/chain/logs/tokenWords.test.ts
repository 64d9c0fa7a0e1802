import * as AbiParameters from 'ox/AbiParameters'
import { expect, onTestFinished, test } from 'vitest'
import { createEndpoints } from '../../../src/chain/endpoints/endpoints.js'
import { createContracts } from '../../../src/chain/logs/contracts.js'
import { decimalsIn, symbolIn } from '../../../src/chain/logs/tokenWords.js'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import type { Address } from '../../../src/model/glossary.js'
import { startTestAnvil } from '../../support/anvil.js'
import { never } from '../../support/pool.js'
import { silent } from '../../support/silent.js'
import { standingClock } from '../../support/standingClock.js'

const asText = (text: string) => AbiParameters.encode([{ type: 'string' }], [text])
const asBytes = (text: string) => `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`

test.each([
	['text', asText('USDC'), 'USDC'],
	['32 bytes, as MKR', asBytes('MKR'), 'MKR'],
	['nothing', '0x', null],
	['an empty text', asText(''), null],
	['zeros', `0x${'0'.repeat(64)}`, null],
	['Armenian letters that look like US', asText('\u054d\u054fDC'), '\\u{54d}\\u{54f}DC'],
	['a Cyrillic letter', asText('USD\u0421'), 'USD\\u{421}'],
	['a Roman numeral', asText('\u216eAI'), '\\u{216e}AI'],
	['what turns the direction round', asText('US\u202eDC'), 'USDC'],
	['what nobody sees', asText('U\u200bS\u2060D\u0000C'), 'USDC'],
	['lines and controls', asText('US\n\u0007DC\u009b'), 'US DC'],
	['an address of the web', asText('go to gift.io'), 'go to gift[.]io'],
	['a URL', asText('https://a.b.io/c'), 'https[://]a.b[.]io/c'],
	['one that would end its quotes', asText('A" \\'), 'A\\u{22} \\u{5c}'],
	['a bridged one', asText('USDC.e'), 'USDC.e'],
	['a long one', asText('A'.repeat(100)), `${'A'.repeat(32)}…`],
	['a long one of others, never half a number', asText('\u0421'.repeat(40)), `${'\\u{421}'.repeat(9)}…`],
	[
		'letters of five digits',
		asText('\u{1d414}\u{1d412}\u{1d403}\u{1d402}'),
		'\\u{1d414}\\u{1d412}\\u{1d403}\\u{1d402}',
	],
	['broken UTF-8', `${asText('ab').slice(0, 130)}ff61${'0'.repeat(60)}`, '\\u{fffd}a'],
	['a place beyond the answer', `0x${'f'.repeat(128)}`, null],
	['a length beyond the answer', `0x${'20'.padStart(64, '0')}${'f'.repeat(64)}`, null],
	['not whole bytes', '0x123', null],
	['no text at all', { symbol: 'USDC' }, null],
])('symbol: %s', (_, answer, expected) => {
	expect(symbolIn(answer)).toBe(expected)
})

test.each([
	['6', `0x${'6'.padStart(64, '0')}`, 6],
	['78', `0x${'4e'.padStart(64, '0')}`, 78],
	['79', `0x${'4f'.padStart(64, '0')}`, null],
	['as many as can be', `0x${'f'.repeat(64)}`, null],
	['nothing', '0x', null],
	['too short', '0x06', null],
])('decimals: %s', (_, answer, expected) => {
	expect(decimalsIn(answer)).toBe(expected)
})

test.each(['Too many requests', 'Monthly capacity limit exceeded', 'batch limit exceeded'])(
	'error: a token that reverts with "%s" is answered at once and slows nothing else',
	async (said) => {
		const node = await startTestAnvil()
		const requests: string[] = []
		const rpc = createRpc({ url: node.url, onRequest: ({ method, result }) => requests.push(`${method} ${result}`) })
		onTestFinished(async () => {
			await rpc.close()
			await node.stop()
		})
		const spam: Address = `0x${'5a'.repeat(20)}`
		const reason = `0x08c379a0${AbiParameters.encode([{ type: 'string' }], [said]).slice(2)}`
		// CODECOPY of the 100 bytes after these 12, then REVERT with them.
		await node.rpc('anvil_setCode', [spam, `0x6064600c60003960646000fd${reason.slice(2)}`])
		const endpoints = createEndpoints({ rpcs: [rpc], chainId: 31337, clock: standingClock, log: silent })
		const contracts = createContracts({ endpoints, isPrivate: false })
		const words = await contracts.tokenWords(new Set([spam]), never)
		expect(words.get(spam)).toEqual({ symbol: null, decimals: null })
		expect(requests).toEqual(['eth_chainId ok', 'eth_call bad-params'])
		expect(rpc.limits.batch.now()).toBe(100)
		expect(rpc.limits.speed.refusedInRow()).toBe(0)
	},
)
