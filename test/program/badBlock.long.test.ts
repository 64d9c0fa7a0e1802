// A block that the only endpoint answers wrongly for ever, met by the new blocks, a second look or a backfill: status,
// gaps and /healthz say the same of it, and all other blocks are sent.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { noTraces } from '../support/badBlock.js'
import { typed } from '../support/commandLine.js'
import { type Dialect, startDialectGateway } from '../support/dialectGateway.js'
import { failingBlocks } from '../support/failingBlock.js'
import { smallFigures, soonLeftOut } from '../support/preload.js'
import { hookServer, polled, settings, siteOf, told, treasury, vault, watchlist } from './site.js'

/** What is unread for 5 s in place of 60 is a trouble. */
const env = smallFigures(`${soonLeftOut},longUnreadMs=5000`)

async function start(dialect: Dialect, stallAfter = '60s') {
	const node = await startTestAnvil()
	const gateway = await startDialectGateway(node.url, dialect)
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(
			gateway.url,
			{ hook: hook.origin },
			`    stall_after: ${stallAfter}\nhttp: 127.0.0.1:0\n`,
		),
		'watchlists/a.yaml': watchlist([`{address: ${vault}, kinds: [transfer]}`]),
	})
	const pay = async (wei: bigint) => {
		const { blockNumber } = await node.receipt(await node.send({ from: treasury, to: vault, valueWei: wei }))
		return Number(blockNumber)
	}
	await node.mine(3)
	const running = here.start(['run'], env)
	const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
	await polled(running)
	const healthz = async () => {
		const answer = await fetch(`http://127.0.0.1:${String(port)}/healthz`)
		return { code: answer.status, text: await answer.text() }
	}
	const command = (...words: string[]) => typed(words, { cwd: here.folder })
	const status = async () => JSON.parse((await command('status', '--json')).stdout)
	/** Each delivery once, however often it came. */
	const hits = () => [...new Map(hook.hits.map((hit) => [hit.id, hit])).values()]
	const events = () => told(hits()).map(({ type, data }) => `${type} ${data.valueWei ?? data.fromBlock ?? ''}`)
	const until = async (isDone: () => boolean | Promise<boolean>) => {
		while (!(await isDone())) await sleep(200)
	}
	return { node, here, command, running, pay, healthz, status, events, until }
}

const lacks = ['trace_filter', 'trace_transaction', 'debug_traceBlockByNumber']

test('default: an unreadable block becomes a gap, named alike everywhere, and a person accepts it', async () => {
	const numbers = new Set<bigint>()
	const { here, command, running, pay, healthz, status, events, until } = await start(
		{ twist: noTraces.twist(numbers), lacks },
		'1h',
	)
	const before = await pay(1n)
	await until(() => events().length === 1)
	// The new blocks meet one such block, and a backfill another.
	const old = await pay(2n)
	await until(() => events().length === 2)
	const fresh = old + 1
	numbers.add(BigInt(fresh))
	await pay(3n)
	await pay(4n)
	await until(() => events().length === 4)
	expect(events()).toEqual(['alert.transfer 1', 'alert.transfer 2', `system.gap ${fresh}`, 'alert.transfer 4'])
	numbers.add(BigInt(old))
	const watches = `{address: ${treasury}, kinds: [transfer], from_block: ${before}}`
	here.write('watchlists/b.yaml', watchlist([watches]))
	await until(() => events().filter((event) => event === `system.gap ${old}`).length === 1)
	await until(async () => (await status()).networks[0].backfills.length === 0)
	expect(
		events()
			.filter((event) => /^alert\.transfer/.test(event))
			.sort(),
	).toEqual(['1', '1', '2', '4', '4'].map((wei) => `alert.transfer ${wei}`))

	const listed = await command('gaps')
	const said = await status()
	const page = await healthz()
	for (const number of [old, fresh]) {
		expect(listed.stdout).toContain(`local ${number}  open`)
		expect(said.networks[0].gaps).toContainEqual(expect.objectContaining({ fromBlock: number }))
	}
	expect([said.daemon.ok, page.code]).toEqual([false, 503])
	for (const words of [said.daemon.reason, page.text]) expect(words).toContain(`block ${old} and 1 more cannot be read`)
	expect(await command('gaps', 'accept', String(old), String(fresh))).toMatchObject({ code: 0 })
	expect((await status()).daemon).toMatchObject({ ok: true })
	expect((await healthz()).code).toBe(200)
	expect((await running.stop()).code).toBe(0)
}, 600_000)

test('behavior: a backfill over forgotten blocks is said by all, and the new blocks are no stall', async () => {
	const failing = failingBlocks()
	failing.error = { code: -32000, message: 'missing trie node' }
	const { here, command, node, pay, healthz, status, events, until } = await start({ twist: failing.twist, lacks })
	const old = await pay(1n)
	await until(() => events().length === 1)
	await node.mine(70)
	// The chain goes on, or that would be a stall.
	await until(async () => {
		await node.mine(1)
		return (await status()).networks[0].settled >= old
	})
	for (let number = 1; number <= old; number++) failing.numbers.add(BigInt(number))
	here.write('watchlists/b.yaml', watchlist([`{address: ${treasury}, kinds: [transfer], from_block: ${old}}`]))
	await until(async () => {
		await node.mine(1)
		return (await healthz()).code === 503
	})
	await pay(2n)
	await until(() => events().includes('alert.transfer 2'))
	await pay(2n)
	await until(() => events().includes('alert.transfer 2'))
	const words = new RegExp(`local: blocks ${old} to \\d+ are still unread for watches with .from_block.: .* To do: `)
	const { daemon, networks } = await status()
	expect(daemon).toMatchObject({ ok: false, reason: expect.stringMatching(words) })
	expect((await healthz()).text).toMatch(/still unread/)
	expect((await command('gaps')).stdout).toMatch(new RegExp(`local ${old} to \\d+ {2}not read yet for 1 address`))
	expect(networks[0].backfills).toMatchObject([{ from: old }])
	expect(events().filter((event) => event.startsWith('system.'))).toEqual([])
}, 600_000)

test('behavior: a second look over forgotten blocks is said by all, and the new blocks are reported', async () => {
	const failing = failingBlocks()
	failing.error = { code: -32000, message: 'missing trie node' }
	const { command, node, pay, healthz, status, events, until } = await start({ twist: failing.twist, lacks })
	const old = await pay(1n)
	await until(() => events().length === 1)
	for (let number = 1; number <= old; number++) failing.numbers.add(BigInt(number))
	await node.mine(70)
	await until(async () => {
		await node.mine(1)
		return (await healthz()).code === 503
	})
	await pay(2n)
	await until(() => events().includes('alert.transfer 2'))
	const words = /local: blocks \d+ to \d+ could not be read a second time: .*; what was sent stands\. To do: /
	const { daemon, networks } = await status()
	expect(daemon).toMatchObject({ ok: false, reason: expect.stringMatching(words) })
	expect((await healthz()).text).toMatch(words)
	const { stdout } = await command('gaps')
	expect(stdout).toMatch(words)
	expect(stdout).toContain('every block up to the checkpoint was read')
	expect(networks[0].settled).toBeLessThan(old)
	failing.numbers.clear()
	await until(async () => (await healthz()).code === 200)
	expect(events()).toEqual(['alert.transfer 1', 'alert.transfer 2'])
}, 600_000)
