import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { freePort } from '../support/freePort.js'
import type { HookServer } from '../support/hookServer.js'
import { testInFull, testOnce } from '../support/longRun.js'
import {
	hookServer,
	inProcess,
	other,
	polled,
	settings,
	siteOf,
	startWatching,
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

const values = (hook: HookServer) => told(hook.hits).map(({ data }) => data.valueWei)

describe('tracewatch run', () => {
	testOnce('polls at once and on its schedule, delivers, and ends with 0 on SIGTERM', async () => {
		const { hook, running } = await startWatching(node.url, {
			'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
		})
		await node.send({ from: treasury, to: vault, valueWei: 1n })
		await hook.until(1)
		const { code, stdout } = await running.stop()
		expect(code).toBe(0)
		for (const line of stdout.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
	})

	testOnce(
		'behavior: an edited watchlist takes effect by itself; a wrong edit changes nothing and is sent',
		async () => {
			const { hook, here, running } = await startWatching(node.url, {
				'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
			})
			here.write('watchlists/a.yaml', watchlist([`{address: ${treasury}}`, `{address: ${stranger}, direction: in}`]))
			await running.line(
				({ msg, addresses, watched }) => msg === 'coverage changed' && addresses === 1 && watched === 2,
			)
			await node.send({ from: other, to: stranger, valueWei: 2n })
			await hook.until(1)

			here.write('watchlists/a.yaml', 'network: local\nwatches: [{address: 0x12}]\n')
			const wrong = await running.line(({ level, msg }) => level === 'error' && msg.includes('watchlists'))
			expect(wrong.msg).toContain('watchlists/a.yaml:2:')
			await hook.until(2)
			expect(told(hook.hits)[1].type).toBe('system.refused')
			await node.send({ from: treasury, to: other, valueWei: 3n })
			await hook.until(3)
			expect(values(hook)).toEqual(['2', undefined, '3'])

			here.write('watchlists/a.yaml', watchlist([`{address: ${treasury}}`]))
			await hook.until(4)
			expect(told(hook.hits)[3]).toMatchObject({
				type: 'system.recovered',
				data: { network: 'local', ends: 'refused' },
			})
			expect((await running.stop()).code).toBe(0)
		},
	)

	testInFull('behavior: SIGHUP reads the watchlists again', async () => {
		const { running } = await startWatching(node.url, {
			'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
		})
		running.process.kill('SIGHUP')
		await running.line(({ cause }) => cause === 'SIGHUP')
		expect((await running.stop()).code).toBe(0)
	})

	testInFull(
		'behavior: after kill -9 and downtime it catches up, reports nothing twice and loses nothing',
		async () => {
			const {
				hook,
				here,
				running: first,
			} = await startWatching(node.url, {
				'watchlists/a.yaml': watchlist([`{address: ${treasury}, direction: out}`]),
			})
			await node.send({ from: treasury, to: vault, valueWei: 41n })
			await hook.until(1)
			await first.stop('SIGKILL')
			await node.send({ from: treasury, to: vault, valueWei: 42n })
			await node.mine(5)
			await node.send({ from: treasury, to: vault, valueWei: 43n })
			const second = here.start(['run'])
			await hook.until((hits) => told(hits).some(({ data }) => data.valueWei === '43'))
			expect((await second.stop()).code).toBe(0)
			const ids = new Map(told(hook.hits).map(({ data }) => [data.deliveryId, data.valueWei]))
			expect([...ids.values()]).toEqual(['41', '42', '43'])
		},
	)

	testInFull('behavior: a dead receiver holds back neither the other nor the polling', async () => {
		const [live, dead] = [await hookServer(), `http://127.0.0.1:${await freePort()}`]
		const here = siteOf({
			'tracewatch.yaml': settings(node.url, { dead, hook: live.origin }),
			'watchlists/a.yaml': watchlist([`{address: ${treasury}, direction: out}`], 'dead, hook'),
		})
		const running = here.start(['run'])
		await polled(running)
		await node.send({ from: treasury, to: vault, valueWei: 51n })
		await live.until(1)
		await node.send({ from: treasury, to: vault, valueWei: 52n })
		await live.until(2)
		expect(values(live)).toEqual(['51', '52'])
		await running.stop()
		const { stdout } = await inProcess(here).run(['deliveries', 'list', '--json'])
		const pending = stdout
			.trim()
			.split('\n')
			.map((line) => JSON.parse(line))
		expect(pending.map(({ receiver, status, message }) => [receiver, status, message.data.valueWei])).toEqual([
			['dead', 'pending', '51'],
			['dead', 'pending', '52'],
		])
	})

	testInFull('error: two daemons cannot share a state folder', async () => {
		const { here, running: first } = await startWatching(node.url, {
			'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
		})
		const second = await here.run(['run'])
		expect(second.code).toBe(1)
		expect(second.stderr).toContain(join(here.folder, 'state'))
		expect((await first.stop()).code).toBe(0)
	})
})
