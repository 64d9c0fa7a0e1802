// A stranger's dust stops no scan and holds up no theft; what is not sent by itself is told by count and sum.
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { typed } from '../support/commandLine.js'
import { smallFigures } from '../support/preload.js'
import { hookServer, other, polled, settings, siteOf, told, treasury, vault, watchlist } from './site.js'

const env = smallFigures('MOST_PENDING=100')

test('error: three hundred dust payments before a theft, where few deliveries may wait', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: hook.origin }),
		'watchlists/a.yaml': watchlist([`{address: ${treasury}, kinds: [transfer]}`]),
	})
	const running = here.start(['run'], env)
	await polled(running)
	// Nothing is taken until the theft waits too: then it stands before the dust, however slow the machine is.
	const theft = running.line(({ msg, direction }) => msg === 'alert' && direction === 'out')
	hook.answer = () => (response) => void theft.then(() => response.writeHead(204).end())
	const values = Array.from({ length: 300 }, (_, at) => BigInt(at + 1))
	await node.automine(false)
	for (const valueWei of values) await node.send({ from: other, to: treasury, valueWei })
	await node.mine()
	await hook.until(1)
	await node.send({ from: treasury, to: vault, valueWei: 9_000n * 10n ** 18n })
	await node.mine()

	const wholeOf = (all: ReturnType<typeof told>) =>
		all.reduce((sum, { data }) => sum + (data.direction === 'in' ? 1 + (data.folded?.count ?? 0) : 0), 0)
	// What was not answered in time comes again under its id.
	const once = (some: Parameters<typeof told>[0]) =>
		[...new Map(told(some).map((one) => [one.data.deliveryId, one])).values()] as ReturnType<typeof told>
	const hits = await hook.until(
		(some) => wholeOf(once(some)) >= 300 && once(some).some(({ data }) => data.direction === 'out'),
	)
	const all = once(hits)
	expect(wholeOf(all)).toBe(300)
	const folds = all.filter(({ data }) => data.folded !== undefined)
	expect(folds.length).toBeGreaterThan(0)
	// Told alone and told by others are exactly what was paid.
	const sum = (some: readonly string[]) => some.reduce((one, wei) => one + BigInt(wei), 0n)
	const alone = all.filter(({ data }) => data.direction === 'in').map(({ data }) => data.valueWei)
	const others = folds.flatMap(({ data }) => data.folded.sums.map((one: { amountRaw: string }) => one.amountRaw))
	expect(sum(alone) + sum(others)).toBe(values.reduce((one, wei) => one + wei))
	for (const { data } of folds)
		expect(data.folded).toMatchObject({ fromBlock: data.blockNumber, toBlock: data.blockNumber })
	// Dust was still waiting when the theft came.
	expect(all.findIndex(({ data }) => data.direction === 'out')).toBeLessThan(all.length - 10)
	expect(running.output()).not.toMatch(/polling waits|stalled/)

	const listed = async () => {
		const { stdout } = await typed(['deliveries', '--sent', '--address', treasury, '--json'], { cwd: here.folder })
		const rows = stdout
			.trim()
			.split('\n')
			.map((line) => JSON.parse(line))
		return { all: rows.length, folded: rows.filter(({ result }) => result === 'folded').length }
	}
	const inFolds = folds.reduce((count, { data }) => count + data.folded.count, 0)
	await expect.poll(listed, { interval: 250 }).toEqual({ all: 301, folded: inFolds })
})
