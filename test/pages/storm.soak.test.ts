// While a storm is delivered, written down and kept, the pages answer as fast as ever.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { createPageFacts } from '../../src/daemon/pageFacts.js'
import { openParts } from '../../src/daemon/parts.js'
import { createScrubber } from '../../src/ops/scrub.js'
import { openHistory } from '../../src/state/open.js'
import { hookServer, settings, treasury, watchlist } from '../program/site.js'
import { deliveryOf } from '../state/samples.js'
import { temporaryFolder } from '../support/folder.js'
import { processorMs } from '../support/processor.js'
import { silent } from '../support/silent.js'
import { servePages } from './facts.js'

const count = 20_000
const middle = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0

/** How much longer by the clock than of the processor: 1 on a calm machine. */
async function crowdedness(): Promise<number> {
	const beganMs = performance.now()
	const taken = await processorMs(() => {
		for (const endMs = performance.now() + 20; performance.now() < endMs; );
	})
	return Math.max(1, (performance.now() - beganMs) / Math.max(1, taken))
}

test(`behavior: ${count} deliveries on their way`, { timeout: 300_000 }, async () => {
	const hook = await hookServer()
	const folder = temporaryFolder()
	writeFileSync(join(folder, 'list.yaml'), watchlist([`{address: ${treasury}}`]))
	writeFileSync(
		join(folder, 'tracewatch.yaml'),
		`${settings('http://127.0.0.1:9/', { hook: hook.origin })}watchlists: [list.yaml]\n`,
	)
	const config = await loadConfig(join(folder, 'tracewatch.yaml'), { env: {}, cwd: folder })
	const parts = await openParts({ config, log: silent, version: '1.2.3', scrubber: createScrubber() })
	const history = await openHistory(config.statePlace)
	try {
		const facts = createPageFacts({
			...{ config, version: '1.2.3', startedAtMs: Date.now(), history },
			observer: { endpoints: new Map(), answers: new Map() },
			inEffect: () => ({ watches: config.watches, loadedAtMs: Date.now(), isRefused: false, isConfigChanged: false }),
			store: parts.store,
			health: async () => ({ ok: true, reason: null, networks: [] }),
		})
		const server = await servePages(facts)
		for (let at = 0; at < count; at += 1_000) {
			await parts.store.post(Array.from({ length: 1_000 }, (_, one) => deliveryOf(`msg_storm_${at + one}`)))
		}
		let isOver = false
		const draining = parts.deliverer.drainOnce(new AbortController().signal).finally(() => {
			isOver = true
		})
		const figures: string[] = []
		const times: Record<string, number[]> = { '/': [], '/alerts': [], '/deliveries': [] }
		const overLimit: number[] = []
		for (let round = 0; !isOver && round < 60; round++) {
			for (const [path, own] of Object.entries(times)) {
				const beganMs = performance.now()
				const answer = await fetch(`${server}${path}`)
				expect(await answer.text()).toContain('</html>')
				own.push(performance.now() - beganMs)
			}
			overLimit.push(await crowdedness())
		}
		const seen = Object.values(times)[0]?.length ?? 0
		// Else the storm was over before anybody looked.
		expect(seen).toBeGreaterThan(10)
		const isCalm = middle(overLimit)
		for (const [path, own] of Object.entries(times)) {
			figures.push(`${path} ${middle(own).toFixed(1)} ms`)
			// Receiver, deliverer and whoever looks share this one process: half of what it takes is theirs.
			expect(middle(own), path).toBeLessThan(10 * 50 * isCalm)
		}
		console.log(`${seen} looks at a storm, machine ${isCalm.toFixed(1)} times as slow as calm: ${figures.join(', ')}`)
		await draining
		expect(hook.hits).toHaveLength(count)
	} finally {
		await history.close()
		await parts.closers.close()
	}
})
