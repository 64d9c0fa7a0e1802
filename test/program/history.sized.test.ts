// `tracewatch history`: lists what was sent, to whom, when, and with which result.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { inFull, sized } from '../support/longRun.js'
import { hookServer, settings, siteOf, treasury, vault, watchlist } from './site.js'

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
	const site = siteOf({
		'tracewatch.yaml': `${settings(node.url, hooks)}${more}`,
		'watchlists/a.yaml': watchlist(
			[
				`{address: ${treasury}, label: "=Treasury", from_block: ${from}, receivers: [good]}`,
				`{address: ${vault}, from_block: ${from}, receivers: [good, bad]}`,
			],
			'good',
		),
	})
	const running = site.start(['run'])
	await good.until(3)
	await bad.until(1)
	await running.line(({ msg }) => /given up|refuse/.test(msg))
	return { site, running }
}

/** Each with how many rows it leaves of that site's. */
const filters: readonly (readonly [filter: string, value: string, count: number])[] = [
	['--address', vault, 2],
	['--network', 'base', 0],
	['--kind', 'deployment', 0],
	['--kind', 'transfer', 3],
	['--since', '1h', 3],
]

const json = (stdout: string) =>
	stdout
		.trimEnd()
		.split('\n')
		.filter(Boolean)
		.map((line) => JSON.parse(line))

describe('tracewatch history', () => {
	test('beside a running daemon and after its end: rows, filters and formats', async () => {
		const { site, running } = await toldSite()
		// What the receivers have answered is written down a moment later.
		const endedBeside = async () => {
			const beside = await site.run(['history', '--format', 'json'])
			expect(beside.code).toBe(0)
			return json(beside.stdout).filter(({ result }) => ['delivered', 'dead'].includes(result))
		}
		await expect.poll(endedBeside).toHaveLength(3)
		const beside = await endedBeside()
		expect(await running.stop()).toMatchObject({ code: 0 })
		const { stdout, code, stderr } = await site.run(['history', '--format', 'json'])
		expect([code, stderr]).toEqual([0, ''])
		const rows = json(stdout)
		expect(beside.map(({ deliveryId }) => deliveryId).sort()).toEqual(rows.map(({ deliveryId }) => deliveryId).sort())
		const short = rows.map(({ receiver, result, address, kind, network }) => [receiver, result, address, kind, network])
		expect(short).toHaveLength(3)
		expect(short).toContainEqual([
			'bad',
			'dead',
			rows.find((row) => row.receiver === 'bad').address,
			'transfer',
			'local',
		])
		const repeated = rows.find(({ attempts, result }) => attempts === 2 && result === 'delivered')
		expect(repeated).toMatchObject({
			receiver: 'good',
			type: 'alert.transfer',
			lastError: expect.stringContaining('503'),
		})
		expect(repeated.answer).toMatch(/^127\.0\.0\.1:\d+ answered 204$/)
		expect(repeated.message.data.deliveryId).toBe(repeated.deliveryId)
		for (const { toldAt, endedAt } of rows.filter(({ result }) => result === 'delivered')) {
			expect(Date.parse(endedAt)).toBeGreaterThanOrEqual(Date.parse(toldAt))
		}
		expect(stdout).not.toContain('KEYq7XthatZ9mustN0tK2show')

		const of = async (...args: string[]) => json((await site.run(['history', '--format', 'json', ...args])).stdout)
		expect((await of('--address', treasury)).map(({ label }) => label)).toEqual(['=Treasury'])
		expect(await of('--receiver', 'bad')).toHaveLength(1)
		for (const [filter, value, count] of sized(filters.slice(-1), filters)) {
			expect([filter, value, (await of(filter, value)).length]).toEqual([filter, value, count])
		}
		expect((await of('--since', '2099-01-01')).map(({ result }) => result)).toEqual(['dead'])

		const table = (await site.run(['history'])).stdout
		expect(table).toContain('delivered')
		expect(table).toContain('[local] =Treasury sent 0.000000000000000005 ETH')
		expect(table).not.toContain('\u001b')
		const csv = (await site.run(['history', '--format', 'csv'])).stdout.trimEnd().split('\r\n')
		expect(csv).toHaveLength(4)
		expect(csv[0]).toBe(
			'told_at,ended_at,result,receiver,recipient,attempts,network,kind,address,label,says,last_error,answer,' +
				'id,delivery_id',
		)
		expect(csv.filter((line) => line.includes(",'=Treasury,"))).toHaveLength(1)
		const marked = await site.run(['history', '--format', 'csv', '--bom'])
		expect(Buffer.from(marked.stdout).subarray(0, 6).toString('hex')).toBe('efbbbf746f6c')
		expect(marked.stdout.slice(1).trimEnd().split('\r\n')).toEqual(csv)
		expect(await site.run(['history', '--bom'])).toMatchObject({ code: 2, stdout: '' })
	})

	inFull(() => {
		test('error: wrong usage', async () => {
			const site = siteOf({
				'tracewatch.yaml': settings(node.url, { hook: 'http://127.0.0.1:9/x' }),
				'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
			})
			for (const args of [
				['--since', 'yesterday'],
				['--format', 'xml'],
				['--address', '0x12'],
				['--kind', 'transfers'],
			]) {
				expect(await site.run(['history', ...args])).toMatchObject({ code: 2, stdout: '' })
			}
			expect(await site.run(['history', '--kind', 'alert.removed'])).toMatchObject({ code: 0, stdout: '' })
		})
	})

	inFull(() => {
		test('behavior: `history: 0` keeps none', async () => {
			const { site, running } = await toldSite('history: 0\n')
			await running.stop()
			const rows = json((await site.run(['history', '--format', 'json'])).stdout)
			expect(rows.map(({ result }) => result)).toEqual(['dead'])
		})
	})
})
