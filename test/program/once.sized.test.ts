import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ether, startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { freePort } from '../support/freePort.js'
import { type HookServer, startHookServer } from '../support/hookServer.js'
import { inFull, testInFull, testOnce } from '../support/longRun.js'
import type { Site } from '../support/program.js'
import { inProcess, settings, siteOf, stranger, told, treasury, vault, watchlist } from './site.js'

let node: TestAnvil
let hook: HookServer

beforeAll(async () => {
	node = await startTestAnvil()
	hook = await startHookServer()
})

afterAll(async () => {
	await node.stop()
	await hook.close()
})

function site(watches: readonly string[], rpc: string = node.url, hookUrl = `${hook.origin}/once`): Site {
	return inProcess(
		siteOf({
			'tracewatch.yaml': settings(rpc, { hook: hookUrl }),
			'watchlists/a.yaml': watchlist(watches),
		}),
	)
}

const since = (count: number) =>
	told(hook.hits.slice(count)).map(({ data }) => [data.direction, data.valueWei, data.watch.label])

describe('tracewatch once', () => {
	testOnce('sends what happened after the first look, once', async () => {
		const before = hook.hits.length
		const here = site([`{address: ${treasury}, label: Treasury}`])
		await node.send({ from: treasury, to: vault, valueWei: 5n })
		expect((await here.run(['once'])).code).toBe(0)
		expect(since(before)).toEqual([])
		await node.send({ from: treasury, to: vault, valueWei: ether })
		await node.send({ from: vault, to: treasury, valueWei: 7n })
		expect((await here.start(['once']).ended).code).toBe(0)
		expect((await here.run(['once'])).code).toBe(0)
		expect(since(before)).toEqual([
			['out', '1000000000000000000', 'Treasury'],
			['in', '7', 'Treasury'],
		])
	})

	testInFull('args: from_block sends the blocks before, without delaying the others', async () => {
		const before = hook.hits.length
		await node.send({ from: vault, to: stranger, valueWei: 11n })
		const from = await node.head()
		await node.send({ from: vault, to: stranger, valueWei: 12n })
		const here = site([`{address: ${stranger}, label: S, from_block: ${from}}`, `{address: ${vault}, label: V}`])
		expect((await here.run(['once'])).code).toBe(0)
		expect(since(before)).toEqual([
			['in', '11', 'S'],
			['in', '12', 'S'],
		])
	})

	inFull(() => {
		test('behavior: a renamed file, a moved watch and a new label report nothing twice', async () => {
			const before = hook.hits.length
			const here = site([`{address: ${stranger}, label: S, from_block: 1}`])
			await here.run(['once'])
			const first = since(before).length
			expect(first).toBeGreaterThan(0)
			here.write('watchlists/a.yaml', watchlist([`{address: ${vault}}`]))
			here.write('watchlists/b.yaml', watchlist([`{address: ${stranger}, label: New, from_block: 1}`]))
			await here.run(['once'])
			await node.send({ from: treasury, to: stranger, valueWei: 13n })
			await here.run(['once'])
			expect(since(before).slice(first)).toEqual([['in', '13', 'New']])
		})
	})

	inFull(() => {
		test('behavior: a watch that is new in the YAML starts after the block at which it is first seen', async () => {
			const before = hook.hits.length
			const here = site([`{address: ${vault}, direction: in}`])
			await here.run(['once'])
			await node.send({ from: treasury, to: stranger, valueWei: 21n })
			here.write('watchlists/b.yaml', watchlist([`{address: ${stranger}, label: late}`]))
			await here.run(['once'])
			expect(since(before)).toEqual([])
			await node.send({ from: treasury, to: stranger, valueWei: 22n })
			await here.run(['once'])
			expect(since(before)).toEqual([['in', '22', 'late']])
		})
	})

	testInFull('behavior: a deployment names its contract, and carries the endowment', async () => {
		const before = hook.hits.length
		const here = site([`{address: ${treasury}, label: T}`])
		await here.run(['once'])
		// Init code that returns one byte of runtime code: PUSH1 1, PUSH1 0, RETURN.
		const hash = await node.send({ from: treasury, valueWei: 9n, data: '0x60016000f3' })
		const { contractAddress } = await node.receipt(hash)
		expect((await here.run(['once'])).code).toBe(0)
		const alerts = told(hook.hits.slice(before))
		expect(alerts).toHaveLength(1)
		expect(alerts[0].type).toBe('alert.deployment')
		expect(alerts[0].data).toMatchObject({
			kind: 'deployment',
			frameType: 'create',
			valueWei: '9',
			direction: 'out',
			category: 'external',
		})
		expect(alerts[0].data.contractAddress.toLowerCase()).toBe(contractAddress)
		expect(alerts[0].data.to).toBe(alerts[0].data.contractAddress)
	})

	testInFull('error: a receiver that is down ends with 75, and nothing is lost', async () => {
		const port = await freePort()
		const here = site([`{address: ${treasury}, label: T}`], node.url, `http://127.0.0.1:${port}/x`)
		await here.run(['once'])
		await node.send({ from: treasury, to: vault, valueWei: 31n })
		expect((await here.run(['once'])).code).toBe(75)
		const again = await startHookServer(port)
		onTestFinished(() => again.close())
		await here.run(['deliveries', 'retry', '--all'])
		expect((await here.run(['once'])).code).toBe(0)
		expect(told(again.hits).map(({ data }) => data.valueWei)).toEqual(['31'])
	})

	testOnce('error: the configuration has a problem: 78, and every problem with its place', async () => {
		const here = site([`{address: ${treasury}, labl: x}`, `{address: 0x12}`])
		const { code, stderr } = await here.run(['once'])
		expect(code).toBe(78)
		expect(stderr).toMatch(/^watchlists\/a\.yaml:4:\d+: .*`labl`.*`label`/m)
		expect(stderr).toMatch(/^watchlists\/a\.yaml:5:\d+: /m)
	})

	testInFull('status reads the checkpoint from the state', async () => {
		const here = site([`{address: ${treasury}}`])
		await here.run(['once'])
		const { stdout } = await here.run(['status', '--json'])
		const report = JSON.parse(stdout)
		expect(report.networks).toMatchObject([{ network: 'local', chainId: 31337, checkpoint: Number(await node.head()) }])
		expect(report.networks[0]).toMatchObject({ head: report.networks[0].checkpoint, lagBlocks: 0 })
		expect(report.receivers).toMatchObject([{ receiver: 'hook', pending: 0, dead: 0 }])
	})
})
