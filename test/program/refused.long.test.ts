// A quota that is full, or a setting that is wrong: nothing is dead, all say so in the receiver's words, and once it
// accepts again everything goes out.
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { startMailServer } from '../support/mailServer.js'
import { hookServer, inProcess, other, polled, settings, siteOf, told, treasury, watchlist } from './site.js'

const words = 'Daily user sending limit exceeded'

test('behavior: a mail server whose quota is full refuses every alert', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const mail = await startMailServer()
	onTestFinished(() => mail.close())
	const desk = await hookServer()
	const receivers = [
		'  - {name: mail, type: email, fallback: desk, from: a@example.org, to: [b@example.org],',
		`     smtp: "smtp://${mail.host}"}`,
	]
	const config = settings(node.url, { desk: desk.origin }, 'http: 127.0.0.1:0\n')
	const here = siteOf({
		'tracewatch.yaml': config.replace('receivers:\n', `receivers:\n${receivers.join('\n')}\n`),
		'watchlists/a.yaml': watchlist([`{address: ${treasury}, kinds: [transfer]}`], 'mail'),
	})
	const first = here.start(['run'])
	await polled(first)
	// It has accepted a mail just before.
	await node.send({ from: other, to: treasury, valueWei: 9n })
	await mail.until((mails) => mails.some(({ acknowledged }) => acknowledged))
	mail.answer = (phase) => (phase === 'data' ? `550 5.4.5 ${words}` : null)
	for (const valueWei of [1n, 2n, 3n, 4n]) await node.send({ from: other, to: treasury, valueWei })
	const insteadOf = () => told(desk.hits).filter(({ data }) => data.insteadOf === 'mail')
	await desk.until(() => insteadOf().length === 4)
	const { port } = await first.line(({ msg }) => msg === 'metrics and health are served')
	const health = await fetch(`http://127.0.0.1:${String(port)}/healthz`)
	expect([health.status, await health.text()]).toEqual([503, expect.stringContaining(words)])
	expect(await (await fetch(`http://127.0.0.1:${String(port)}/`)).text()).toContain(words)
	await first.stop('SIGKILL')

	// `once` by a timer tries at most one mail, and says that all is not well.
	const before = mail.mails.length
	for (const _ of [1, 2]) await inProcess(here).run(['once'])
	expect(mail.mails.length - before).toBeLessThan(2)
	const status = await inProcess(here).run(['status'])
	expect([status.code, status.stdout]).toEqual([1, expect.stringContaining(words)])
	expect(status.stdout).not.toContain('well\n')
	const json = JSON.parse((await inProcess(here).run(['status', '--json'])).stdout)
	expect(json.receivers.find(({ receiver }: { receiver: string }) => receiver === 'mail')).toMatchObject({ dead: 0 })

	mail.answer = () => null
	const second = here.start(['run'])
	const values = () => new Set(mail.mails.flatMap(({ acknowledged, messageId }) => (acknowledged ? messageId : [])))
	await mail.until(() => values().size === 5)
	await desk.until((hits) => told(hits).some(({ type }) => type === 'system.recovered'))
	await second.stop()
	expect((await inProcess(here).run(['status'])).code).toBe(0)
	expect(new Set(insteadOf().map(({ data }) => data.id)).size).toBe(4)
	expect(new Set(desk.hits.map(({ id }) => id)).size).toBe(6)
})
