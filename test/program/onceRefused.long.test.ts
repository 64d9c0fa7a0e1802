import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { startMailServer } from '../support/mailServer.js'
import { hookServer, inProcess, other, settings, siteOf, treasury, watchlist } from './site.js'

test('error: `once` ends and keeps each alert, however receivers refuse and fail from run to run', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const mail = await startMailServer()
	onTestFinished(() => mail.close())
	const hook = await hookServer()
	const receivers = `receivers:
  - {name: mail, type: email, from: a@example.org, to: [b@example.org], smtp: "smtp://${mail.host}"}
`
	const here = inProcess(
		siteOf({
			'tracewatch.yaml': settings(node.url, { hook: hook.origin }).replace('receivers:\n', receivers),
			'watchlists/a.yaml': watchlist([`{address: ${treasury}, kinds: [transfer]}`], 'mail, hook'),
		}),
	)
	await here.run(['once'])
	const phases = ['connect', 'login', 'sender', 'recipient', 'data']
	const statuses = [400, 401, 410, 500, 302]
	for (const [at, status] of statuses.entries()) {
		hook.answer = () => ({ status, headers: {}, body: 'no' })
		const code = at % 2 === 0 ? '550 5.0.0' : '450 4.0.0'
		mail.answer = (phase) => (phase === phases[at] ? `${code} no` : null)
		await node.send({ from: other, to: treasury, valueWei: BigInt(at + 1) })
		await here.run(['once'])
		await here.run(['deliveries', 'retry', '--all'])
	}
	hook.answer = () => 204
	mail.answer = () => null
	// What one accepted message frees is due in the next run.
	for (let run = 0; run < 2; run += 1) expect((await here.run(['once'])).code).toBe(0)
	const { receivers: rows } = JSON.parse((await here.run(['status', '--json'])).stdout)
	expect(rows.map(({ pending, dead }: Record<string, number>) => [pending, dead])).toEqual([
		[0, 0],
		[0, 0],
	])
})
