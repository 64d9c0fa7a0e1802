// A million rows are searched in the time that it takes to parse them, in little memory.

import { once } from 'node:events'
import { createWriteStream, readdirSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { historyRowOf } from '../../../src/core/outbox/historyEntries.js'
import type { HistoryRow } from '../../../src/model/history.js'
import { openHistoryFiles } from '../../../src/state/file/historyFiles.js'
import { temporaryFolder } from '../../support/folder.js'
import { sized } from '../../support/longRun.js'
import { timesOf } from '../../support/processor.js'
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

test(`behavior: a search for an address among ${rows} rows`, { timeout: 300_000 }, async () => {
	const folder = temporaryFolder()
	await writeHistory(folder, rows)
	const wanted = Math.floor(rows / 7)
	const before = process.memoryUsage().rss
	let most = before
	const search = async () => {
		const found: HistoryRow[] = []
		for await (const { entry } of openHistoryFiles(folder).read({ address: addressOf(wanted) }, null)) {
			if (entry !== null) found.push(entry as HistoryRow)
			most = Math.max(most, process.memoryUsage.rss())
		}
		expect(found.map(({ id }) => id)).toEqual([`msg_${wanted}`])
	}
	const parse = async () => {
		for (const name of readdirSync(join(folder, 'history'))) {
			const text = await readFile(join(folder, 'history', name), 'utf8')
			for (const line of text.trimEnd().split('\n')) JSON.parse(line)
		}
	}
	await search()
	const grown = most - before
	console.log(`${rows} rows searched, ${Math.round(grown / 1e6)} MB more`)
	expect(grown).toBeLessThan(150e6)
	expect(await timesOf(3, search, parse)).toBeLessThan(3)
})
