// A million rows are searched in seconds, in little memory.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { historyRowOf } from '../../../src/core/history.js'
import type { HistoryRow } from '../../../src/model/history.js'
import { openHistoryFiles } from '../../../src/state/file/history/reader.js'
import { temporaryFolder } from '../../support/folder.js'
import { sized } from '../../support/longRun.js'
import { addressOf, deliveryOf } from '../samples.js'

const rows = sized(20_000, 1_000_000)
const days = 30
const startMs = Date.parse('2026-10-01T00:00:00Z')

/** Each of its own watch; as the store writes them. */
export async function writeHistory(folder: string, count: number): Promise<void> {
	await mkdir(join(folder, 'history'), { recursive: true })
	for (let day = 0, seq = 1; day < days; day++) {
		const ms = startMs + day * 86_400_000
		const file = createWriteStream(join(folder, 'history', `${new Date(ms).toISOString().slice(0, 10)}.jsonl`))
		for (; seq <= (count * (day + 1)) / days; seq++) {
			const id = `1:0x${'ab'.repeat(32)}:root:transfer:${addressOf(seq)}`
			const delivery = deliveryOf(`msg_${seq}`)
			const data = { ...delivery.message.data, id } as typeof delivery.message.data
			const told = { ...delivery, message: { ...delivery.message, data } }
			const row = { seq, ...historyRowOf(told, { result: 'delivered', atMs: ms + 1, answer: 'hook answered 204' }) }
			if (!file.write(`${JSON.stringify(row)}\n`)) await once(file, 'drain')
		}
		file.end()
		await once(file, 'finish')
	}
}

test(`behavior: one address among ${rows} rows`, { timeout: 300_000 }, async () => {
	const folder = temporaryFolder()
	await writeHistory(folder, rows)
	const wanted = Math.floor(rows / 7)
	const before = process.memoryUsage().rss
	let most = before
	const startedMs = performance.now()
	const found: HistoryRow[] = []
	for await (const { entry } of openHistoryFiles(folder).read({ address: addressOf(wanted) }, null)) {
		if (entry !== null) found.push(entry as HistoryRow)
		most = Math.max(most, process.memoryUsage.rss())
	}
	const tookMs = performance.now() - startedMs
	console.log(`${rows} rows searched in ${Math.round(tookMs)} ms, ${Math.round((most - before) / 1e6)} MB more`)
	expect(found.map(({ id }) => id)).toEqual([`msg_${wanted}`])
	expect(tookMs).toBeLessThan(15_000)
	expect(most - before).toBeLessThan(150e6)
})
