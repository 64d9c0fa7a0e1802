// Whose balance is asked for though nothing touched it: all of them in their turn, and what it takes.
import { expect, test } from 'vitest'
import { createAuditRotation } from '../../src/audit/auditRotation.js'
import { createWatchTable } from '../../src/config/watchlists/table/watchTable.js'
import type { Part } from '../../src/model/chain.js'
import type { Address } from '../../src/model/glossary.js'
import type { WatchRules } from '../../src/model/watch.js'

const rules: WatchRules = {
	network: 'local',
	tags: [],
	kinds: ['transfer', 'unexplained', 'balance'],
	direction: 'both',
	minValueWei: 1n,
	receivers: [],
	fromBlock: null,
	watchlist: 'all',
}
const addressOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const partOf = (from: number, to: number) => ({ span: { from: BigInt(from), to: BigInt(to) } }) as Part

function tableOf(count: number, ruled: (n: number) => WatchRules = () => rules) {
	const table = createWatchTable(1)
	for (let n = 0; n < count; n++) table.addOnceSince(table.length, addressOf(n), null, ruled(n))
	return table.index
}

test('default: each of 100,000 watches is checked once in 64 blocks, few of them in the first poll', async () => {
	let nowMs = 0
	const rounds = createAuditRotation({ clock: () => nowMs })
	const watches = tableOf(100_000)
	// All want books, and none is kept a second time.
	expect(await rounds.keptOf(watches)).toBe(watches)
	expect(rounds.next(partOf(1, 1), true)).toHaveLength(1_900)
	const seen = new Set<Address>()
	for (let block = 2; block < 66; block++) {
		nowMs += 12_000
		const turns = rounds.next(partOf(block, block), false)
		expect(turns).toHaveLength(1_563)
		for (const address of turns) seen.add(address)
	}
	expect(seen.size).toBe(100_000)
	expect(rounds.slow()).toBeNull()
})

test('behavior: a poll checks at most 16,000, and a rotation longer than 64 blocks is known', async () => {
	let nowMs = 0
	const rounds = createAuditRotation({ clock: () => nowMs })
	await rounds.keptOf(tableOf(100_000))
	rounds.next(partOf(1, 1), false)
	for (let poll = 1; poll <= 7; poll++) {
		nowMs += 600_000
		expect(rounds.next(partOf(poll * 50, poll * 50 + 49), false)).toHaveLength(16_000)
	}
	// 1,563 and 7 times 16,000: it began anew in the last of them.
	expect(rounds.slow()).toEqual({ blocks: 7 * 50 + 49 - 1, minutes: 70 })
})

test('behavior: a watch without books is never checked, one with a threshold in each poll', async () => {
	const rounds = createAuditRotation({ clock: () => 0 })
	const plain: WatchRules = { ...rules, kinds: ['transfer'] }
	const limited: WatchRules = { ...plain, kinds: ['balance'], thresholds: { belowWei: 5n, aboveWei: null } }
	const kept = await rounds.keptOf(tableOf(3_000, (n) => (n === 7 ? limited : n % 3 === 0 ? rules : plain)))
	expect(kept.size).toBe(1_001)
	expect([kept.has(addressOf(1)), kept.has(addressOf(3)), kept.has(addressOf(7))]).toEqual([false, true, true])
	for (let poll = 1; poll < 5; poll++) expect(rounds.next(partOf(poll, poll), false)).toContain(addressOf(7))
	const none = await rounds.keptOf(tableOf(10, () => plain))
	expect(none.size).toBe(0)
	expect(rounds.next(partOf(9, 9), false)).toEqual([])
})

test('behavior: a rotation that starts anew in each poll, as in `once`, checks all within 64 blocks too', async () => {
	const watches = tableOf(20_000)
	const seen = new Set<Address>()
	for (let block = 1_000; block < 1_064; block += 4) {
		const rounds = createAuditRotation({ clock: () => 0 })
		await rounds.keptOf(watches)
		for (const address of rounds.next(partOf(block, block + 3), false)) seen.add(address)
	}
	expect(seen.size).toBe(20_000)
})

test('behavior: above the limit of books, only watches with a threshold have one', async () => {
	const rounds = createAuditRotation({ clock: () => 0, mostBooks: 1_000 })
	const limited: WatchRules = { ...rules, thresholds: { belowWei: 5n, aboveWei: null } }
	const table = (count: number) => tableOf(count, (n) => (n === 7 ? limited : rules))
	expect((await rounds.keptOf(table(1_000))).size).toBe(1_000)
	const few = await rounds.keptOf(table(1_001))
	expect(Array.from({ length: 1_001 }, (_, n) => addressOf(n)).filter((one) => few.has(one))).toEqual([addressOf(7)])
})
