// A node that is dead, in all the ways that nodes are: a minute later nothing says that all is well.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { startFaultProxy } from '../support/faultProxy.js'
import { type Fault, sendJson } from '../support/faultyNode.js'
import { freePort } from '../support/freePort.js'
import { preload } from '../support/preload.js'
import type { Running } from '../support/program.js'
import { hookServer, other, polled, settings, siteOf, stranger, treasury } from './site.js'

const refusal: Fault = ({ batch, calls }, response) => {
	const answers = calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32000, message: 'internal error' } }))
	sendJson(response, batch ? answers : answers[0])
}
const noTraces: Fault = (ask, response, good) =>
	ask.calls.some(({ method }) => /^(trace|debug)_/.test(method))
		? refusal(ask, response, good)
		: sendJson(response, good)

/** Each on an endpoint of its own, which is broken after a good start; the head is not known, or it is well. */
const cases = {
	killed: { isDead: true, fault: null },
	hangs: { isDead: true, fault: () => undefined },
	errors: { isDead: true, fault: refusal },
	// Until it becomes a gap, which is said too.
	traceless: { isDead: false, fault: noTraces },
	// Its head stands still.
	quiet: { isDead: false, fault: null },
} satisfies Record<string, { isDead: boolean; fault: Fault | null }>
const kinds = Object.keys(cases) as (keyof typeof cases)[]

/** Each question costs the daemon processor time. */
const seldom = { interval: 250 }

/** A network of each name, and one without a node. Time passes in `run` as the test says. */
async function site<T extends string>(names: readonly T[], schedule = '* * * * * *') {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	await node.mine(20)
	const hook = await hookServer()
	const endpoints = await Promise.all(names.map(() => startFaultProxy(node.url)))
	onTestFinished(async () => void (await Promise.all(endpoints.map((one) => one.close()))))
	const urls = [...endpoints.map(({ url }) => url), `http://127.0.0.1:${await freePort()}`]
	const networks = [...names, 'never'].map((name, at) => {
		const rows = ['chain_id: 31337', `rpc: ["${urls[at]}"]`, `schedule: "${schedule}"`, 'stall_after: never']
		return `  - name: ${name}\n${rows.map((row) => `    ${row}\n`).join('')}`
	})
	const more = settings('', { hook: hook.origin }).replace(/^.*(?=receivers:)/s, '')
	const watch = (name: string) => `network: ${name}\nreceivers: [hook]\nwatches: [{address: "${treasury}"}]\n`
	const here = siteOf({
		'tracewatch.yaml': `networks:\n${networks.join('')}http: 127.0.0.1:0\n${more}`,
		...Object.fromEntries([...names, 'never'].map((name) => [`watchlists/${name}.yaml`, watch(name)])),
		clock: '0',
		'bin/systemd-notify': '#!/bin/sh\nfor word; do case $word in STATUS=*) echo "$word" > line;; esac; done\n',
	})
	chmodSync(join(here.folder, 'bin/systemd-notify'), 0o755)
	const endpoint = (name: T) => endpoints[names.indexOf(name)] as (typeof endpoints)[number]
	const clock = join(here.folder, 'clock')
	const time = { ...preload('setClock'), SET_CLOCK: clock, PASS_TIME: '1' }
	const env = { ...time, NOTIFY_SOCKET: join(here.folder, 'none'), PATH: `${here.folder}/bin:${process.env.PATH}` }
	const running = here.start(['run'], env)
	const pass = async (seconds: number) => {
		writeFileSync(clock, String(seconds * 1_000))
		running.process.kill('SIGUSR2')
		const isSet = () => existsSync(`${clock}.set`) && readFileSync(`${clock}.set`, 'utf8') === `${seconds * 1_000}`
		await expect.poll(isSet).toBe(true)
	}
	const status = (...args: string[]) => here.run(['status', ...args], time)
	const asked = await healthOf(running)
	const isKnown = async () =>
		(await asked.health()).networks.filter(({ head }) => head === 20).map(({ network }) => network)
	await expect.poll(isKnown, seldom).toEqual(names)
	return { node, here, endpoint, running, pass, status, ...asked }
}

