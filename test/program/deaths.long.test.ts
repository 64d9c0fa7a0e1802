// When a message is given up: never at once, and by rule; afterwards everything says so. Time passes from run to run.
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { preload } from '../support/preload.js'
import { hookServer, inProcess, other, settings, siteOf, treasury, watchlist } from './site.js'

const minute = 60_000
const hour = 60 * minute
const words = 'chat not found or the bot was removed from it'

const node = await startTestAnvil()
afterAll(() => node.stop())

/** A receiver, and a watch whose payments are 1 wei, 2 wei and so on. */
async function start() {
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: hook.origin }, 'http: 127.0.0.1:0\n'),
		'watchlists/a.yaml': watchlist([`{address: ${treasury}, kinds: [transfer]}`]),
		clock: '0',
	})
	const env = { ...preload('setClock'), SET_CLOCK: join(here.folder, 'clock') }
	// Commands see the same clock in this process.
	const startedMs = Date.now()
	vi.useFakeTimers({ toFake: ['Date'], now: startedMs, shouldAdvanceTime: true })
	onTestFinished(() => void vi.useRealTimers())
	const typing = inProcess(here)
	await typing.run(['once'])
	const pay = (wei: number) => node.send({ from: other, to: treasury, valueWei: BigInt(wei) })
	/** Each due message is tried once. */
	const tryAt = async (ms: number) => {
		here.write('clock', String(ms))
		vi.setSystemTime(startedMs + ms)
		await typing.run(['once'])
	}
	/** The payments of which nothing arrived, each with its state. */
	const left = async () => {
		const { stdout } = await typing.run(['deliveries', '--json'])
		const lines = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
		return lines
			.flat()
			.map((one) => `${one.valueWei ?? one.message?.data?.valueWei ?? JSON.stringify(one)} ${one.status}`)
	}
	/** As a person and a probe see it. */
	const seen = async () => {
		const status = await typing.run(['status'])
		const running = here.start(['run'], env)
		const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
		const health = await fetch(`http://127.0.0.1:${String(port)}/healthz`)
		const said = [status.stdout, await health.text()]
		await running.stop('SIGKILL')
		return { codes: [status.code, health.status], said }
	}
	return { hook, pay, tryAt, left, seen }
}

const bodyOf = (wei: number) => `"valueWei":"${wei}"`

test('behavior: refused three times over an hour while the receiver takes others, a message is dead', async () => {
	const { hook, pay, tryAt, left, seen } = await start()
	hook.answer = ({ body }) => (String(body).includes(bodyOf(1)) ? { status: 400, headers: {}, body: words } : 204)
	await pay(1)
	let at = 0
	for (const minutes of [0, 10, 30, 45]) {
		await pay(++at + 1)
		await tryAt(minutes * minute)
	}
	const refusals = () => hook.hits.filter(({ body }) => String(body).includes(bodyOf(1))).length
	expect(refusals()).toBeGreaterThanOrEqual(3)
	expect(await left()).toEqual(['1 pending'])
	const before = await seen()
	expect(before.codes).toEqual([1, 503])

	await pay(++at + 1)
	await tryAt(65 * minute)
	await pay(++at + 1)
	await tryAt(85 * minute)
	expect(await left()).toEqual(['1 dead'])
	const after = await seen()
	expect(after.codes).toEqual(before.codes)
	for (const said of [...before.said, ...after.said]) expect(said).toContain(words)
})

test('behavior: a message that only fails is dead when it is 72 hours old and was tried seven times', async () => {
	const { hook, pay, tryAt, left, seen } = await start()
	hook.answer = () => ({ status: 503, headers: {}, body: words })
	await pay(1)
	await tryAt(0)
	for (let tries = 1; tries < 7; tries++) {
		expect(await left()).toEqual(['1 pending'])
		await tryAt((71 + 2 * tries) * hour)
	}
	expect(hook.hits).toHaveLength(7)
	expect(await left()).toEqual(['1 dead'])
	const { codes, said } = await seen()
	expect(codes).toEqual([1, 503])
	for (const one of said) expect(one).toMatch(/given up/)
})

test('behavior: a delivery refused for 72 hours, as all others are, is dead, and no newer one', async () => {
	const { hook, pay, tryAt, left, seen } = await start()
	hook.answer = () => ({ status: 400, headers: {}, body: words })
	for (const wei of [1, 2, 3, 4]) await pay(wei)
	for (const hours of [0, 10, 20, 30, 40, 50, 60, 71]) await tryAt(hours * hour)
	expect((await left()).toSorted()).toEqual(['1 parked', '2 parked', '3 parked', '4 parked'])
	await pay(5)
	for (const hours of [71.5, 73, 74]) await tryAt(hours * hour)
	expect((await left()).toSorted()).toEqual(['1 dead', '2 dead', '3 dead', '4 dead', '5 parked'])
	const { codes, said } = await seen()
	expect(codes).toEqual([1, 503])
	for (const one of said) expect(one).toContain(words)
})
