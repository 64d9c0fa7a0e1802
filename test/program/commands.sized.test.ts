/** The commands beside `run` and `once`, as their user types them. */
import { chmodSync, cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { jsonSchema } from '../../src/config/jsonSchema.js'
import type { Hash } from '../../src/model/glossary.js'
import { holdFolder } from '../../src/state/file/disk/hold.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { describeOnce, inFull, testInFull, testOnce } from '../support/longRun.js'
import { startMailServer } from '../support/mailServer.js'
import type { Site } from '../support/program.js'
import { startTalkativeNode, type TalkativeNode } from '../support/talkativeNode.js'
import { hookServer, inProcess, other, settings, siteOf, stranger, told, treasury, vault, watchlist } from './site.js'

let chain: TestAnvil
let node: TalkativeNode
/** Payments of 1, 2, 3 wei in blocks 1 to 3, a deployment in block 4, and blocks of nothing. */
let hashes: readonly Hash[]

beforeAll(async () => {
	chain = await startTestAnvil()
	node = await startTalkativeNode(chain.url)
	const payments = [
		{ from: treasury, to: vault, valueWei: 1n },
		{ from: vault, to: treasury, valueWei: 2n },
		{ from: stranger, to: other, valueWei: 3n },
		{ from: treasury, valueWei: 4n, data: '0x60016000f3' },
	]
	const sent: Hash[] = []
	for (const payment of payments) sent.push(await chain.send(payment))
	hashes = sent
	await chain.mine(20)
})

afterAll(() => Promise.all([chain.stop(), node.close()]))

function site(hooks: Readonly<Record<string, string>>, watches: readonly string[], more = ''): Site {
	const files = {
		'tracewatch.yaml': `${settings(`http://${node.host}/key/evm`, hooks)}${more}`,
		'watchlists/a.yaml': watchlist(watches, Object.keys(hooks).join(', ')),
	}
	return inProcess(siteOf(files))
}

const lines = (text: string) => text.trim().split('\n')

describe('replay', () => {
	const opens = () => site({ hook: 'http://127.0.0.1:9' }, [`{address: ${treasury}, label: "=Treasury, \\"cold\\""}`])

	testOnce('prints the alerts of a range, both ends included, and writes nothing', async () => {
		const opened = opens()
		const { code, stdout } = await opened.run(['replay', '--from', '1', '--to', '4', '--format', 'json'])
		expect(code).toBe(0)
		const alerts = lines(stdout).map((line) => JSON.parse(line))
		expect(
			alerts.map(({ type, data }) => [type, data.blockNumber, data.direction, data.valueWei, data.txHash]),
		).toEqual([
			['alert.transfer', 1, 'out', '1', hashes[0]],
			['alert.transfer', 2, 'in', '2', hashes[1]],
			['alert.deployment', 4, 'out', '4', hashes[3]],
		])
		expect(alerts[0].data.id).toBe(`31337:${hashes[0]}:root:transfer:${treasury}`)
		const schema = z.fromJSONSchema(jsonSchema('alert') as z.core.JSONSchema.JSONSchema)
		for (const alert of alerts) expect(schema.safeParse(alert).error).toBeUndefined()
		const none = await opened.run(['replay', '--from', '5', '--to', '6'])
		expect(none.stdout).toBe('nothing happened there that a watch would have sent\n')
		expect(none.stderr).toContain('not replayed (see --help): code, delegation, control, balance, unexplained')
		const part = await opened.run(['replay', '--from', '2', '--to', '0x3', '--format', 'json'])
		expect(lines(part.stdout)).toHaveLength(1)
		expect(existsSync(join(opened.folder, 'state'))).toBe(false)
	})

	testOnce('behavior: blocks before `from_block`, and alerts announced before: printed all the same', async () => {
		const opened = site({ hook: 'http://127.0.0.1:9' }, [`{address: ${treasury}, from_block: 2}`])
		expect((await opened.run(['once'])).code).toBe(75)
		const announced = lines((await opened.run(['deliveries', '--json'])).stdout).map((line) => JSON.parse(line).message)
		expect(announced.map(({ data }) => data.txHash).sort()).toEqual([hashes[1], hashes[3]].sort())
		const { stdout } = await opened.run(['replay', '--from', '1', '--to', '4', '--format', 'json'])
		expect(lines(stdout).map((line) => JSON.parse(line).data.txHash)).toEqual([hashes[0], hashes[1], hashes[3]])
	})

	testInFull('args: a table, each column below its head', async () => {
		const opened = opens()
		const table = await opened.run(['replay', '--from', '1', '--to', 'latest'])
		expect(table.code).toBe(0)
		expect(lines(table.stdout)).toHaveLength(4)
		const [heads = '', row = ''] = lines(table.stdout)
		expect(heads).toMatch(/^block +time +kind +direction +value/)
		for (const [name, cell] of [
			['direction', 'out'],
			['value', '0.000000000000000001'],
			['kind', 'transfer'],
		] as const)
			expect(row.indexOf(cell)).toBe(heads.indexOf(name))
	})

	testOnce('args: --address of an address without a watch', async () => {
		const { code, stdout } = await opens().run([
			'replay',
			'--from',
			'1',
			'--to',
			'4',
			'--format',
			'json',
			'--address',
			other,
		])
		expect(code).toBe(0)
		expect(lines(stdout).map((line) => JSON.parse(line).data.valueWei)).toEqual(['3'])
		const none = await opens().run(['replay', '--from', '5', '--to', '9'])
		expect(none).toMatchObject({ code: 0, stdout: 'nothing happened there that a watch would have sent\n' })
	})

	testInFull('error: a wrong span of blocks is refused before a node is asked', async () => {
		const nowhere = inProcess(
			siteOf({
				'tracewatch.yaml': settings('http://127.0.0.1:9', { hook: 'http://127.0.0.1:9' }),
				'watchlists/a.yaml': watchlist([`{address: ${other}}`], 'hook'),
			}),
		)
		const asked = [[], ['--from', '5', '--to', '2'], ['--from', '5'], ['--from', '0', '--to', '0']]
		const codes = asked.map(async (args) => (await nowhere.run(['replay', ...args])).code)
		expect(await Promise.all(codes)).toEqual(codes.map(() => 2))
	})

	testOnce('error: beyond the head: 2, and the head', async () => {
		const { code, stderr } = await opens().run(['replay', '--from', '1', '--to', '99999'])
		expect(code).toBe(2)
		expect(stderr).toBe(`block 99999 is not there yet: the head is ${await chain.head()}\n`)
	})

	inFull(() => {
		test('behavior: SIGINT ends it with 75 and names the block to continue from', async () => {
			const opened = opens()
			onTestFinished(() => {
				node.delayMs = 0
			})
			await chain.mine(780)
			node.delayMs = 100
			const running = opened.start(['replay', '--from', '1', '--to', '800', '--format', 'json'])
			await new Promise<void>((resolve) => running.process.stdout?.once('data', () => resolve()))
			const { code, stderr, stdout } = await running.stop('SIGINT')
			expect(code).toBe(75)
			const next = /^blocks 1 to (\d+) are done; continue with --from (\d+)$/m.exec(stderr)
			expect(Number(next?.[2])).toBe(Number(next?.[1]) + 1)
			node.delayMs = 0
			const rest = await opened.run(['replay', '--from', String(next?.[2]), '--to', '800', '--format', 'json'])
			expect(rest.code).toBe(0)
			expect(lines(stdout + rest.stdout).filter((line) => line !== '')).toHaveLength(3)
		})
	})

	testInFull('behavior: once the reader of its output closes the pipe, no further block is asked for', async () => {
		const opened = opens()
		await chain.mine(780)
		const askedFirst = node.asked.length
		const running = opened.start(['replay', '--from', '1', '--to', '800', '--format', 'json'])
		running.process.stdout?.destroy()
		expect(await running.ended).toMatchObject({ code: 0, stdout: '' })
		expect(node.asked.slice(askedFirst).join()).toContain('"0x1"')
		expect(node.asked.slice(askedFirst).join()).not.toContain('"0x320"')
	})

	inFull(() => {
		test('behavior: an alert has the id of the delivery that the daemon sent', async () => {
			const hook = await hookServer()
			const opened = site({ hook: hook.origin }, [`{address: ${stranger}, from_block: 1}`])
			expect((await opened.run(['once'])).code).toBe(0)
			expect(told(hook.hits)[0].data.valueWei).toBe('3')
			const range = ['--from', '1', '--to', '4']
			const json = await opened.run(['replay', ...range, '--format', 'json'])
			expect(JSON.parse(json.stdout).data.deliveryId).toBe(hook.hits[0]?.id)
			for (const [option, words] of [
				[['--send'], '`replay --send` was removed: `tracewatch deliveries retry`'],
				[['--bom'], '`replay --bom` was removed: `--format json`'],
				[['--format', 'csv'], "'--format <format>' argument 'csv' is invalid"],
			] as const) {
				const { code, stdout, stderr } = await opened.run(['replay', ...range, ...option])
				expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(words)])
			}
		})
	})
})

