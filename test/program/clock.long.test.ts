import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { preload } from '../support/preload.js'
import { booksOpened, hookServer, settings, siteOf, told, treasury, vault, watchlist } from './site.js'

const hourMs = 3_600_000

const node = await startTestAnvil()
afterAll(() => node.stop())

/** A daemon whose clock the test sets; 0 at first. It looks twice a second whether the polling stalls. */
async function startBesideClock() {
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: hook.origin }),
		'watchlists/a.yaml': watchlist([`{address: ${vault}}`]),
		clock: '0',
	})
	const file = join(here.folder, 'clock')
	const env = {
		...preload('setClock', 'smallFigures'),
		...{ SET_CLOCK: file, SMALL_FIGURES: 'stallCheckMs=500', LOG_LEVEL: 'debug' },
	}
	let running = here.start(['run'], env)
	await booksOpened(running)
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

test('behavior: a clock set forward, back, or from 1970 on stalls nothing and delays no alert', async () => {
	const { hook, pay, setClockBy, output, stop } = await startBesideClock()
	const alerts = async () => await hook.until(await pay())
	await alerts()
	for (const byMs of [hourMs, -hourMs]) {
		await setClockBy(byMs)
		for (const _ of [1, 2, 3]) await alerts()
		await setClockBy(0)
		await alerts()
	}
	// Every tick of 50 years, one by one, would take minutes.
	await setClockBy(50 * 365 * 24 * hourMs)
	await alerts()
	expect(values(hook.hits)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'])
	expect(output()).not.toMatch(/stalled|missed|recovered/)
	expect((await stop()).code).toBe(0)
})

test('behavior: a clock set back, in a run or between two, holds back no retry', async () => {
	const { hook, pay, setClockBy, restart, writeClock } = await startBesideClock()
	const more = async (change: () => unknown) => {
		const before = hook.hits.length
		await change()
		await hook.until(before + 1)
	}
	hook.answer = () => 503
	await more(pay)
	await setClockBy(-hourMs)
	hook.answer = () => 204
	await more(() => undefined)
	expect(new Set(hook.hits.map(({ id }) => id)).size).toBe(1)

	hook.answer = () => 503
	await setClockBy(24 * hourMs)
	await more(pay)
	writeClock(0)
	hook.answer = () => 204
	await more(restart)
	expect(new Set(hook.hits.map(({ id }) => id)).size).toBe(2)
})
