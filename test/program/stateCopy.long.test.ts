// `tracewatch state copy` between folders; with a database: database.long.test.ts.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { peek } from '../../src/state/open.js'
import { startServer } from '../state/postgres/server.js'
import { blockOf, commitOf, deliveryOf } from '../state/samples.js'
import { startTestAnvil } from '../support/anvil.js'
import { openFileStore } from '../support/fileStore.js'
import { preload } from '../support/preload.js'
import { hookServer, other, settings, siteOf, treasury, watchlist } from './site.js'

test('a state in use is not copied, one at rest is, with what was sent; no password is printed', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const hook = await hookServer()
	const site = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: hook.origin }),
		'other.yaml': `${settings(node.url, { hook: hook.origin })}state: copied\n`,
		'watchlists/a.yaml': watchlist([`{address: ${treasury}, from_block: 1}`]),
	})
	await node.receipt(await node.send({ from: other, to: treasury, valueWei: 5n }))
	await node.mine()
	const running = site.start(['run'])
	await hook.until(1)
	const held = await site.run(['state', 'copy', 'state', 'copied'])
	expect([held.code, held.stderr]).toEqual([1, expect.stringMatching(/state is in use by process \d+.*stop that one/)])
	expect(await running.stop()).toMatchObject({ code: 0 })

	const env = { PLACE: 'copied', DATABASE: 'postgres://tw:CANARY-pw@127.0.0.1:1/tracewatch' }
	const copy = (...args: readonly string[]) => site.run(['state', ...args], env)
	const done = await copy('copy', 'state', '${PLACE}')
	expect([done.code, done.stdout]).toEqual([0, '1 network, 1 address, 0 deliveries copied from state to copied\n'])
	const sent = ['deliveries', '--sent', '--json']
	const before = (await site.run(sent)).stdout
	expect(before).toContain('"result":"delivered"')
	expect((await site.run([...sent, '-c', 'other.yaml'])).stdout).toBe(before)

	const refused: readonly (readonly [code: number, words: string, ...args: string[]])[] = [
		[1, 'copied holds a state already, or the history of one, and nothing was changed', 'copy', 'state', 'copied'],
		[1, 'there is no state to copy', 'copy', 'nowhere', 'new'],
		[1, '127.0.0.1:1: the connection was refused', 'copy', 'state', '${DATABASE}'],
		[1, '127.0.0.1:1: the connection was refused', 'copy', env.DATABASE, 'new'],
		[2, 'must name a database', 'copy', 'postgres://tw:CANARY-pw@127.0.0.1', 'new'],
		[2, '${NOT_THERE} is not set', 'copy', '${NOT_THERE}', 'new'],
		[2, 'FROM and TO are both state', 'copy', 'state', './state'],
		[2, "missing required argument 'to'; see `tracewatch state --help`", 'copy', 'state'],
		[2, '`state export` was removed: `tracewatch state copy FROM TO`', 'export', 'file'],
	]
	for (const [code, words, ...args] of refused) {
		const { stderr, stdout, ...end } = await copy(...args)
		expect([end.code, stderr, stdout]).toEqual([code, expect.stringContaining(words), ''])
		expect(stderr).not.toContain('CANARY')
	}
	expect(readdirSync(site.folder).filter((name) => /nowhere|new|export/.test(name))).toEqual([])
}, 60_000)

const server = await startServer()
afterAll(() => server?.stop())

test.each([
	['a folder', async (folder: string) => join(folder, 'copied'), {}],
	['a database', async () => (await server?.fresh('killed')) ?? null, { KILL_SENDS: '1' }],
] as const)(
	'error: a copy into %s that is killed at any step leaves nothing, or what is refused',
	async (_, make, more) => {
		const site = siteOf({ 'tracewatch.yaml': settings('http://127.0.0.1:1', { hook: 'http://127.0.0.1:1' }) })
		const store = await openFileStore(join(site.folder, 'state'), { clock: Date.now, historyMs: 86_400_000 })
		await store.commit(commitOf({ checkpoint: blockOf(1), deliveries: [deliveryOf('a'), deliveryOf('b')] }))
		await store.resolve([{ id: 'a', result: 'delivered' }])
		await store.close()
		const url = await make(site.folder)
		if (url === null) return
		const left = async (place: string) => {
			const isFolder = !place.startsWith('postgres')
			const found = await peek(isFolder ? { kind: 'folder', dir: place } : { kind: 'postgres', url: place }).catch(
				({ message }: Error) => message,
			)
			if (found === null) return 'nothing'
			if (typeof found === 'string') return found.includes('only the beginning of a copy') ? 'refused' : found
			return found.whole.deliveries.size === 1 ? 'all' : 'an empty state'
		}
		const seen: string[] = []
		for (let step = 1; step < 200 && seen.at(-1) !== 'ended'; step++) {
			const to = url.startsWith('postgres') ? `${url}?name=n${step}` : `${url}${step}`
			const count = join(site.folder, 'count')
			const env = { ...preload('killAt'), ...more, KILL_AT: String(step), KILL_COUNT: count }
			const { code } = await site.run(['state', 'copy', 'state', to], env)
			seen.push(await left(to))
			if (code === 0) seen.push('ended')
		}
		expect(seen.filter((one, at) => one !== seen[at - 1])).toEqual(['nothing', 'refused', 'all', 'ended'])
	},
)