describeOnce('beside a running daemon', () => {
	test('status, deliveries list, retry and drop work, and do not disturb it', async () => {
		const [live, sick] = [await hookServer(), await hookServer()]
		// Nothing is tried again by itself while the test looks.
		sick.answer = () => ({ status: 503, headers: { 'retry-after': '3600' } })
		const opened = site({ live: live.origin, sick: sick.origin }, [`{address: ${other}, direction: out}`])
		const running = opened.start(['run'])
		await running.line(({ msg }) => msg === 'coverage changed')
		const nothing = await opened.run(['deliveries'])
		expect(nothing).toMatchObject({ code: 0, stdout: 'nothing is pending, held, parked or dead\n' })
		for (const valueWei of [11n, 12n, 13n]) await chain.send({ from: other, to: vault, valueWei })
		await live.until(3)
		await sick.until(1)

		const statusNow = async () => JSON.parse((await opened.run(['status', '--json'])).stdout)
		// What arrived is recorded a moment later.
		await expect.poll(statusNow).toMatchObject({ receivers: [{ receiver: 'live', delivered: 3 }, {}] })
		const status = await statusNow()
		expect(status.networks[0]).toMatchObject({ network: 'local', checkpoint: Number(await chain.head()) })
		const bySick = ({ receiver }: { receiver: string }) => receiver === 'sick'
		expect(status.receivers.find(bySick)).toMatchObject({ pending: 3, delivered: 0 })
		const text = (await opened.run(['status'])).stdout
		expect(text).toMatch(/^local: scanned to block \d+, \d+ behind the head, \d+ s ago/m)
		expect(text).toMatch(/^sick: 3 pending/m)

		const listed = lines((await opened.run(['deliveries', 'list', '--json'])).stdout).map((line) => JSON.parse(line))
		expect(listed.map(({ receiver, message }) => [receiver, message.data.valueWei])).toEqual([
			['sick', '11'],
			['sick', '12'],
			['sick', '13'],
		])
		const words = (await opened.run(['deliveries'])).stdout
		expect(words).toContain(listed[0].id)
		expect(words).toMatch(/answered 503/)

		const dropped = await opened.run(['deliveries', 'drop', listed[1].id])
		expect(dropped).toMatchObject({ code: 0, stdout: '1 delivery dropped\n' })
		const again = await opened.run(['deliveries', 'drop', listed[1].id])
		expect(again.code).toBe(1)
		expect(again.stderr).toContain(listed[1].id)

		sick.answer = () => 204
		const before = sick.hits.length
		// The first stands before it in the queue, and is tried first.
		const retried = await opened.run(['deliveries', 'retry', listed[2].id])
		expect(retried).toMatchObject({ code: 0, stdout: '1 delivery will be tried again now\n' })
		await sick.until((hits) => hits.length >= before + 2)
		expect(told(sick.hits.slice(before)).map(({ data }) => data.valueWei)).toEqual(['11', '13'])
		expect((await running.stop()).code).toBe(0)
	})
})

