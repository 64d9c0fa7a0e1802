// What pages are made of, and a server of the program's own that shows them.
import { onTestFinished } from 'vitest'
import { createWatchSet } from '../../src/config/watchlists/table/watchTable.js'
import type { AlertData } from '../../src/model/alert.js'
import type { Hash } from '../../src/model/glossary.js'
import type { Announcement } from '../../src/model/state.js'
import type { WatchRules } from '../../src/model/watch.js'
import { isAlarming } from '../../src/notify/text/alarms.js'
import { headline } from '../../src/notify/text/sentence.js'
import { startHttp } from '../../src/ops/httpServer.js'
import { createScrubber } from '../../src/ops/scrub.js'
import type { PageFacts } from '../../src/pages/pageData.js'
import { pageAt } from '../../src/pages/pages.js'
import { addressOf } from '../state/samples.js'
import { silent } from '../support/silent.js'
import { START_MS, standingClock } from '../support/standingClock.js'

export function manyWatches(count: number, label = 'Customer') {
	const rules: WatchRules = {
		...{ network: 'ethereum', tags: ['cold'], kinds: ['transfer'], direction: 'both', minValueWei: 1n },
		...{ receivers: ['hook'], fromBlock: null, watchlist: 'many.yaml' },
	}
	const gathered = createWatchSet()
	const table = gathered.begin('ethereum', 'many.yaml')
	for (let at = 1; at <= count; at++) table.addOnceSince(table.length, addressOf(at), `${label} ${at}`, rules)
	return gathered.set()
}

export function announcedOf(data: AlertData, status: Announcement['status'] = 'announced'): Announcement {
	const facts = { id: data.id, block: { number: BigInt(data.blockNumber), hash: data.blockHash as Hash } }
	const alerts = [{ type: `alert.${data.kind}` as const, data, receivers: ['hook'] }]
	return { ...facts, txHash: data.txHash as Hash, revision: 0, status, alerts }
}

/** The parts of a network's state that pages show. */
export function shownState(parts: Partial<ReturnType<PageFacts['state']>>): ReturnType<PageFacts['state']> {
	return { announcements: new Map(), books: new Map(), contracts: new Map(), ...parts }
}

/** The keys are not the ids, since samples share one. */
export function announcementsOf(all: readonly Announcement[]): ReadonlyMap<string, Announcement> {
	return new Map(all.map((each, at) => [String(at), each]))
}

export function pageFacts(rest: Partial<PageFacts> = {}): PageFacts {
	return {
		...{ version: '1.2.3', clock: standingClock, startedAtMs: START_MS, watches: manyWatches(0) },
		config: { path: 'tracewatch.yaml', loadedAtMs: START_MS, isRefused: false },
		networks: [
			{ name: 'ethereum', chainId: 1, symbol: 'ETH', decimals: 18, explorer: null, endpoints: ['node.example.org'] },
		],
		receivers: [{ name: 'hook', type: 'webhook', place: 'hooks.example.org', fallback: null }],
		health: async () => ({ ok: true, reason: null, networks: [] }),
		summary: async () => ({ networks: new Map(), receivers: new Map() }),
		deliveries: async () => [],
		history: null,
		endpoint: () => null,
		lastAnswer: () => null,
		state: () => null,
		...{ says: headline, isAlarming },
		checksum: (address) => address,
		...rest,
	}
}

/** Resolves to where they are, for this test. */
export async function servePages(facts: () => PageFacts | Promise<PageFacts>): Promise<string> {
	const server = await startHttp({
		...{ host: '127.0.0.1', port: 0, version: '1.2.3', scrubber: createScrubber(), log: silent },
		metrics: { text: async () => '', contentType: 'text/plain' },
		health: async () => (await facts()).health(),
		pages: (path, params) => pageAt(path, params, facts),
	})
	onTestFinished(() => server.close())
	return `http://127.0.0.1:${server.port}`
}
