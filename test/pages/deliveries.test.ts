// Deliveries, a line each: what moved, to whom it is told, what became of it, and what comes next.
import { expect, test } from 'vitest'
import { alertDeliveryOf, deliveryOf, messageOf, startMs, systemData } from '../notify/samples.js'
import { pageFacts, servePages } from './facts.js'

const failed = 'hooks.example.org answered 503'
const deliveries = [
	alertDeliveryOf(1, { createdAtMs: startMs }, { value: '7', valueWei: '7000000000000000000' }),
	alertDeliveryOf(
		2,
		{ createdAtMs: startMs, attempts: 2, lastError: failed, nextAttemptAtMs: startMs + 3_610_000 },
		{ lookalike: { of: '0x00000000000000000000000000000000000D0001', label: null, prefix: 4, suffix: 4 } },
	),
	deliveryOf(3, { createdAtMs: startMs, message: messageOf(systemData(), 'system.recovered') }),
]
const facts = (waiting: typeof deliveries) =>
	pageFacts({ clock: () => startMs + 3_600_000, deliveries: async () => waiting })
const words = (text: string) =>
	text
		.replaceAll(/<[^>]*>/g, ' ')
		.replaceAll(/\s+/g, ' ')
		.trim()
const rowsOf = (text: string) =>
	[...text.matchAll(/<tr>(<th scope="row">[\s\S]*?)<\/tr>/g)].map(([, row]) => words(row ?? ''))

test('default: a line each: what it says, its state, and why it has not arrived', async () => {
	const url = await servePages(() => facts(deliveries))
	const text = await (await fetch(`${url}/deliveries`)).text()
	expect(words(/<thead>(.*?)<\/thead>/.exec(text)?.[1] ?? '')).toBe(
		'When Receiver What State Tries Next try Last failure',
	)
	expect(rowsOf(text)).toEqual([
		'60 min ago : details hook [ethereum] Recovered: this network is being watched again pending 0 now',
		expect.stringMatching(
			/^60 min ago : details hook \[ethereum\] LOOK-ALIKE: .* pending 2 in 10 s hooks\.example\.org answered 503$/,
		),
		expect.stringMatching(/^60 min ago : details hook \[ethereum\] Treasury received 7 ETH .* pending 0 now$/),
	])
})

test('behavior: the column of failures is there only where something failed', async () => {
	const url = await servePages(() => facts(deliveries.slice(0, 1)))
	expect(await (await fetch(`${url}/deliveries`)).text()).not.toContain('Last failure')
})

test('default: JSON says the movement apart from the sentence; it is null where there is none', async () => {
	const url = await servePages(() => facts(deliveries))
	const found: ReturnType<typeof JSON.parse> = await (await fetch(`${url}/deliveries?format=json`)).json()
	const movements = found.deliveries.map(({ movement }: { movement: object | null }) => movement)
	expect(movements).toEqual([null, null, { direction: 'in', value: '7', item: 'ETH' }])
})