interface Line {
	readonly network: string
	readonly ok: boolean
	readonly head: number | null
	readonly headUnknownSince?: string
}

async function healthOf(running: Running) {
	const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
	const origin = `http://127.0.0.1:${String(port)}`
	return {
		page: async () => (await fetch(`${origin}/`)).text(),
		/** The networks of which a metric gives the head, and those of which one gives the lag. */
		async metrics() {
			const text = await (await fetch(`${origin}/metrics`)).text()
			const of = (name: string) =>
				[...text.matchAll(new RegExp(`^tracewatch_${name}\\{network="(\\w+)"\\} \\d`, 'gm'))]
					.map(([, network]) => network)
					.toSorted()
			return { heads: of('head_block'), lags: of('lag_blocks') }
		},
		async health() {
			const answer = await fetch(`${origin}/healthz`)
			const body = JSON.parse(await answer.text())
			const networks: Line[] = body.networks
			const of = (ok: boolean) => networks.filter((one) => one.ok === ok).map(({ network }) => network)
			const { status, reason } = body
			return { code: answer.status, status, reason, networks, well: of(true), ill: of(false) }
		},
	}
}

test('error: an endpoint that is dead for a minute is degraded everywhere, and its head is unknown', async () => {
	const { node, here, endpoint, pass, status, health, page, metrics } = await site(kinds)
	// One has never answered: that is not said at once.
	expect(await health()).toMatchObject({ code: 200, ill: [] })
	expect(await metrics()).toEqual({ heads: kinds.toSorted(), lags: kinds.toSorted() })

	for (const name of kinds) endpoint(name).next = () => cases[name].fault
	await endpoint('killed').close()
	// An empty block needs no traces.
	await node.receipt(await node.send({ from: stranger, to: other, valueWei: 1n }))
	await pass(62)
	const dead = [...kinds.filter((name) => cases[name].isDead), 'never']
	const seen = async () => {
		const { networks, code, status: word, reason } = await health()
		const others = networks.filter(({ network }) => network !== 'traceless')
		const unknown = others.filter(({ head, headUnknownSince }) => head === null && headUnknownSince !== undefined)
		const namesOf = (some: typeof networks) => some.map(({ network }) => network)
		const ill = namesOf(others.filter(({ ok }) => !ok))
		return { code, status: word, ill, unknown: namesOf(unknown), traceless: String(reason).includes('traceless') }
	}
	const all = { code: 503, status: 'degraded', ill: dead, unknown: dead, traceless: true }
	await expect.poll(seen, seldom).toEqual(all)
	expect(await page()).toMatch(/<title>Degraded/)
	for (const named of Object.values(await metrics()))
		expect(named.filter((one) => dead.includes(one ?? ''))).toEqual([])
	const line = () => existsSync(join(here.folder, 'line')) && readFileSync(join(here.folder, 'line'), 'utf8')
	const [{ code, stdout }, { stdout: words }] = await Promise.all([
		status('--json'),
		status(),
		expect.poll(line).toContain('killed is degraded: no poll has succeeded since 20'),
	])
	expect(code).toBe(1)
	const { daemon, networks } = JSON.parse(stdout)
	expect(daemon).toMatchObject({ running: true, ok: false })
	for (const name of dead) {
		expect(daemon.reasons.join()).toContain(`${name} is degraded: no poll has succeeded since 20`)
		const found = networks.find(({ network }: { network: string }) => network === name)
		expect(found, name).toMatchObject({ head: null, lagBlocks: null })
		expect(words).toMatch(
			new RegExp(`^${name}: .*; the head is unknown since ${found.headUnknownSince.slice(0, 16)}`, 'm'),
		)
	}
	expect(words).toMatch(/^quiet: scanned to block 21, 0 behind the head/m)

	// What answers again is well.
	endpoint('errors').next = () => null
	await expect.poll(async () => (await health()).well, seldom).toContain('errors')
	await expect
		.poll(metrics, seldom)
		.toMatchObject({ heads: expect.arrayContaining(['errors']), lags: expect.arrayContaining(['errors']) })
})

