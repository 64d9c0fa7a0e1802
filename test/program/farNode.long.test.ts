// A node whose every answer is seconds away is slow, not ill: nothing that it is asked is given up before it can come.
import { expect, onTestFinished, test } from 'vitest'
import type { Hash } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { startStrained } from '../support/strained.js'
import { hookServer, settings, siteOf, stranger, told, treasury, vault, watchlist } from './site.js'

test('behavior: each answer is 2 s away, and 40 blocks are reported within some ten waits', async () => {
	const node = await startTestAnvil()
	const far = await startStrained(node.url, null)
	onTestFinished(async () => {
		await far.close()
		await node.stop()
	})
	const paid = Array.from({ length: 40 }, (_, at) => String(at + 1))
	let last = ''
	for (const wei of paid) {
		const tx = { from: Number(wei) % 2 === 0 ? stranger : treasury, to: vault, valueWei: BigInt(wei) }
		last = await node.send(tx)
		await node.receipt(last as Hash)
	}
	far.delayMs = 2_000
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(far.url, { hook: hook.origin }),
		'watchlists/a.yaml': watchlist([`{address: "${vault}", from_block: 1, kinds: [transfer]}`]),
	})
	const running = here.start(['run'])
	const alerts = () => told(hook.hits).map(({ type, data }) => `${type} ${data.valueWei}`)
	// Polls go on while what they found is delivered.
	await running.line(({ msg, alert }) => msg === 'alert' && String(alert).includes(last))
	const { waits } = far
	await expect.poll(() => alerts().length).toBeGreaterThanOrEqual(paid.length)
	expect(alerts()).toEqual(paid.map((wei) => `alert.transfer ${wei}`))
	// At rest 9 for the last; before, 20 waits had passed and nothing was sent.
	expect(waits).toBeLessThan(16)
})
