// Digests and fallbacks of the real program, as a user sets them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import type { HookServer } from '../support/hookServer.js'
import type { Site } from '../support/program.js'
import { soaked } from '../support/soak.js'
import { hookServer, inProcess, siteOf, told, treasury, vault, watchlist } from './site.js'

let node: TestAnvil

beforeAll(async () => {
	node = await startTestAnvil()
})

afterAll(() => node.stop())

function site(receivers: readonly string[], list: string): Site {
	const network = `{name: local, chain_id: 31337, rpc: [${JSON.stringify(node.url)}], schedule: "* * * * * *"}`
	const lines = receivers.map((receiver) => `  - ${receiver}\n`).join('')
	return siteOf({
		'tracewatch.yaml': `networks:\n  - ${network}\nreceivers:\n${lines}`,
		'watchlists/a.yaml': list,
	})
}

const hookAt = (name: string, { origin }: HookServer, more = '') =>
	`{name: ${name}, type: webhook, url: "${origin}"${more}}`
const plain = watchlist([`{address: ${treasury}}`])
const incoming = watchlist([`{address: ${vault}}`])
const pay = (valueWei: bigint) => node.send({ from: treasury, to: vault, valueWei })

/** What every message tells, digests unfolded. */
const values = (hook: HookServer) =>
	told(hook.hits).flatMap(({ data }) => (data.alerts ?? [{ data }]).map((alert: typeof data) => alert.data.valueWei))

test('default: past its number a receiver gets the rest in one message, none lost', async () => {
	const hook = await hookServer()
	// Longer than anything here stands still, or a third would be told by itself.
	const here = site([hookAt('hook', hook, ', digest: {every: 8s, max: 2}')], incoming)
	const running = here.start(['run'])
	await running.line(({ msg }) => msg === 'coverage changed')
	await node.automine(false)
	for (let wei = 1n; wei <= 9n; wei += 1n) await pay(wei)
	await node.mine(1)
	await node.automine(true)
	await hook.until(() => values(hook).length >= 9)
	expect((await running.stop()).code).toBe(0)
	expect(values(hook)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9'])
	const types = told(hook.hits).map(({ type }) => type)
	expect(types.slice(0, 3)).toEqual(['alert.transfer', 'alert.transfer', 'alert.digest'])
	const status = JSON.parse((await inProcess(here).run(['status', '--json'])).stdout)
	expect(status.receivers[0]).toMatchObject({ delivered: 9, pending: 0, held: 0 })
})

test('default: a fallback hears once that its receiver refuses all, and gets each alert instead of it', async () => {
	const [hook, desk] = [await hookServer(), await hookServer()]
	hook.answer = ({ index }) => (index === 0 ? 422 : 410)
	const here = site([hookAt('hook', hook, ', fallback: desk'), hookAt('desk', desk)], plain)
	const running = here.start(['run'])
	await running.line(({ msg }) => msg === 'coverage changed')
	await pay(21n)
	await desk.until(2)
	await pay(22n)
	await desk.until(3)
	expect((await running.stop()).code).toBe(0)
	const words = told(desk.hits).map(
		({ type, data }) => `${type} ${data.valueWei ?? data.state} ${data.insteadOf ?? data.receiver}`,
	)
	expect(new Set(words)).toEqual(
		new Set(['system.undelivered parked hook', 'alert.transfer 21 hook', 'alert.transfer 22 hook']),
	)
})

test('behavior: killed many times in a storm, all alerts arrive; what comes twice has one deliveryId', async () => {
	const hook = await hookServer()
	// Taken, refused for now, or taken and the answer lost, in turn.
	hook.answer = ({ index }) => {
		if (index % 4 === 1) return 503
		return index % 4 === 3 ? (_, request) => void request.socket.resetAndDestroy() : 204
	}
	const here = site([hookAt('hook', hook, ', digest: {every: 1s, max: 2}')], incoming)
	let running = here.start(['run'])
	await running.line(({ msg }) => msg === 'coverage changed')
	const kills = soaked(2, 12)
	let wei = 100n
	for (let kill = 0; kill < kills; kill += 1) {
		for (let turn = 0; turn < 5; turn += 1) await pay(++wei)
		// A different moment each time: in a poll, a hold, a merge, a request.
		await new Promise((resolve) => setTimeout(resolve, 150 + ((kill * 397) % 1_300)))
		await running.stop('SIGKILL')
		running = here.start(['run'])
		await running.line(({ msg }) => msg === 'tracewatch is running')
	}
	const expected = Array.from({ length: 5 * kills }, (_, at) => String(101 + at))
	const came = () => told(hook.hits).flatMap(({ data }) => (data.alerts ?? [{ data }]).map(dataOf))
	await hook.until(() => new Set(came().map(({ valueWei }) => valueWei)).size >= 5 * kills)
	expect((await running.stop()).code).toBe(0)
	const ids = new Map<string, Set<string>>()
	for (const { valueWei, deliveryId } of came()) ids.set(valueWei, (ids.get(valueWei) ?? new Set()).add(deliveryId))
	expect([...ids.keys()].toSorted()).toEqual(expected)
	expect([...ids.values()].every(({ size }) => size === 1)).toBe(true)
	expect(told(hook.hits).some(({ type }) => type === 'alert.digest')).toBe(true)
})

const dataOf = ({ data }: { readonly data: { readonly valueWei: string; readonly deliveryId: string } }) => data