testInFull('behavior: a state that a command holds for a moment is waited for', async () => {
	const opened = site({ hook: 'http://127.0.0.1:9' }, [`{address: ${treasury}}`])
	const { release: unlock } = await holdFolder(join(opened.folder, 'state'))
	const waiting = opened.run(['once'], { LOG_LEVEL: 'debug' })
	setTimeout(() => void unlock(), 1_000)
	expect((await waiting).code).toBe(0)
})

testOnce('error: `once` ends with 75 while the first message of a queue waits for its next attempt', async () => {
	const sick = await hookServer()
	sick.answer = () => ({ status: 503, headers: { 'retry-after': '3600' } })
	const opened = site({ sick: sick.origin }, [`{address: ${treasury}, from_block: 1}`])
	expect((await opened.run(['once'])).code).toBe(75)
	sick.answer = () => 204
	expect((await opened.run(['once'])).code).toBe(75)
	expect(sick.hits).toHaveLength(1)
	expect((await opened.run(['deliveries', 'retry', '--all'])).code).toBe(0)
	expect((await opened.run(['once'])).code).toBe(0)
	expect(told(sick.hits.slice(1)).map(({ data }) => data.valueWei)).toEqual(['1', '4', '2'])
})

testOnce.each([
	['its next attempt', { status: 503, headers: { 'retry-after': '3600' } }],
	['its refusal to end', { status: 400 }],
] as const)('error: `once` ends with 75 while a message waits for %s', async (_, answer) => {
	const sick = await hookServer()
	sick.answer = () => answer
	const opened = site({ sick: sick.origin }, [`{address: ${treasury}, from_block: 4}`])
	expect((await opened.run(['once'])).code).toBe(75)
	expect((await opened.run(['once'])).code).toBe(75)
	sick.answer = () => 204
	await opened.run(['deliveries', 'retry', '--all'])
	expect((await opened.run(['once'])).code).toBe(0)
})

