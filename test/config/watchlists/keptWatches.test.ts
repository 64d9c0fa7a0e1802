import { expect, test } from 'vitest'
import { sha256 } from '../../../src/base/sha256.js'
import { keptOf, watchesOf } from '../../../src/config/watchlists/keptWatches.js'
import { createWatchSet } from '../../../src/config/watchlists/watchSet.js'
import type { KeptLists } from '../../../src/model/state.js'
import type { WatchRules, WatchSet } from '../../../src/model/watch.js'
import { addressOf } from '../../state/samples.js'

async function* parsed({ pieces }: Pick<KeptLists, 'pieces'>) {
	for (const piece of pieces()) yield JSON.parse(piece)
}

test('default: what is kept gives the same watches back, whatever their rules hold', async () => {
	const plain: WatchRules = {
		...{ network: 'ethereum', tags: ['cold', '__proto__'], kinds: ['transfer'], direction: 'in' },
		...{ minValueWei: 2n ** 200n, receivers: ['hook'], fromBlock: null, watchlist: 'a.yaml' },
	}
	const rich: WatchRules = {
		...{ ...plain, network: 'base', watchlist: 'b.yaml', fromBlock: 17n },
		silences: [{ kind: 'once', fromMs: 1, toMs: Number.POSITIVE_INFINITY }],
		thresholds: { belowWei: 5n, aboveWei: null },
	}
	const gathered = createWatchSet()
	for (const rules of [plain, rich]) {
		const table = gathered.begin(rules.network, rules.watchlist)
		for (let at = 1; at <= 300; at++) table.add(addressOf(at % 200), at % 3 === 0 ? null : `Label “${at}”`, rules)
		gathered.end([rules])
	}
	const set = gathered.set()
	const again = await watchesOf(parsed(await keptOf(set, 'a')))
	expect([...again]).toEqual([...set])
	expect(again.lists).toEqual(set.lists)
	expect(again.rules).toEqual(set.rules)
	expect(again.networks.get('base')?.index.get(addressOf(7))).toEqual(set.networks.get('base')?.index.get(addressOf(7)))
})

test('behavior: as many rules as watches take no longer than in proportion', async () => {
	const timeOf = async (count: number) => {
		const gathered = createWatchSet()
		const table = gathered.begin('ethereum', 'a.yaml')
		const rules = Array.from(
			{ length: count },
			(_, at): WatchRules => ({
				...{ network: 'ethereum', tags: [], kinds: ['transfer'], direction: 'both', minValueWei: BigInt(at) },
				...{ receivers: ['hook'], fromBlock: null, watchlist: 'a.yaml' },
			}),
		)
		for (const [at, own] of rules.entries()) table.add(addressOf(at), null, own)
		gathered.end(rules)
		const kept = await keptOf(gathered.set(), 'a')
		const pieces = [...kept.pieces()]
		const before = process.cpuUsage()
		expect((await watchesOf(parsed({ pieces: () => pieces }))).length).toBe(count)
		const { user, system } = process.cpuUsage(before)
		return user + system
	}
	await timeOf(2_000)
	expect((await timeOf(32_000)) / (await timeOf(4_000))).toBeLessThan(32)
})

/** `count` watches by the rules of two watchlists; `labelOf` the label of each. */
function setOf(count: number, labelOf: (at: number) => string | null, skipped = -1) {
	const rules = (watchlist: string): WatchRules => ({
		...{ network: 'ethereum', tags: [], kinds: ['transfer'], direction: 'both', minValueWei: 1n },
		...{ receivers: ['hook'], fromBlock: null, watchlist },
	})
	const gathered = createWatchSet()
	for (const own of [rules('a.yaml'), rules('b.yaml')]) {
		const table = gathered.begin('ethereum', own.watchlist)
		for (let at = 0; at < count; at++) {
			if (at === skipped) continue
			table.add(`0x${sha256(`${at}`).slice(0, 40)}`, labelOf(at), own)
		}
		gathered.end([own])
	}
	return gathered.set()
}

test('behavior: an edited, added or removed line changes one piece of its watchlist; all come back', async () => {
	const count = 20_000
	const before = new Set((await keptOf(setOf(count, String), 'a')).pieces())
	expect(before.size).toBeGreaterThan(10)
	const edited = setOf(count, (at) => (at === 777 ? 'Edited' : String(at)))
	for (const after of [edited, setOf(count, String, 9_999), setOf(count + 1, String)]) {
		const pieces = [...(await keptOf(after, 'b')).pieces()]
		// One in each of the two watchlists; a border that comes or goes makes it two.
		expect(pieces.filter((piece) => !before.has(piece)).length).toBeLessThanOrEqual(4)
		expect([...(await watchesOf(parsed({ pieces: () => pieces })))]).toEqual([...after])
	}
})

test('behavior: the key is the same only for the same files and the same rules', async () => {
	const keyOf = async (set: WatchSet, revision: string) => (await keptOf(set, revision)).key
	const first = await keyOf(setOf(3, String), 'a')
	expect(await keyOf(setOf(3, String), 'a')).toBe(first)
	expect(await keyOf(setOf(3, String), 'b')).not.toBe(first)
	const gathered = createWatchSet()
	const own = { ...setOf(3, String).rules[0], minValueWei: 2n } as WatchRules
	gathered.begin('ethereum', 'a.yaml').add(addressOf(1), null, own)
	gathered.end([own])
	expect(await keyOf(gathered.set(), 'a')).not.toBe(first)
})

test('behavior: what an earlier version kept, all in one, is taken', async () => {
	const rules = {
		...{ network: 'ethereum', tags: [], kinds: ['transfer'], direction: 'in', minValueWei: { $bigint: '5' } },
		...{ receivers: ['hook'], fromBlock: null, watchlist: 'a.yaml' },
	}
	const lists = [{ watchlist: 'a.yaml', network: 'ethereum', watches: [[0, addressOf(7), 'Seven']] }]
	async function* whole() {
		yield { lists, rules: [rules] }
	}
	expect([...(await watchesOf(whole()))]).toEqual([
		{ ...rules, minValueWei: 5n, address: addressOf(7), label: 'Seven' },
	])
})
