import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { hookServer, polled, settings, siteOf, told, treasury, vault, watchlist } from './site.js'

const setClock = fileURLToPath(new URL('../support/setClock.mjs', import.meta.url))
const hourMs = 3_600_000

/** A daemon whose clock the test sets; 0 at first. */
async function startBesideClock() {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: hook.origin }),
		'watchlists/a.yaml': watchlist([`{address: ${vault}}`]),
		clock: '0',
	})
	const file = join(here.folder, 'clock')
	const env = { NODE_OPTIONS: `--import ${setClock}`, SET_CLOCK: file, LOG_LEVEL: 'debug' }
	let running = here.start(['run'], env)
	await polled(running)
	let valueWei = 0n
	return {
		hook,
		output: () => running.output(),
		/** Of the program, while it runs. */
		async setClockBy(byMs: number) {
			writeFileSync(file, String(byMs))
			running.process.kill('SIGUSR2')
			const isSet = () => existsSync(`${file}.set`) && readFileSync(`${file}.set`, 'utf8') === String(byMs)
			await expect.poll(isSet).toBe(true)
		},
		async restart() {
			await running.stop()
			running = here.start(['run'], env)
		},
		stop: () => running.stop(),
		writeClock: (byMs: number) => writeFileSync(file, String(byMs)),
		/** Sends one wei more than the last time; resolves to how many alerts there should be. */
		async pay() {
			valueWei += 1n
			await node.receipt(await node.send({ from: treasury, to: vault, valueWei }))
			return Number(valueWei)
		},
	}
}

const values = (hits: Parameters<typeof told>[0]) => told(hits).map(({ type, data }) => data.valueWei ?? type)

for (const [name, byMs] of [
	['forward', hourMs],
	['back', -hourMs],
] as const) {
	test(`behavior: a clock set ${name} by an hour stalls nothing, and alerts are reported as before`, async () => {
		const { hook, pay, setClockBy, output, stop } = await startBesideClock()
		await pay()
		await hook.until(1)
		await setClockBy(byMs)
		for (const _ of [1, 2, 3]) {
			const count = await pay()
			await expect.poll(() => values(hook.hits).length).toBe(count)
		}
		// Longer than the watch over the polling takes to look.
		await new Promise((resolve) => setTimeout(resolve, 11_000))
		await setClockBy(0)
		const count = await pay()
		await expect.poll(() => values(hook.hits).length).toBe(count)
		expect(values(hook.hits)).toEqual(['1', '2', '3', '4', '5'])
		expect(output()).not.toMatch(/stalled|missed|recovered/)
		expect((await stop()).code).toBe(0)
	})
}

test('behavior: a delivery that waits for a retry waits no hour longer when the clock is set back', async () => {
	const { hook, pay, setClockBy } = await startBesideClock()
	hook.answer = () => 503
	await pay()
	await hook.until(1)
	await setClockBy(-hourMs)
	hook.answer = () => 204
	const before = hook.hits.length
	await expect.poll(() => hook.hits.length > before).toBe(true)
	expect(new Set(hook.hits.map(({ id }) => id)).size).toBe(1)
})

test('behavior: a delivery written by a clock that was ahead is sent at the next start', async () => {
	const { hook, pay, setClockBy, restart, writeClock } = await startBesideClock()
	hook.answer = () => 503
	await setClockBy(24 * hourMs)
	await pay()
	await hook.until(1)
	writeClock(0)
	hook.answer = () => 204
	const before = hook.hits.length
	await restart()
	await expect.poll(() => hook.hits.length > before).toBe(true)
})

test('behavior: a clock that was at 1970 at the start holds up no one when it is set right', async () => {
	const { hook, pay, setClockBy } = await startBesideClock()
	// Every tick of 50 years, one by one, would take minutes.
	await setClockBy(50 * 365 * 24 * hourMs)
	const count = await pay()
	await expect.poll(() => values(hook.hits).length).toBe(count)
})