testOnce('error: `once` ends with 75 where the head stays behind the checkpoint', async () => {
	const younger = await startTestAnvil()
	onTestFinished(() => younger.stop())
	const opened = site({ hook: 'http://127.0.0.1:9' }, [`{address: ${stranger}, kinds: [transfer]}`])
	expect((await opened.run(['once'])).code).toBe(0)
	const stalls = (after: string) => settings(younger.url, { hook: 'http://127.0.0.1:9' }, `    stall_after: ${after}\n`)
	opened.write('tracewatch.yaml', stalls('1h'))
	expect((await opened.run(['once'])).code).toBe(0)
	opened.write('tracewatch.yaml', stalls('3s'))
	await expect.poll(async () => (await opened.run(['once'])).code, { timeout: 20_000 }).toBe(75)
})

describeOnce('test-send', () => {
	test('to a webhook: marked as a test, signed, the state untouched', async () => {
		const hook = await hookServer()
		const opened = site({ hook: hook.origin }, [`{address: ${treasury}}`])
		const { code, stdout } = await opened.run(['test-send', 'hook'])
		expect([code, stdout]).toEqual([0, 'delivered to `hook`\n'])
		expect(told(hook.hits)).toMatchObject([{ type: 'test', data: { test: true, deliveryId: hook.hits[0]?.id } }])
		expect(existsSync(join(opened.folder, 'state'))).toBe(false)
	})

	test('to a mail server: marked as a test in the subject, one mail a recipient', async () => {
		const mail = await startMailServer()
		onTestFinished(() => mail.close())
		const more = `  - name: mail
    type: email
    smtp: smtp://${mail.host}
    from: tracewatch@example.org
    to: [a@example.org, b@example.org]
`
		const opened = site({ hook: 'http://127.0.0.1:9' }, [`{address: ${treasury}, receivers: [mail]}`], more)
		const { code, stdout } = await opened.run(['test-send', 'mail'])
		expect([code, lines(stdout)]).toEqual([
			0,
			['delivered to `mail` (a@example.org)', 'delivered to `mail` (b@example.org)'],
		])
		expect(mail.mails.map(({ recipients }) => recipients)).toEqual([['a@example.org'], ['b@example.org']])
		for (const { subject, text } of mail.mails) expect(subject + text).toMatch(/^\[TEST\].*test/is)
	})

	test.each([
		[500, 75, /not delivered to `hook`: 127\.0\.0\.1:\d+ answered 500/],
		[401, 1, /not delivered to `hook`: .*credentials were refused/],
		[400, 1, /not delivered to `hook`: .*the message was refused/],
	])('error: an answer of %i ends with %i and says why', async (status, code, words) => {
		const hook = await hookServer()
		hook.answer = () => status
		const opened = site({ hook: hook.origin }, [`{address: ${treasury}}`])
		const ended = await opened.run(['test-send', 'hook'])
		expect(ended.code).toBe(code)
		expect(ended.stdout).toMatch(words)
	})
})

describeOnce('examples/starter, copied', () => {
	test('check accepts it as it stands, and names a secret whose file is gone', async () => {
		const opened = inProcess(siteOf())
		cpSync(join(import.meta.dirname, '../../examples/starter'), opened.folder, { recursive: true })
		const secrets = join(opened.folder, 'secrets')
		for (const name of readdirSync(secrets)) chmodSync(join(secrets, name), 0o600)
		const { code, stdout, stderr } = await opened.run(['check'])
		expect([code, stderr]).toEqual([0, ''])
		expect(stdout).toContain('configuration is right: 2 networks, 10 watches, 3 receivers')
		rmSync(join(secrets, 'SMTP_URL'))
		const unset = await opened.run(['check'])
		expect(unset.code).toBe(78)
		expect(unset.stderr).toContain('SMTP_URL')
	})
})
