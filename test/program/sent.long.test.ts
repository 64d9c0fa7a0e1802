// `tracewatch deliveries --sent`: lists what was sent, to whom, when, and with which result.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { hookServer, inProcess, settings, siteOf, treasury, vault, watchlist } from './site.js'

let node: TestAnvil
beforeAll(async () => {
	node = await startTestAnvil()
})
afterAll(() => node.stop())

/** A site that was sent of two payments: one receiver took both, the other refuses its own for good. */
async function toldSite(more = '') {
	const from = (await node.head()) + 1n
	await node.receipt(await node.send({ from: treasury, to: vault, valueWei: 5n }))
	const [good, bad] = [await hookServer(), await hookServer()]
	good.answer = ({ index }) => (index === 0 ? { status: 503, headers: { 'retry-after': '1' } } : 204)
	bad.answer = () => ({ status: 400, body: 'KEYq7XthatZ9mustN0tK2show is no alert \u001b[31mof mine' })
	const hooks = { good: `${good.origin}/KEYq7XthatZ9mustN0tK2show`, bad: `${bad.origin}/KEYq7XthatZ9mustN0tK2show` }
	const site = inProcess(
		siteOf({
			'tracewatch.yaml': `${settings(node.url, hooks)}${more}`,
			'watchlists/a.yaml': watchlist(
				[
					`{address: ${treasury}, label: "=Treasury", from_block: ${from}, receivers: [good]}`,
					`{address: ${vault}, from_block: ${from}, receivers: [good, bad]}`,
				],
				'good',
			),
		}),
	)
	const running = site.start(['run'])
	await good.until(3)
	await bad.until(1)
	await running.line(({ msg }) => /given up|refuse/.test(msg))
	return { site, running }
}

const json = (stdout: string) =>
	stdout
		.trimEnd()
		.split('\n')
		.filter(Boolean)
		.map((line) => JSON.parse(line))

test('deliveries that were sent are listed beside a daemon and after its end: rows, filters, words', async () => {
	const { site, running } = await toldSite()
	const sent = async (...args: string[]) => {
		const { code, stdout, stderr } = await site.run(['deliveries', '--sent', '--json', ...args])
		expect([code, stderr]).toEqual([0, ''])
		expect(stdout).not.toContain('KEYq7XthatZ9mustN0tK2show')
		return json(stdout)
	}
	// What the receivers have answered is written down a moment later.
	await expect.poll(() => sent()).toHaveLength(2)
	const beside = await sent()
	expect(await running.stop()).toMatchObject({ code: 0 })
	const rows = await sent()
	expect(rows).toEqual(beside)
	expect(rows.map(({ receiver, result, label, kind, network }) => [receiver, result, label, kind, network])).toEqual(
		expect.arrayContaining([
			['good', 'delivered', '=Treasury', 'transfer', 'local'],
			['good', 'delivered', null, 'transfer', 'local'],
		]),
	)
	const repeated = rows.find(({ attempts }) => attempts === 2)
	expect(repeated).toMatchObject({ type: 'alert.transfer', lastError: expect.stringContaining('503') })
	expect(repeated.answer).toMatch(/^127\.0\.0\.1:\d+ answered 204$/)
	expect(repeated.message.data.deliveryId).toBe(repeated.deliveryId)
	for (const { toldAt, endedAt } of rows) expect(Date.parse(endedAt)).toBeGreaterThanOrEqual(Date.parse(toldAt))

	const count = async (...args: string[]) => (await sent(...args)).length
	expect(await count('--address', treasury)).toBe(1)
	const filters: readonly (readonly [expected: number, filter: string])[] = [
		[2, '--since 1h'],
		[1, `--since 1h --address ${vault}`],
		[0, '--receiver bad'],
		[2, '--receiver good'],
		[0, '--since 2099-01-01'],
	]
	for (const [expected, filter] of filters)
		expect([filter, await count(...filter.split(' '))]).toEqual([filter, expected])

	const table = (await site.run(['deliveries', '--sent'])).stdout
	expect(table).toMatch(/Z {2}delivered {2}good {2}\[local\] =Treasury sent 0\.000000000000000005 ETH/)
	// What was not sent is in the list of what waits, by the same filters.
	const waiting = async (...args: string[]) => json((await site.run(['deliveries', '--json', ...args])).stdout)
	expect((await waiting('--address', vault, '--since', '1h')).map(({ receiver }) => receiver)).toEqual(['bad'])
	expect(await waiting('--address', treasury)).toEqual([])
	expect(await waiting('--since', '2099-01-01')).toEqual([])
})

test('error: wrong usage, and a command that is gone', async () => {
	const site = inProcess(
		siteOf({
			'tracewatch.yaml': settings(node.url, { hook: 'http://127.0.0.1:9/x' }),
			'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
		}),
	)
	const wrong: readonly (readonly [words: string, ...args: string[]])[] = [
		["argument 'yesterday' is invalid. it takes 24h", 'deliveries', '--since', 'yesterday'],
		["argument '2026-02-31' is invalid", 'deliveries', '--since', '2026-02-31'],
		["argument '0x12' is invalid", 'deliveries', '--sent', '--address', '0x12'],
		["option '--status <status>' cannot be used with option '--sent'", 'deliveries', '--sent', '--status', 'dead'],
		['nothing of it is retried', 'deliveries', 'retry', '--all', '--sent'],
		['`history` was removed: `tracewatch deliveries --sent`', 'history'],
	]
	for (const [words, ...args] of wrong) {
		const { code, stdout, stderr } = await site.run(args)
		expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(words)])
	}
})

test('behavior: `history: 0` keeps none', async () => {
	const { site, running } = await toldSite('history: 0\n')
	await running.stop()
	expect((await site.run(['deliveries', '--sent', '--json'])).stdout).toBe('')
})