test('error: a node that is polled hourly is degraded after two hours, and unknown beside a dead daemon', async () => {
	const { endpoint, running, pass, status, health, here } = await site(['hourly'], '0 0 * * * *')
	await endpoint('hourly').close()
	await pass(62)
	// It has never answered since the start.
	expect(await health()).toMatchObject({ ill: ['never'], well: ['hourly'], networks: [{ head: 20 }, { head: null }] })
	await pass(7_300)
	await expect.poll(async () => (await health()).ill, seldom).toEqual(['hourly', 'never'])
	await running.stop('SIGKILL')
	here.write('clock', '7400000')
	const { networks } = JSON.parse((await status('--json')).stdout)
	expect(networks[0]).toMatchObject({ head: null, lagBlocks: null, headUnknownSince: expect.stringMatching(/^20/) })
	expect((await status()).stdout).toMatch(/^hourly: scanned to block 20, .* s ago; the head is unknown since 20/m)
})

test('error: a head behind the checkpoint is said within two polls, and the night card says the same', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	await node.mine(20)
	const endpoint = await startFaultProxy(node.url)
	onTestFinished(() => endpoint.close())
	const hook = await hookServer()
	const more = '    stall_after: never\nhttp: 127.0.0.1:0\n'
	const here = siteOf({
		'tracewatch.yaml': settings(endpoint.url, { hook: hook.origin }, more),
		'watchlists/a.yaml': `network: local\nreceivers: [hook]\nwatches: [{address: "${treasury}"}]\n`,
	})
	const running = here.start(['run'])
	const { health, page, metrics } = await healthOf(running)
	await polled(running)
	await expect.poll(async () => (await health()).networks[0]?.head, seldom).toBe(20)

	endpoint.lagBlocks = 17n
	await expect.poll(health, seldom).toMatchObject({ code: 503, ill: ['local'], networks: [{ head: 3 }] })
	expect(await metrics()).toMatchObject({ lags: [] })
	const sentence =
		'the head is behind the checkpoint: no alerts until it catches up. The endpoint lags, or the chain was restarted'
	const { code, stdout } = await here.run(['status'])
	expect(code).toBe(1)
	const { networks } = JSON.parse((await here.run(['status', '--json'])).stdout)
	expect(networks[0]).toMatchObject({ checkpoint: 20, head: 3, lagBlocks: null, headUnknownSince: null })
	expect(stdout).toContain('; the head is behind the checkpoint, at block 3')
	for (const said of [(await health()).reason, await page(), stdout, running.output()]) expect(said).toContain(sentence)
	// What it says to do is what the card says.
	const card = readFileSync('docs/operations.md', 'utf8')
	for (const remedy of ['give the network another name', 'in its watchlists too']) {
		expect(stdout).toContain(remedy)
		expect(card).toContain(remedy)
	}

	endpoint.lagBlocks = 0n
	await expect.poll(health, seldom).toMatchObject({ code: 200, well: ['local'] })
	await running.stop()
})

test('default: after a restart beside a dead node, health shows the checkpoint of the state', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	await node.mine(20)
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: hook.origin }, 'http: 127.0.0.1:0\n'),
		'watchlists/a.yaml': `network: local\nreceivers: [hook]\nwatches: [{address: "${treasury}"}]\n`,
	})
	const before = here.start(['run'])
	await polled(before)
	await before.stop()
	await node.stop()
	const running = here.start(['run'])
	const { health } = await healthOf(running)
	expect((await health()).networks).toMatchObject([{ network: 'local', checkpoint: 20, head: null }])
	await running.stop()
})
