// What people look at, with the state in a database: pages, history, and watchlists that were last right.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startServer } from '../state/postgres/server.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { hookServer, inProcess, other, polled, settings, siteOf, told, treasury, vault, watchlist } from './site.js'

const server = await startServer()
let node: TestAnvil
let env = { DATABASE_URL: '' }
let count = 0

beforeAll(async () => {
	node = await startTestAnvil()
})
afterAll(async () => {
	await node.stop()
	await server?.stop()
})
beforeEach(async () => {
	env = { DATABASE_URL: (await server?.fresh(`seen${count++}`)) ?? '' }
})

const state = `state: \${DATABASE_URL}\n`
const pay = async (to: `0x${string}`, valueWei: bigint) =>
	await node.receipt(await node.send({ from: other, to, valueWei }))
const json = async (url: string): Promise<ReturnType<typeof JSON.parse>> => await (await fetch(url)).json()

async function said(url: string, is: (found: ReturnType<typeof JSON.parse>) => boolean) {
	const endMs = Date.now() + 120_000
	for (let found = await json(url); ; found = await json(url)) {
		if (is(found)) return found
		if (Date.now() > endMs) throw new Error(JSON.stringify(found))
		await new Promise((resolve) => setTimeout(resolve, 250))
	}
}

/** Three alerts, each for two, one of whom has taken all of them. */
const areAllThere = (alerts: readonly { readonly deliveries: readonly { readonly result: string }[] }[]) => {
	const results = alerts.flatMap(({ deliveries }) => deliveries.map(({ result }) => result))
	return results.length === 6 && results.filter((result) => result === 'delivered').length === 3
}

describe.skipIf(server === null)('on a database', () => {
	test('default: each page says what was reported and what waits, over a restart and on another machine', async () => {
		const [good, bad] = [await hookServer(), await hookServer()]
		bad.answer = () => ({ status: 401 })
		const files = {
			'tracewatch.yaml': `${settings(node.url, { good: good.origin, bad: bad.origin })}${state}http: 127.0.0.1:0\n`,
			'watchlists/a.yaml': watchlist([`{address: ${treasury}, label: Treasury, tags: [cold]}`], 'good, bad'),
		}
		const here = siteOf(files)
		const running = here.start(['run'], env)
		await polled(running)
		for (const valueWei of [5n, 6n, 7n]) await pay(treasury, valueWei)
		await good.until(3)
		await bad.until(1)
		const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
		const look = async (at: unknown) => {
			const origin = `http://127.0.0.1:${String(at)}`
			const { alerts } = await said(`${origin}/alerts?format=json`, (found) => areAllThere(found.alerts))
			const values = alerts.map((one: ReturnType<typeof JSON.parse>) => one.alerts[0].valueWei)
			expect(values.toSorted()).toEqual(['5', '6', '7'])
			expect((await json(`${origin}/alerts?format=json&q=treas`)).alerts).toHaveLength(3)
			expect((await json(`${origin}/alerts?format=json&address=${vault}`)).alerts).toHaveLength(0)
			await said(`${origin}/deliveries?format=json&status=delivered`, (found) => found.deliveries.length === 3)
			expect((await json(`${origin}/watches?format=json&q=cold`)).watches).toMatchObject([{ label: 'Treasury' }])
			// What is refused is parked when that is written down.
			const overview = await said(`${origin}/?format=json`, (found) => found.receivers[1].parked > 0)
			expect(overview.receivers[0]).toMatchObject({ receiver: 'good', delivered: 3 })
			expect(overview.receivers[1]).toMatchObject({ receiver: 'bad' })
			expect(overview.latest).toHaveLength(3)
			for (const path of ['/', '/alerts', '/watches', '/deliveries']) {
				const answer = await fetch(`${origin}${path}`)
				expect([path, answer.status]).toEqual([path, 200])
				expect(await answer.text()).not.toContain(env.DATABASE_URL)
			}
		}
		await look(port)
		const text = await inProcess(here).run(['deliveries', '--sent', '--address', treasury, '--json'], env)
		const rows = text.stdout
			.trim()
			.split('\n')
			.map((line) => JSON.parse(line))
		expect(rows).toHaveLength(3)
		expect(new Set(rows.map(({ deliveryId }) => deliveryId)).size).toBe(3)
		expect((await inProcess(here).run(['deliveries', '--sent', '--receiver', 'bad', '--json'], env)).stdout).toBe('')

		await running.stop()
		const again = siteOf(files).start(['run'], env)
		await look((await again.line(({ msg }) => msg === 'metrics and health are served')).port)
	})

	test('behavior: the last good watchlists are kept there, and another machine continues with them', async () => {
		const hook = await hookServer()
		const text = `${settings(node.url, { hook: hook.origin })}${state}`
		const right = watchlist([`{address: ${treasury}, label: Treasury, min_value: 2 wei}`])
		const first = siteOf({ 'tracewatch.yaml': text, 'watchlists/a.yaml': right })
		const running = first.start(['run'], env)
		await polled(running)
		const copies = () => server?.sql(`select key from tracewatch.kept where key = 'copies'`, [], `seen${count - 1}`)
		await expect.poll(copies).toHaveLength(1)
		await running.stop()

		const wrong = 'network: local\nreceivers: [hook]\nwatches:\n  - {address: 0x12}\n'
		const second = siteOf({ 'tracewatch.yaml': text, 'watchlists/a.yaml': wrong })
		const goesOn = second.start(['run'], env)
		await goesOn.line(({ level, msg }) => level === 'error' && msg.includes('kept in the state'))
		await pay(treasury, 1n)
		await pay(treasury, 2n)
		const messages = told(await hook.until(2))
		expect(messages.map(({ type }) => type).toSorted()).toEqual(['alert.transfer', 'system.refused'])
		expect(messages.find(({ type }) => type === 'alert.transfer')?.data.valueWei).toBe('2')
		second.write('watchlists/a.yaml', watchlist([`{address: ${vault}}`]))
		await polled(goesOn)
		await pay(vault, 3n)
		expect(told(await hook.until(4)).map(({ data }) => data.valueWei ?? data.ends)).toEqual(
			expect.arrayContaining(['refused', '3']),
		)
	})
})
