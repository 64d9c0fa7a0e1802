import { expect, test } from 'vitest'
import { keptOf, watchesOf } from '../../../src/config/watchlists/keptWatches.js'
import { createWatchSet } from '../../../src/config/watchlists/watchSet.js'
import type { WatchRules } from '../../../src/model/watch.js'
import { addressOf } from '../../state/samples.js'

test('default: what is kept gives the same watches back, whatever their rules hold', () => {
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
	const again = watchesOf(JSON.parse([...keptOf(set)].join('')))
	expect([...again]).toEqual([...set])
	expect(again.lists).toEqual(set.lists)
	expect(again.rules).toEqual(set.rules)
	expect(again.networks.get('base')?.index.get(addressOf(7))).toEqual(set.networks.get('base')?.index.get(addressOf(7)))
})

test('behavior: as many rules as watches take no longer than in proportion', () => {
	const timeOf = (count: number) => {
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
		const kept = JSON.parse([...keptOf(gathered.set())].join(''))
		const before = process.cpuUsage()
		expect(watchesOf(kept).length).toBe(count)
		const { user, system } = process.cpuUsage(before)
		return user + system
	}
	timeOf(2_000)
	expect(timeOf(32_000) / timeOf(4_000)).toBeLessThan(32)
})
