// A node whose every answer is far away is slow, not ill: nothing that it is asked is given up before it can come.
import { expect, onTestFinished, test } from 'vitest'
import type { Hash } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { smallFigures } from '../support/preload.js'
import { startStrained } from '../support/strained.js'
import { hookServer, settings, siteOf, stranger, told, treasury, vault, watchlist } from './site.js'

/** An answer 0.8 s away is to this program what one 2 s away is to its user: it waits 0.4 times as long for all. */
const env = smallFigures(
	[
		'usualAnswerMs=200,togetherMs=400,briefAnswerMs=1000,briefMs=3200',
		'walkWait.oneMs=1600,walkWait.firstMs=1400,walkWait.severalMs=1200,walkWait.eachMs=100',
		'otherMs=2000,waitMs.normal=12000,waitMs.short=1200,comingMs=1600',
	].join(),
)

test('behavior: each answer is 4 times as far as usual, and 40 blocks are reported within some ten waits', async () => {
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
	far.delayMs = 800
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(far.url, { hook: hook.origin }),
		'watchlists/a.yaml': watchlist([`{address: "${vault}", from_block: 1, kinds: [transfer]}`]),
	})
	const running = here.start(['run'], env)
	const alerts = () => told(hook.hits).map(({ type, data }) => `${type} ${data.valueWei}`)
	// Polls go on while what they found is delivered.
	await running.line(({ msg, alert }) => msg === 'alert' && String(alert).includes(last))
	const { waits } = far
	await expect.poll(() => alerts().length).toBeGreaterThanOrEqual(paid.length)
	expect(alerts()).toEqual(paid.map((wei) => `alert.transfer ${wei}`))
	// At rest 9 for the last; before, 20 waits had passed and nothing was sent.
	expect(waits).toBeLessThan(16)
})
