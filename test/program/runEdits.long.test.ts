import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import {
	hookServer,
	inProcess,
	other,
	polled,
	settings,
	siteOf,
	stranger,
	told,
	treasury,
	vault,
	watchlist,
} from './site.js'

let node: TestAnvil

beforeAll(async () => {
	node = await startTestAnvil()
})

afterAll(() => node.stop())

describe('edits beside a running daemon', () => {
	test('behavior: an edited file of addresses takes effect by itself, also one that was wrong at first', async () => {
		const hook = await hookServer()
		const lists = (files: string) => `network: local\nreceivers: [hook]\naddresses_from: ${files}\n`
		const here = siteOf({
			'tracewatch.yaml': settings(node.url, { hook: hook.origin }),
			'watchlists/a.yaml': lists('one.csv'),
			'watchlists/one.csv': `${treasury},Treasury\n`,
		})
		const running = here.start(['run'])
		await polled(running)
		here.write('watchlists/two.csv', '0x12\n')
		here.write('watchlists/a.yaml', lists('[one.csv, two.csv]'))
		const wrong = await running.line(({ level, msg }) => level === 'error' && msg.includes('watchlists'))
		expect(wrong.msg).toContain('watchlists/two.csv:1:1: ')
		here.write('watchlists/two.csv', `address,tags,label\n${stranger},new,Stranger\n`)
		await running.line(({ msg, addresses, watched }) => msg === 'coverage changed' && addresses === 1 && watched === 2)
		await node.send({ from: other, to: stranger, valueWei: 4n })
		await hook.until(3)
		expect(told(hook.hits).map(({ type, data }) => data.ends ?? type)).toEqual([
			'system.refused',
			'refused',
			'alert.transfer',
		])
		expect(told(hook.hits)[2].data).toMatchObject({
			valueWei: '4',
			watch: { label: 'Stranger', tags: ['new'], watchlist: 'a.yaml' },
		})
		expect((await running.stop()).code).toBe(0)
	})

	test('behavior: an edited tracewatch.yaml changes nothing until a restart, and all places say so', async () => {
		const hook = await hookServer()
		const text = settings(node.url, { hook: hook.origin }, 'http: 127.0.0.1:0\n')
		const here = siteOf({ 'tracewatch.yaml': text, 'watchlists/a.yaml': watchlist([`{address: ${vault}}`]) })
		const running = here.start(['run'])
		const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
		await polled(running)
		const words = 'configuration changed on disk: run `tracewatch check`, then restart'
		const url = `http://127.0.0.1:${String(port)}`
		const found = async () => {
			const status = await inProcess(here).run(['status'])
			const health = await fetch(`${url}/healthz`)
			const { reason } = (await health.json()) as { readonly reason: string | null }
			const page = await (await fetch(url)).text()
			const says = [status.stdout, reason ?? '', page].map((each) => each.replaceAll('&#96;', '`').includes(words))
			// It is no fault.
			expect([status.code, health.status, page.includes('Watching normally')]).toEqual([0, 200, true])
			return says
		}
		expect(await found()).toEqual([false, false, false])
		here.write('tracewatch.yaml', `${text}history: 30d\n`)
		const line = await running.line(({ msg }) => msg === words)
		expect(line).toMatchObject({ level: 'warn', file: join(here.folder, 'tracewatch.yaml') })
		expect(await found()).toEqual([true, true, true])
		await node.send({ from: treasury, to: vault, valueWei: 4n })
		await hook.until(1)
		// Undone, it is no change.
		here.write('tracewatch.yaml', text)
		await expect.poll(found).toEqual([false, false, false])
		expect((await running.stop()).code).toBe(0)
	})
})
