// A million watches and a million rows of history: each page as fast as for a few, as the program serves it.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { historyRowOf } from '../../src/core/history.js'
import { openHistory } from '../../src/state/open.js'
import { addressOf, deliveryOf } from '../state/samples.js'
import { temporaryFolder } from '../support/folder.js'
import { sized } from '../support/longRun.js'
import { machineSpeed } from '../support/machineSpeed.js'
import { processorMs } from '../support/processor.js'
import { manyWatches, pageFacts, servePages } from './facts.js'

const count = sized(30_000, 1_000_000)
/** Of the processor: what one request takes on a calm machine, whatever else this one does meanwhile. */
const limitMs = 50
/** By the clock, however much else runs here. */
const patienceMs = 250
const startMs = Date.parse('2026-10-01T00:00:00Z')

const middle = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0

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
	const history = await openHistory({ kind: 'folder', dir: folder }, Date.now)
	const facts = pageFacts({ watches, deliveries: async () => waiting, history })
	const server = await servePages(() => facts)
	const figures: string[] = []
	for (const path of [
		'/',
		'/alerts',
		'/alerts?before=w999999999',
		'/alerts?q=nowhere',
		`/alerts?address=${addressOf(Math.floor(count / 3))}&before=w999999999`,
		'/watches',
		`/watches?before=${count - 50}`,
		'/watches?q=customer+29',
		'/watches?q=nobody',
		`/watches?q=${addressOf(count)}`,
		'/deliveries',
		'/deliveries?status=delivered',
	]) {
		const [taken, waited]: [number[], number[]] = [[], []]
		for (let run = 0; run < 11; run++) {
			const beganMs = performance.now()
			const ms = await processorMs(async () => {
				const answer = await fetch(`${server}${path}`)
				expect(answer.status).toBe(200)
				expect(await answer.text()).toContain('</html>')
			})
			taken.push(ms)
			waited.push(performance.now() - beganMs)
		}
		figures.push(`${path.replace(/0x0{10,}/, '0x…')} ${middle(taken).toFixed(1)} of ${middle(waited).toFixed(1)} ms`)
		expect(middle(taken), path).toBeLessThan(limitMs)
		// By the wall's clock only as well as the machine is free at this moment.
		const times = middle(waited) < patienceMs ? 1 : machineSpeed().wall
		expect(middle(waited), path).toBeLessThan(patienceMs * times)
	}
	console.log(`${count} watches and rows: ${figures.join(', ')}`)

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
