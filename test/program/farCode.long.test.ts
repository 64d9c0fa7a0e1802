// Strangers call one watched contract 150 times, on a node that is 300 ms away: the `code` of others is not held up.
import { onTestFinished, test } from 'vitest'
import type { Address, Hex } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { assemble } from '../support/assembler.js'
import { expectBelow, soaked } from '../support/soak.js'
import { startStrained } from '../support/strained.js'
import { other, startWatching, told, watchlist } from './site.js'

const at = (n: number): Address => `0x${(0xc0de000000 + n).toString(16).padStart(40, '0')}`
const [router, helper] = [at(1), at(2)]
const safes = Array.from({ length: 20 }, (_, n) => at(100 + n))
/** Runs the code that the first 20 bytes of its input name. */
const runs = assemble(`20 CALLDATASIZE SUB 20 0 CALLDATACOPY
	0 0 20 CALLDATASIZE SUB 0 0 CALLDATALOAD 96 SHR GAS DELEGATECALL STOP`)

/** Measured on two idle cores: 5.1 s alone, 6.8 s beside 150 calls; a second of it is the schedule's. */
const rows = soaked(
	[{ calls: 150, boundMs: 10_000 }],
	[
		{ calls: 0, boundMs: 6_000 },
		{ calls: 150, boundMs: 10_000 },
	],
)

test.for(rows)(
	'behavior: 20 contracts run foreign code, 300 ms away, beside $calls calls of another: all are reported',
	async ({ calls, boundMs }) => {
		const node = await startTestAnvil()
		onTestFinished(() => node.stop())
		for (const contract of [router, ...safes]) await node.rpc('anvil_setCode', [contract, runs])
		await node.rpc('anvil_setCode', [helper, assemble('7 0 CALLDATALOAD SSTORE STOP')])
		await node.mine(2)
		const far = await startStrained(node.url, null)
		onTestFinished(() => far.close())
		far.delayMs = 300
		const watches = [router, ...safes].map((address) => `{address: "${address}", kinds: [code]}`)
		const { hook } = await startWatching(far.url, { 'watchlists/a.yaml': watchlist(watches) })
		const data = (nth: number): Hex => `${helper}${nth.toString(16).padStart(64, '0')}`
		await node.automine(false)
		for (let nth = 0; nth < calls; nth++) await node.send({ from: other, to: router, data: data(nth), gas: 100_000n })
		for (const to of safes) await node.send({ from: other, to, data: data(1), gas: 100_000n })
		await node.mine(1)
		const minedMs = Date.now()
		const reported = () =>
			new Set(told(hook.hits).map(({ data: alert }) => String(alert?.watch?.address).toLowerCase()))
		await hook.until(() => safes.every((safe) => reported().has(safe)))
		expectBelow(Date.now() - minedMs, boundMs, `ms until 20 alerts beside ${calls} calls`)
	},
)
