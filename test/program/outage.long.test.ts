// A receiver that refuses connections: `status`, the page and /healthz say so, and its fallback is told once.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { segmentFiles } from '../state/file/folder.js'
import { startTestAnvil } from '../support/anvil.js'
import { freePort } from '../support/freePort.js'
import { startHookServer } from '../support/hookServer.js'
import { preload } from '../support/preload.js'
import type { Running } from '../support/program.js'
import { hookServer, inProcess, other, polled, settings, siteOf, told, treasury, watchlist } from './site.js'

const minuteMs = 60_000

async function origin(running: Running): Promise<string> {
	const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
	return `http://127.0.0.1:${String(port)}`
}

test('error: a receiver that refuses connections', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const desk = await hookServer()
	const port = await freePort()
	const rpc = settings(node.url, { hook: `http://127.0.0.1:${port}`, desk: desk.origin }, 'http: 127.0.0.1:0\n')
	const here = siteOf({
		'tracewatch.yaml': rpc.replace('  - name: desk', '    fallback: desk\n  - name: desk'),
		'watchlists/a.yaml': watchlist([`{address: ${treasury}, kinds: [transfer]}`]),
		clock: '0',
	})
	const env = { ...preload('setClock'), SET_CLOCK: join(here.folder, 'clock') }
	const status = async () => JSON.parse((await inProcess(here).run(['status', '--json'])).stdout)
	const first = here.start(['run'], env)
	await polled(first)
	await node.send({ from: other, to: treasury, valueWei: 1n })

	// Within seconds.
	const failed = async () => (await status()).receivers[0].failedAttempts
	await expect.poll(failed).toBeGreaterThan(1)
	expect((await inProcess(here).run(['status'])).stdout).toMatch(/hook: 1 pending \(IT FAILS: the first was tried /)
	expect(await (await fetch(`${await origin(first)}/`)).text()).toMatch(/hook[\s\S]*retrying/)
	expect((await fetch(`${await origin(first)}/healthz`)).status).toBe(200)
	const journal = () =>
		segmentFiles(join(here.folder, 'state'))
			.map((path) => readFileSync(path, 'utf8'))
			.join('')
	await expect.poll(journal).toContain('"announced":false')
	await first.stop('SIGKILL')
	expect(desk.hits).toHaveLength(0)

	// Six minutes later, after a kill.
	here.write('clock', String(6 * minuteMs))
	const second = here.start(['run'], env)
	await desk.until(1)
	expect(told(desk.hits)[0]).toMatchObject({
		type: 'system.undelivered',
		data: { receiver: 'hook', state: 'failing', count: 1, reason: expect.stringContaining('refused') },
	})
	await expect.poll(journal).toContain('"announced":true')
	await second.stop('SIGKILL')

	// An hour later it still fails: nothing is told twice, and health says what is wrong.
	here.write('clock', String(66 * minuteMs))
	const third = here.start(['run'], env)
	await expect.poll(failed).toBeGreaterThan(2)
	const hook = await startHookServer(port)
	onTestFinished(() => hook.close())
	await hook.until(1)
	await desk.until((hits) => told(hits).some(({ type }) => type === 'system.recovered'))
	// A kill may repeat a message, under the same id.
	const byId = new Map(desk.hits.map(({ id, body }) => [id, JSON.parse(body.toString('utf8'))]))
	const [, ended, ...others] = [...byId.values()]
	expect(ended).toMatchObject({ type: 'system.recovered', data: { ends: 'undelivered', state: 'failing' } })
	expect(others).toEqual([])
	expect((await fetch(`${await origin(third)}/healthz`)).status).toBe(200)
	await third.stop()
})
