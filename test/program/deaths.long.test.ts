// A message that is given up: afterwards everything says so. When that is: test/notify/delivery/decide.test.ts. Time
// passes from run to run.
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { preload } from '../support/preload.js'
import { hookServer, inProcess, other, settings, siteOf, treasury, watchlist } from './site.js'

const hour = 3_600_000
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
