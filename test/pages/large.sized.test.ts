// A million watches and a million rows of history: each page within 50 ms, as the program serves it.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createWatchSet } from '../../src/config/watchlists/watchSet.js'
import { historyRowOf } from '../../src/core/history.js'
import type { Address } from '../../src/model/glossary.js'
import type { WatchRules } from '../../src/model/watch.js'
import { startHttp } from '../../src/ops/http.js'
import { createScrubber } from '../../src/ops/scrub.js'
import { createActivity } from '../../src/pages/activity.js'
import type { PageFacts } from '../../src/pages/facts.js'
import { pageAt } from '../../src/pages/pages.js'
import { openHistory } from '../../src/state/open.js'
import { addressOf, deliveryOf } from '../state/samples.js'
import { temporaryFolder } from '../support/folder.js'
import { sized } from '../support/longRun.js'
import { silent } from '../support/silent.js'

const count = sized(30_000, 1_000_000)
/** On an idle machine; one with much else to do takes longer, and only the long run is alone. */
const limitMs = sized(250, 50)
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

function manyWatches() {
	const rules: WatchRules = {
		...{ network: 'ethereum', tags: ['cold'], kinds: ['transfer'], direction: 'both', minValueWei: 1n },
		...{ receivers: ['hook'], fromBlock: null, watchlist: 'many.yaml' },
	}
	const gathered = createWatchSet()
	const table = gathered.begin('ethereum', 'many.yaml')
	for (let at = 1; at <= count; at++) table.add(addressOf(at), `Customer ${at}`, rules)
	gathered.end([rules])
	return gathered.set()
}

test(`behavior: ${count} watches, ${count} rows and 10,000 waiting deliveries`, { timeout: 300_000 }, async () => {
	const folder = temporaryFolder()
	await writeHistory(folder)
	const watches = manyWatches()
	const waiting = Array.from({ length: 10_000 }, (_, at) => deliveryOf(`wait_${at}`))
	const facts: PageFacts = {
		...{ version: '1.2.3', clock: Date.now, startedAtMs: Date.now(), watches },
		config: { path: 'tracewatch.yaml', loadedAtMs: Date.now(), isRefused: false },
		networks: [{ name: 'ethereum', chainId: 1, symbol: 'ETH', decimals: 18, endpoints: ['node.example.org'] }],
		receivers: [{ name: 'hook', type: 'webhook', place: 'hooks.example.org', fallback: null, silences: [] }],
		health: async () => ({ ok: true, reason: null, networks: [] }),
		summary: async () => ({ networks: new Map(), receivers: new Map() }),
		deliveries: async () => waiting,
		history: openHistory({ kind: 'folder', dir: folder }, Date.now),
		activity: createActivity(Date.now),
		book: () => null,
		announcements: () => [],
		says: ({ data }) => `[ethereum] ${data.id}`,
		checksum: (address: Address) => address,
	}
	const server = await startHttp({
		...{ host: '127.0.0.1', port: 0, version: '1.2.3', scrubber: createScrubber(), log: silent },
		metrics: { text: async () => '', contentType: 'text/plain' },
		health: facts.health,
		pages: (path, params) => pageAt(path, params, () => facts),
	})
	onTestFinished(() => server.close())
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
		const times: number[] = []
		for (let run = 0; run < 11; run++) {
			const beganMs = performance.now()
			const answer = await fetch(`http://127.0.0.1:${server.port}${path}`)
			const body = await answer.text()
			times.push(performance.now() - beganMs)
			expect(answer.status).toBe(200)
			expect(body).toContain('</html>')
		}
		const middleMs = times.sort((one, other) => one - other)[5] ?? 0
		figures.push(`${path.replace(/0x0{10,}/, '0x…')} ${middleMs.toFixed(1)} ms`)
		expect(middleMs, path).toBeLessThan(limitMs)
	}
	console.log(`${count} watches and rows: ${figures.join(', ')}`)

	// However far back it is, it is found by going on.
	const wanted = addressOf(Math.floor(count / 3))
	let next: string | null = 'w999999999'
	let found = 0
	while (next !== null && found === 0) {
		const page: ReturnType<typeof JSON.parse> = await (
			await fetch(`http://127.0.0.1:${server.port}/alerts?format=json&q=${wanted}&before=${next}`)
		).json()
		found = page.alerts.length
		next = page.next
	}
	expect(found).toBe(1)
})
