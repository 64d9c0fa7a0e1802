// The program with its state in a database: commands, several instances, and the way between database and folder.
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openGate } from '../state/postgres/gate.js'
import { PASSWORD, startServer } from '../state/postgres/server.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { freePort } from '../support/freePort.js'
import { type HookServer, startHookServer } from '../support/hookServer.js'
import { smallFigures } from '../support/preload.js'
import type { Running, Site } from '../support/program.js'
import { soaked } from '../support/soak.js'
import { inProcess, settings, siteOf, stranger, told, treasury, vault, watchlist } from './site.js'

const server = await startServer()
let node: TestAnvil
let hook: HookServer
let count = 0
let url = ''

beforeAll(async () => {
	node = await startTestAnvil()
})

afterAll(async () => {
	await node.stop()
	await server?.stop()
})

beforeEach(async () => {
	url = (await server?.fresh(`program${count++}`)) ?? ''
	hook = await startHookServer()
	onTestFinished(() => hook.close())
})

/** Each instance in a folder of its own, as on a machine of its own. */
function site(more = ''): Site {
	return siteOf({
		'tracewatch.yaml': `${settings(node.url, { hook: hook.origin })}state: \${DATABASE_URL}\n${more}`,
		'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
	})
}

const env = () => ({ DATABASE_URL: url })
const start = (more = ''): Running => site(more).start(['run'], env())
/** Its lease runs out soon after it is gone. */
const startBrief = (): Running => site().start(['run'], { ...env(), ...smallFigures('LEASE_MS=15000') })
const pay = (valueWei: bigint) => node.send({ from: treasury, to: vault, valueWei })
const standsBy = (running: Running) => running.line(({ msg }) => msg.includes('standing by'))
const takesOver = (running: Running) => running.line(({ msg }) => msg === 'this instance has taken over')
/** Each amount that was sent, with the ids that it was sent under. */
function idsByAmount(): Record<string, Set<string>> {
	const found: Record<string, Set<string>> = {}
	for (const { data } of told(hook.hits)) {
		found[data.valueWei] ??= new Set()
		found[data.valueWei]?.add(data.deliveryId)
	}
	return found
}
const amounts = (all: ReturnType<typeof idsByAmount>) => Object.keys(all).map(Number)

