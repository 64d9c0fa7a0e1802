// A search finds the same on a busy machine as on a calm one, and is never an empty page while there is more.
import { expect, test, vi } from 'vitest'
import { historyRowOf } from '../../src/core/outbox/historyEntries.js'
import type { HistoryReader } from '../../src/model/history.js'
import { addressOf, deliveryOf } from '../state/samples.js'
import { manyWatches, pageFacts, servePages } from './facts.js'

const stretches = 1_000
const hits = 10

/** One hit in every hundredth stretch, the first after `emptyBefore` stretches. */
function sparseHistory(emptyBefore = 0): HistoryReader {
	return {
		async *read(_, below) {
			for (let at = below === null ? 0 : Number(below) + 1; at < emptyBefore + stretches; at++) {
				if (at >= emptyBefore && (at - emptyBefore) % (stretches / hits) === 0) {
					const delivery = deliveryOf(`msg_${at}`)
					const id = `1:0x${'ab'.repeat(32)}:root:transfer:${addressOf(at)}`
					const data = { ...delivery.message.data, id } as typeof delivery.message.data
					const told = { ...delivery, message: { ...delivery.message, data } }
					const row = historyRowOf(told, { result: 'delivered', atMs: 1_790_000_000_000 - at })
					yield { cursor: `${at}`, entry: { seq: stretches - at, ...row } }
				}
				yield { cursor: `${at}`, entry: null }
			}
		},
		async close() {},
	}
}

async function walk(url: string, path: string, list: string): Promise<readonly number[]> {
	const counts: number[] = []
	for (let next: string | null = ''; next !== null; ) {
		const before: string = next === '' ? '' : `&before=${next}`
		const page: ReturnType<typeof JSON.parse> = await (await fetch(`${url}${path}&format=json${before}`)).json()
		counts.push(page[list].length)
		next = page.next
	}
	return counts
}

test('default: the same pages whatever the clock says of the work', async () => {
	const url = await servePages(() => pageFacts({ history: sparseHistory() }))
	const calm = await walk(url, '/alerts?receiver=hook', 'alerts')
	let now = 0
	const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000))
	try {
		expect(await walk(url, '/alerts?receiver=hook', 'alerts')).toEqual(calm)
	} finally {
		clock.mockRestore()
	}
	expect(calm.reduce((sum, one) => sum + one, 0)).toBe(hits)
	expect(calm.length).toBeLessThanOrEqual(6)
})

test('behavior: no page is empty while there is more', async () => {
	const url = await servePages(() => pageFacts({ history: sparseHistory(700) }))
	expect((await walk(url, '/deliveries?status=delivered', 'deliveries')).every((count) => count > 0)).toBe(true)
})

test('behavior: all watches are searched at once', async () => {
	const watches = manyWatches(20_000)
	const url = await servePages(() => pageFacts({ watches }))
	expect(await walk(url, '/watches?q=customer+1999', 'watches')).toEqual([11])
	expect(await walk(url, '/watches?q=nobody', 'watches')).toEqual([0])
})
