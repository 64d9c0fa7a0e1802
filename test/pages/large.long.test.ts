// A million watches and a million rows of history: a page looks at no more of them than for a few.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { historyRowOf } from '../../src/core/outbox/historyEntries.js'
import type { HistoryReader } from '../../src/model/history.js'
import type { WatchSet } from '../../src/model/watch.js'
import { openHistory } from '../../src/state/open.js'
import { addressOf, deliveryOf } from '../state/samples.js'
import { temporaryFolder } from '../support/folder.js'
import { soaked } from '../support/soak.js'
import { manyWatches, pageFacts, servePages } from './facts.js'

const count = soaked(10_000, 1_000_000)
const startMs = Date.parse('2026-10-01T00:00:00Z')

/** Each row of its own watch, over thirty days; as the store writes them. */
async function writeHistory(folder: string): Promise<void> {
	await mkdir(join(folder, 'history'), { recursive: true })
	for (let day = 0, seq = 1; day < 30; day++) {
		const atMs = startMs + day * 86_400_000
		const file = createWriteStream(join(folder, 'history', `${new Date(atMs).toISOString().slice(0, 10)}.jsonl`))
		for (; seq <= (count * (day + 1)) / 30; seq++) {
			const delivery = deliveryOf(`msg_${seq}`)
			const data = { ...delivery.message.data, id: `1:0x${'ab'.repeat(32)}:root:transfer:${addressOf(seq)}` }
			const told = { ...delivery, message: { ...delivery.message, data: data as typeof delivery.message.data } }
			const row = { seq, ...historyRowOf(told, { result: 'delivered', atMs }) }
			if (!file.write(`${JSON.stringify(row)}\n`)) await once(file, 'drain')
		}
		file.end()
		await once(file, 'finish')
	}
}

test(`behavior: ${count} watches, ${count} rows and 10,000 waiting deliveries`, { timeout: 300_000 }, async () => {
	const folder = temporaryFolder()
	await writeHistory(folder)
	const watches = manyWatches(count)
	const waiting = Array.from({ length: 10_000 }, (_, at) => deliveryOf(`wait_${at}`))
	const stored = await openHistory({ kind: 'folder', dir: folder })
	/** Rows that a page took from the history, and watches that it made. */
	const looked = { rows: 0, watches: 0 }
	const history: HistoryReader = {
		...stored,
		async *read(query, below) {
			for await (const found of stored.read(query, below)) {
				if (found.entry !== null) looked.rows += 1
				yield found
			}
		},
	}
	const counting: WatchSet = {
		...watches,
		at(number) {
			looked.watches += 1
			return watches.at(number)
		},
	}
	const facts = pageFacts({ watches: counting, deliveries: async () => waiting, history })
	const server = await servePages(() => facts)
	for (const [path, mostRows, mostWatches] of [
		['/', 0, 0],
		['/alerts', 0, 0],
		['/alerts?before=w999999999', 1_000, 0],
		[`/alerts?address=${addressOf(Math.floor(count / 3))}&before=w999999999`, 10, 0],
		['/watches', 0, 110],
		[`/watches?before=${count - 50}`, 0, 50],
		['/watches?q=nobody', 0, count],
		[`/watches?q=${addressOf(count)}`, 0, 1],
		[`/watch?network=ethereum&address=${addressOf(Math.floor(count / 3))}`, 1, 0],
		['/deliveries', 0, 0],
		['/deliveries?status=delivered', 1_000, 0],
	] as const) {
		Object.assign(looked, { rows: 0, watches: 0 })
		const answer = await fetch(`${server}${path}`)
		expect([path, answer.status]).toEqual([path, 200])
		expect(await answer.text()).toContain('</html>')
		expect(looked.rows, path).toBeLessThanOrEqual(mostRows)
		expect(looked.watches, path).toBeLessThanOrEqual(mostWatches)
	}

	// However far back it is, it is found by going on.
	const wanted = addressOf(Math.floor(count / 3))
	let next: string | null = 'w999999999'
	let found = 0
	while (next !== null && found === 0) {
		const page: ReturnType<typeof JSON.parse> = await (
			await fetch(`${server}/alerts?format=json&q=${wanted}&before=${next}`)
		).json()
		found = page.alerts.length
		next = page.next
	}
	expect(found).toBe(1)
})