describe.skipIf(server === null)('tracewatch on a database', () => {
	test('status: says when no instance polls, also by its exit code', async () => {
		const here = site()
		const running = here.start(['run'], env())
		await running.line(({ msg }) => msg === 'polling goes well: scanned up to the target')
		const longAgo = async () => {
			const older = `regexp_replace(line, '("atMs":1)\\d', '\\11', 'g')`
			const text = `update tracewatch.journal set line = ${older}`
			await server?.sql(text, [], new URL(url).pathname.slice(1))
			const { code, stdout } = await inProcess(here).run(['status', '--json'], env())
			return { code, daemon: JSON.parse(stdout).daemon }
		}
		expect(await longAgo()).toEqual({ code: 0, daemon: undefined })
		await running.stop()
		const reason = expect.stringContaining('no daemon runs, or it cannot write to the database')
		expect(await longAgo()).toEqual({ code: 1, daemon: { running: false, ok: false, reason } })
	})

	test('status: tells an instance that ended from one that was killed, by its lease', async () => {
		const here = site()
		expect((await inProcess(here).run(['once'], env())).code).toBe(0)
		const status = async () => {
			const { code, stdout } = await inProcess(here).run(['status', '--json'], env())
			return { code, daemon: JSON.parse(stdout).daemon }
		}
		expect(await status()).toEqual({ code: 0, daemon: { running: false, ok: true, reason: 'no daemon runs' } })
		const overdue = `update tracewatch.head set expires = clock_timestamp() - interval '1 s'`
		await server?.sql(overdue, [], new URL(url).pathname.slice(1))
		const reason = 'no daemon runs: it was killed'
		expect(await status()).toEqual({ code: 1, daemon: { running: false, ok: false, reason } })
	})

	test('status: names a network that its daemon has found stalled, also by its exit code', async () => {
		const network = '    stall_after: 2s\n'
		const here = siteOf({
			'tracewatch.yaml': `${settings(node.url, { hook: hook.origin }, network)}state: \${DATABASE_URL}\n`,
			'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
		})
		const running = here.start(['run'], env())
		const status = async () => {
			const { code, stdout } = await inProcess(here).run(['status'], env())
			return [code, stdout.split('\n')[0]]
		}
		await hook.until(1)
		expect(told(hook.hits)[0]?.type).toBe('system.stalled')
		expect(await status()).toEqual([1, expect.stringMatching(/^NOT WELL: no block of local was scanned since 20/)])
		const afterBlock = async () => {
			await node.mine()
			return await status()
		}
		await expect.poll(afterBlock, { interval: 500 }).toEqual([0, expect.stringMatching(/^local: scanned to block/)])
		await running.stop()
	})

	test('once, status, deliveries: as with a folder, and without one', async () => {
		const here = inProcess(site())
		const run = async (...args: string[]) => {
			const ended = await here.run(args, env())
			for (const text of [PASSWORD, encodeURIComponent(PASSWORD)]) {
				expect(ended.stdout + ended.stderr).not.toContain(text)
			}
			return ended
		}
		expect(await run('status')).toMatchObject({
			code: 0,
			stdout: expect.stringMatching(/^the database holds no state of this name: .*\nlocal: not polled yet\n/),
		})
		expect((await run('once')).code).toBe(0)
		await pay(5n)
		hook.answer = () => 503
		expect((await run('once')).code).toBe(75)
		const [status] = JSON.parse((await run('status', '--json')).stdout).receivers
		expect(status).toMatchObject({ receiver: 'hook', pending: 1, delivered: 0 })
		expect((await run('deliveries')).stdout).toContain('503')
		hook.answer = () => 204
		expect((await run('deliveries', 'retry', '--all')).stdout).toContain('1 delivery will be tried again now')
		expect((await run('once')).code).toBe(0)
		expect(hook.hits.map(({ id }) => id)).toEqual([hook.hits[0]?.id, hook.hits[0]?.id])
		expect((await run('check')).stdout).toMatch(/state in the database \S*program\d+ at 127\.0\.0\.1:\d+/)
	})

	test('run: another that is killed is replaced, and nothing is lost or sent under two ids', async () => {
		const first = startBrief()
		await first.line(({ msg }) => msg === 'coverage changed')
		const port = await freePort()
		const taken = createServer().listen(port, '127.0.0.1')
		const second = start(`http: 127.0.0.1:${port}\n`)
		await standsBy(second)
		await second.line(({ msg }) => msg.startsWith('nothing is served by HTTP while the port cannot be had'))
		taken.close()
		await second.line(({ msg }) => msg === 'metrics and health are served')
		// A reload is no end.
		second.process.kill('SIGHUP')
		const answer = async (path: string) => {
			const response = await fetch(`http://127.0.0.1:${port}${path}`)
			return [response.status, await response.text()]
		}
		expect(await answer('/healthz')).toEqual([200, expect.stringContaining('"status":"standing by"')])
		expect(await answer('/')).toEqual([200, expect.stringContaining('standing by: another instance has the state')])
		expect(await answer('/metrics')).toEqual([200, expect.stringContaining('tracewatch_build_info')])
		await pay(1n)
		await hook.until(1)
		await first.stop('SIGKILL')
		await pay(2n)
		await takesOver(second)
		await pay(3n)
		await hook.until(() => amounts(idsByAmount()).length === 3)
		expect(amounts(idsByAmount())).toEqual([1, 2, 3])
		expect(await answer('/healthz')).toEqual([200, expect.stringContaining('"status":"ok"')])
		expect((await second.stop()).code).toBe(0)
		for (const ids of Object.values(idsByAmount())) expect(ids.size).toBe(1)
	})

	test('run: watchlists that were edited while an instance stood by are in effect at its first poll', async () => {
		const list = (kinds: string) => watchlist([`{address: ${treasury}, kinds: [${kinds}]}`])
		const [one, two] = [site(), site()]
		for (const each of [one, two]) each.write('watchlists/a.yaml', list('deployment'))
		const first = one.start(['run'], { ...env(), ...smallFigures('LEASE_MS=15000') })
		await first.line(({ msg }) => msg === 'coverage changed')
		const second = two.start(['run'], env())
		await standsBy(second)
		for (const each of [one, two]) each.write('watchlists/a.yaml', list('deployment, transfer'))
		await first.line(({ msg }) => msg === 'watchlists are read again and in effect')
		await first.stop('SIGKILL')
		await pay(77n)
		await takesOver(second)
		await hook.until(1)
		expect(amounts(idsByAmount())).toEqual([77])
		expect((await second.stop()).code).toBe(0)
	})

	test('run: a state that is taken out and put back is waited for, and what it holds is sent', async () => {
		const sql = (text: string) => server?.sql(text, [], new URL(url).pathname.slice(1))
		const first = start()
		await first.line(({ msg }) => msg === 'coverage changed')
		const port = await freePort()
		const second = start(`http: 127.0.0.1:${port}\n`)
		await standsBy(second)
		hook.answer = () => 503
		await pay(1n)
		await hook.until(1)
		await sql('alter schema tracewatch rename to away')
		const health = async () => {
			const response = await fetch(`http://127.0.0.1:${port}/healthz`)
			return [response.status, (await response.text()).includes('no longer holds the state that was there')]
		}
		await expect.poll(health, { interval: 500 }).toEqual([503, true])
		await first.stop('SIGKILL')
		await sql(`alter schema away rename to tracewatch; update tracewatch.head set expires = clock_timestamp()`)
		const before = hook.hits.length
		hook.answer = () => 204
		await takesOver(second)
		await hook.until(before + 1)
		expect(amounts(idsByAmount())).toEqual([1])
		for (const ids of Object.values(idsByAmount())) expect(ids.size).toBe(1)
		expect((await second.stop()).code).toBe(0)
	})

	test('run: a tracewatch.yaml that is edited while the instance stands by is said after the takeover', async () => {
		const first = start()
		await first.line(({ msg }) => msg === 'coverage changed')
		const here = site()
		const second = here.start(['run'], env())
		await standsBy(second)
		appendFileSync(join(here.folder, 'tracewatch.yaml'), 'history: 30d\n')
		await first.stop()
		await takesOver(second)
		const { file } = await second.line(({ msg }) => msg.startsWith('configuration changed on disk'))
		expect(file).toBe(join(here.folder, 'tracewatch.yaml'))
		expect((await second.stop()).code).toBe(0)
	})

	test('run: a takeover that finds wrong watchlists goes on with the copies of the other instance', async () => {
		const [one, next] = [site(), site()]
		const first = one.start(['run'], { ...env(), ...smallFigures('LEASE_MS=15000') })
		await first.line(({ msg }) => msg === 'coverage changed')
		let second = next.start(['run'], env())
		await standsBy(second)
		for (const here of [one, next]) here.write('watchlists/c.yaml', watchlist([`{address: ${stranger}}`]))
		await first.line(({ msg }) => msg === 'watchlists are read again and in effect')
		for (const here of [one, next]) here.write('watchlists/c.yaml', watchlist(['{address: 0x12}']))
		// One that was sent as its instance was killed comes twice.
		const messages = () => {
			const byId = new Map(hook.hits.map((hit) => [hit.id, hit]))
			return told([...byId.values()]).map(({ type, data }) => data.valueWei ?? type)
		}
		await hook.until(1)
		await first.stop('SIGKILL')
		const payStranger = (valueWei: bigint) => node.send({ from: vault, to: stranger, valueWei })
		await payStranger(1n)
		await takesOver(second)
		await hook.until(() => messages().length === 2)
		await second.line(({ msg }) => msg.startsWith('the watchlists are wrong and change nothing'))
		expect((await second.stop()).code).toBe(0)
		// The copies of the last good ones are still whole.
		second = next.start(['run'], env())
		await payStranger(2n)
		await hook.until(() => messages().length === 3)
		next.write('watchlists/c.yaml', watchlist([`{address: ${stranger}}`]))
		await hook.until(() => messages().length === 4)
		expect((await second.stop()).code).toBe(0)
		expect(messages()).toEqual(['system.refused', '1', '2', 'system.recovered'])
	})

	test('run: an instance that stands still is replaced, ends when it wakes, and stands by as the next', async () => {
		const first = startBrief()
		await first.line(({ msg }) => msg === 'coverage changed')
		const second = start()
		await standsBy(second)
		first.process.kill('SIGSTOP')
		await pay(1n)
		await takesOver(second)
		await hook.until(1)
		first.process.kill('SIGCONT')
		expect((await first.ended).code).toBe(1)
		const again = start()
		await standsBy(again)
		await pay(2n)
		await hook.until(() => amounts(idsByAmount()).length === 2)
		// A clean end gives everything back at once.
		expect((await second.stop()).code).toBe(0)
		await takesOver(again)
		await pay(3n)
		await hook.until(() => amounts(idsByAmount()).length === 3)
		expect(amounts(idsByAmount())).toEqual([1, 2, 3])
		for (const ids of Object.values(idsByAmount())) expect(ids.size).toBe(1)
		expect((await again.stop()).code).toBe(0)
	})

	test('run: goes on when the connections to the database are cut', async () => {
		const running = start()
		await running.line(({ msg }) => msg === 'coverage changed')
		for (const amount of [1n, 2n, 3n]) {
			expect(await server?.cutAll()).toBeGreaterThan(0)
			await pay(amount)
			await hook.until(Number(amount))
		}
		expect((await running.stop()).code).toBe(0)
		expect(amounts(idsByAmount())).toEqual([1, 2, 3])
	})

	test('run: a stop waits only briefly for a database that hangs, ends with 1, and loses nothing', async () => {
		const gate = await openGate(server?.port ?? 0)
		onTestFinished(() => gate.close())
		const here = site()
		const small = smallFigures('LEASE_MS=5000,STOP_MS=1000')
		const running = here.start(['run'], { ...small, DATABASE_URL: gate.url(url) })
		await running.line(({ msg }) => msg === 'coverage changed')
		const held = gate.holdBack('update tracewatch.head set seq')
		await pay(1n)
		await held.arrived
		const { code, stderr } = await running.stop()
		expect([code, stderr]).toEqual([1, expect.stringMatching(/database at .* did not answer within 1 s of the stop/)])
		start()
		await hook.until(1)
		expect(amounts(idsByAmount())).toEqual([1])
	})

	test('run: a stop waits only briefly for a database that hangs while the watchlists are copied', async () => {
		const gate = await openGate(server?.port ?? 0)
		onTestFinished(() => gate.close())
		const held = gate.holdBack('insert into tracewatch.kept')
		const running = site().start(['run'], { ...smallFigures('STOP_MS=1000'), DATABASE_URL: gate.url(url) })
		await held.arrived
		const { code, stdout } = await running.stop()
		const line = stdout.split('\n').find((each) => each.includes('the watchlists in effect cannot be copied'))
		expect([code, line]).toEqual([1, expect.stringContaining('did not answer within 1 s of the stop')])
	})

	test('once: from several places at the same time', async () => {
		const rounds = soaked(1, 5)
		const sites = [site(), site(), site()]
		const alone = inProcess(site())
		expect((await alone.run(['once'], env())).code).toBe(0)
		for (let round = 1; round <= rounds; round++) {
			await pay(BigInt(round))
			const ends = await Promise.all(sites.map((each) => each.run(['once'], env())))
			expect(ends.map(({ code }) => code)).toEqual([0, 0, 0])
		}
		expect((await alone.run(['once'], env())).code).toBe(0)
		expect(amounts(idsByAmount())).toEqual(Array.from({ length: rounds }, (_, at) => at + 1))
		expect(hook.hits).toHaveLength(rounds)
	})

	test('state: from the database to a folder, and a second time refused', async () => {
		const here = inProcess(site())
		await here.run(['once'], env())
		hook.answer = () => 500
		await pay(7n)
		await here.run(['once'], env())
		const before = JSON.parse((await here.run(['status', '--json'], env())).stdout)
		const copy = (...places: readonly string[]) => here.run(['state', 'copy', ...places], env())
		const copied = await copy('${DATABASE_URL}', 'state')
		expect([copied.stderr, copied.code]).toEqual(['', 0])
		expect(copied.stdout).toMatch(
			/^1 network, 1 address, 1 delivery copied from the database \S*program\d+ at .* to state$/m,
		)

		const folder = { DATABASE_URL: 'state' }
		const after = JSON.parse((await here.run(['status', '--json'], folder)).stdout)
		for (const { networks } of [before, after]) for (const one of networks) delete one.lastScanSecondsAgo
		expect(after).toEqual(before)
		for (const [from, to] of [
			['${DATABASE_URL}', 'state'],
			['state', '${DATABASE_URL}'],
		] as const) {
			expect(await copy(from, to)).toMatchObject({
				code: 1,
				stderr: expect.stringContaining('holds a state already'),
			})
		}

		hook.answer = () => 204
		await here.run(['deliveries', 'retry', '--all'], folder)
		await pay(8n)
		expect((await here.run(['once'], folder)).code).toBe(0)
		await hook.until(() => amounts(idsByAmount()).length === 2)
		for (const ids of Object.values(idsByAmount())) expect(ids.size).toBe(1)
	})

	test('error: the database is not there', async () => {
		const gone = { DATABASE_URL: 'postgres://tracewatch:CANARY-pw@127.0.0.1:1/tracewatch' }
		for (const args of [['once'], ['status'], ['deliveries'], ['run']]) {
			const here = args[0] === 'run' ? site() : inProcess(site())
			const { code, stderr, stdout } = await here.run(args, gone)
			expect([code, stderr]).toEqual([1, expect.stringMatching(/127\.0\.0\.1:1: the connection was refused/)])
			expect(stderr + stdout).not.toContain('CANARY')
		}
	})
})
