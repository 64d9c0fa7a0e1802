// A wrong edit of a watchlist changes nothing until it is right: not even over a restart.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { soaked } from '../support/soak.js'
import { hookServer, other, polled, settings, siteOf, stranger, told, treasury, vault, watchlist } from './site.js'

let node: TestAnvil
beforeAll(async () => {
	node = await startTestAnvil()
})
afterAll(() => node.stop())

const wrong = 'network: local\nreceivers: [hook]\nwatches:\n  - {address: 0x12}\n'
const right = watchlist([`{address: ${treasury}, label: Treasury, min_value: 2 wei, tags: [cold]}`])

test('default: a restart continues with the last good ones, loudly, and mending takes effect by itself', async () => {
	const hook = await hookServer()
	const text = settings(node.url, { hook: hook.origin }, 'http: 127.0.0.1:0\n')
	const site = siteOf({ 'tracewatch.yaml': text, 'watchlists/a.yaml': right })
	let running = site.start(['run'])
	await polled(running)
	// An edit within the first moments would come before the copy of what it replaces.
	await expect.poll(() => existsSync(join(site.folder, 'state/last-good/index.json'))).toBe(true)
	site.write('watchlists/a.yaml', wrong)
	const [refused] = told(await hook.until(1))
	expect(refused).toMatchObject({ type: 'system.refused', data: { network: 'local', chainId: 31337 } })
	expect([refused.data.head, refused.data.checkpoint]).toEqual([expect.any(Number), expect.any(Number)])
	const isRefused = ({ msg, level }: { readonly msg: string; readonly level: string }) =>
		level === 'error' && msg.startsWith('the watchlists are wrong and change nothing')
	site.write('watchlists/a.yaml', `${wrong}  - {address: 0x34}\n`)
	await running.line((line) => isRefused(line) && line.msg.includes('a.yaml:5:15'))
	expect(refused.data.reason).toMatch(/To do: correct what is named and save; no restart is needed$/)
	expect(refused.data.reason).toContain('a.yaml:4:15')
	expect((await running.stop()).code).toBe(0)

	running = site.start(['run'])
	const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
	await running.line(({ level, msg }) => level === 'error' && msg.includes('kept in the state'))
	const healthz = await fetch(`http://127.0.0.1:${String(port)}/healthz`)
	expect(healthz.status).toBe(503)
	expect(await healthz.text()).toContain('the last good ones stay in effect')
	expect(await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()).toContain(
		'tracewatch_config_last_reload_successful 0',
	)
	// By the rules that it had: two wei are sent, one is not.
	await node.receipt(await node.send({ from: other, to: treasury, valueWei: 1n }))
	await node.receipt(await node.send({ from: other, to: treasury, valueWei: 2n }))
	// It was reported before the restart.
	const [, alert] = told(await hook.until(2))
	expect(alert.data).toMatchObject({ valueWei: '2', watch: { label: 'Treasury', tags: ['cold'], watchlist: 'a.yaml' } })

	site.write('watchlists/a.yaml', watchlist([`{address: ${vault}}`]))
	// An address that goes is named: nothing else tells the operator of a line that was deleted by mistake.
	expect(await running.line(({ msg }) => msg === 'watchlists are read again and in effect')).toMatchObject({
		...{ added: 1, removed: 1, addedWatches: [`local ${vault}`], removedWatches: [`local ${treasury} (Treasury)`] },
	})
	const page = await (await fetch(`http://127.0.0.1:${String(port)}/`)).text()
	expect(page).toContain('The last reload added 1 watch and removed 1.')
	await polled(running)
	await node.receipt(await node.send({ from: other, to: vault, valueWei: 3n }))
	const later = told(await hook.until(4)).slice(2)
	expect(later.map(({ data }) => data.valueWei ?? data.ends).sort()).toEqual(['3', 'refused'])
	// Wrong again as it was before is news: under another id, which no receiver takes for a repetition.
	site.write('watchlists/a.yaml', wrong)
	const [, , , , anew] = told(await hook.until(5))
	expect(anew.type).toBe('system.refused')
	expect(anew.data.deliveryId).not.toBe(refused.data.deliveryId)
	expect((await running.stop()).code).toBe(0)
})

test('behavior: stopped as soon as it runs, the program has kept large watchlists all the same', async () => {
	const watches = soaked(30_000, 100_000)
	const addresses = Array.from({ length: watches }, (_, at) => `0x${(at + 2 ** 40).toString(16).padStart(40, '0')}`)
	const site = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: 'http://127.0.0.1:9' }),
		'watchlists/a.yaml': 'network: local\nreceivers: [hook]\naddresses_from: many.csv\n',
		'watchlists/many.csv': `${addresses.join('\n')}\n`,
	})
	let running = site.start(['run'])
	await running.line(({ msg }) => msg === 'tracewatch is running')
	expect((await running.stop()).code).toBe(0)
	site.write('watchlists/a.yaml', wrong)
	running = site.start(['run'])
	expect(await running.line(({ msg }) => msg === 'tracewatch is running')).toMatchObject({ watches })
	expect((await running.stop()).code).toBe(0)
})

test('behavior: mended while no daemon runs, the next one names whom the last one reported', async () => {
	const hook = await hookServer()
	const site = siteOf({ 'tracewatch.yaml': settings(node.url, { hook: hook.origin }), 'watchlists/a.yaml': right })
	let running = site.start(['run'])
	await polled(running)
	site.write('watchlists/a.yaml', wrong)
	const [refused] = told(await hook.until(1))
	await running.stop('SIGKILL')
	site.write('watchlists/a.yaml', right)
	running = site.start(['run'])
	const isEnd = ({ type }: { readonly type: string }) => type === 'system.recovered'
	const hits = await hook.until((all) => told(all).some(isEnd))
	const ended = told(hits).find(isEnd)
	if (ended === undefined) throw new Error('no end')
	expect(ended).toMatchObject({ data: { ends: 'refused', network: 'local' } })
	expect(ended.data.id).toBe(String(refused.data.id).replace('system_refused', 'system_recovered'))
	expect((await running.stop()).code).toBe(0)
	running = site.start(['run'])
	await running.line(({ msg }) => msg === 'tracewatch is running')
	expect((await running.stop()).code).toBe(0)
	// The kill may have come before the first was written down as sent: a repetition, under its id.
	expect(new Set(hook.hits.map(({ id }) => id)).size).toBe(2)
})

test('error: nothing was ever right, the settings are wrong, or name less than the last good ones: 78', async () => {
	const hook = await hookServer()
	const text = settings(node.url, { hook: hook.origin, more: hook.origin })
	const site = siteOf({ 'tracewatch.yaml': text, 'watchlists/a.yaml': wrong })
	expect(await site.run(['run'])).toMatchObject({ code: 78 })
	site.write('watchlists/a.yaml', watchlist([`{address: ${stranger}, receivers: [more]}`]))
	const running = site.start(['run'])
	await polled(running)
	await running.stop()
	site.write('watchlists/a.yaml', wrong)
	site.write('tracewatch.yaml', `${text}colour: red\n`)
	expect(await site.run(['run'])).toMatchObject({ code: 78, stderr: expect.stringContaining('colour') })
	site.write('tracewatch.yaml', settings(node.url, { hook: hook.origin }))
	expect(await site.run(['run'])).toMatchObject({ code: 78, stderr: expect.stringContaining('a.yaml:4:15') })
})
