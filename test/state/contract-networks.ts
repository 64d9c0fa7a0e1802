/** The contract's first half: steps of networks, and coverage. */

import { beforeEach, describe, expect, test } from 'vitest'
import { StateError } from '../../src/errors.js'
import type { Contract } from '../../src/model/contract.js'
import type { Delivery } from '../../src/model/delivery.js'
import type { Gap } from '../../src/model/state.js'
import type { Backfill } from '../../src/model/watch.js'
import type { OpenPlace } from './contract.js'
import {
	addressOf,
	announcementOf,
	blockOf,
	commitOf,
	contractOf,
	coverageOf,
	deliveryOf,
	gapOf,
	readState,
} from './samples.js'

const byNumber = (gaps: readonly Gap[]) => new Map(gaps.map((gap) => [gap.block.number, gap]))
const ids = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id)

export function networkContract(at: OpenPlace): void {
	describe('network', () => {
		test('default: null before the first commit', async () => {
			expect(await at.store.network('ethereum')).toBeNull()
			expect((await at.store.summary()).networks.size).toBe(0)
		})

		test('default: a first commit is settled at its checkpoint, and the same after a restart', async () => {
			const made = await at.store.commit(commitOf({ checkpoint: blockOf(100) }))
			const expected = {
				chainId: 1,
				checkpoint: blockOf(100),
				settled: blockOf(100),
				announcements: new Map(),
				covered: new Map(),
				backfills: [],
				updatedAtMs: at.nowMs,
				books: new Map(),
				gaps: new Map(),
				contracts: new Map(),
			}
			expect(await readState(made)).toEqual(expected)
			expect(await readState(await at.store.network('ethereum'))).toEqual(expected)
			expect(await readState(await (await at.reopened()).network('ethereum'))).toEqual(expected)
		})

		test('behavior: networks do not touch each other', async () => {
			await at.store.commit(commitOf({ checkpoint: blockOf(100) }))
			await at.store.commit(commitOf({ network: 'base', chainId: 8453, checkpoint: blockOf(7) }))
			await at.store.commit(commitOf({ checkpoint: blockOf(101) }))
			expect((await at.store.network('base'))?.checkpoint).toEqual(blockOf(7))
			expect((await at.store.network('ethereum'))?.checkpoint).toEqual(blockOf(101))
		})
	})

	describe('commit', () => {
		test('default: absent fields stay as they are', async () => {
			await at.store.commit(
				commitOf({ checkpoint: blockOf(100), settled: blockOf(90), announcements: [announcementOf('a', 95)] }),
			)
			await at.store.commit(commitOf({ deliveries: [deliveryOf('d1')] }))
			const state = await (await at.reopened()).network('ethereum')
			expect(state?.checkpoint).toEqual(blockOf(100))
			expect(state?.settled).toEqual(blockOf(90))
			expect(state?.announcements).toEqual(new Map([['a', announcementOf('a', 95)]]))
			expect(await at.store.deliveries()).toEqual([deliveryOf('d1')])
		})

		test('behavior: whom a watch has paid is kept in order, list by list, also over a restart', async () => {
			const [one, other, payee] = ['0x01', '0x02', '0x03'].map((end) => `0x${end.slice(2).padStart(40, '0')}` as const)
			if (one === undefined || other === undefined || payee === undefined) throw new Error('no addresses')
			const starters = [{ startedBy: 'other' }, { startedBy: 'watch' }, {}] as const
			const list = (...amounts: string[]) =>
				amounts.map((amount, at) => ({ address: payee, amount, ...starters[(at + amounts.length) % 3] }))
			await at.store.commit(commitOf({ checkpoint: blockOf(100), payees: new Map([[one, list('1', '0.5')]]) }))
			await at.store.commit(commitOf({ checkpoint: blockOf(101) }))
			await at.store.commit(commitOf({ payees: new Map([[other, list('7')]]) }))
			await at.store.commit(commitOf({ payees: new Map([[one, list('0.5', '2')]]) }))
			const kept = new Map([
				[one, list('0.5', '2')],
				[other, list('7')],
			])
			expect((await at.store.network('ethereum'))?.payees).toEqual(kept)
			expect((await (await at.reopened()).network('ethereum'))?.payees).toEqual(kept)
		})

		test('behavior: contracts are kept, changed and taken away one by one, and the same after a restart', async () => {
			const plain = contractOf(100)
			const whole = {
				...contractOf(90, { isSafe: true, values: { 'safe.owner 0x01': addressOf(7), 'slot 7': blockOf(9).hash } }),
				undo: [{ block: 99n, values: { owner: '', admin: addressOf(3) }, codeHash: blockOf(4).hash, becameSafe: true }],
				learnt: [
					{
						block: 98n,
						caller: addressOf(1),
						callerHash: blockOf(1).hash,
						callee: addressOf(2),
						calleeHash: blockOf(2).hash,
					},
				],
			} satisfies Contract
			const [one, other] = [addressOf(1), addressOf(2)]
			await at.store.commit(commitOf({ checkpoint: blockOf(100), contracts: new Map([[one, plain]]) }))
			await at.store.commit(commitOf({ contracts: new Map([[other, whole]]) }))
			const both = new Map([
				[one, plain],
				[other, whole],
			])
			expect((await at.store.network('ethereum'))?.contracts).toEqual(both)
			expect((await (await at.reopened()).network('ethereum'))?.contracts).toEqual(both)
			await at.store.commit(commitOf({ contracts: new Map([[one, null]]) }))
			expect((await (await at.reopened()).network('ethereum'))?.contracts).toEqual(new Map([[other, whole]]))
		})

		test('behavior: books are kept, changed and taken away one by one, and the same after a restart', async () => {
			const [one, other] = ['0x01', '0x02'].map((end) => `0x${end.slice(2).padStart(40, '0')}` as const)
			const book = (block: bigint, movedWei = 0n, mark: { readonly code?: string | null } = {}) => {
				return { block, balanceWei: 2n ** 90n + block, movedWei, ...mark }
			}
			const books = async (
				changes: readonly (readonly [`0x${string}` | undefined, ReturnType<typeof book> | null])[],
			) => {
				await at.store.commit(
					commitOf({ books: new Map(changes.flatMap(([key, value]) => (key ? [[key, value]] : []))) }),
				)
			}
			await at.store.commit(commitOf({ checkpoint: blockOf(100) }))
			await books([
				[one, book(100n)],
				[other, book(100n, 0n, { code: 'c0de00ff' })],
			])
			await books([[one, book(101n, -(2n ** 70n), { code: null })]])
			await at.store.commit(commitOf({ checkpoint: blockOf(102) }))
			expect((await readState(await at.store.network('ethereum')))?.books).toEqual(
				new Map([
					[one, book(101n, -(2n ** 70n), { code: null })],
					[other, book(100n, 0n, { code: 'c0de00ff' })],
				]),
			)
			await books([[one, null]])
			const kept = new Map([[other, book(100n, 0n, { code: 'c0de00ff' })]])
			expect((await readState(await at.store.network('ethereum')))?.books).toEqual(kept)
			expect((await readState(await (await at.reopened()).network('ethereum')))?.books).toEqual(kept)
		})

		test('behavior: many books are the same after a restart, and a step changes those that it names', async () => {
			const [count, book] = [3_000, (block: bigint) => ({ block, balanceWei: block * 7n, movedWei: 0n, code: null })]
			const books = new Map(Array.from({ length: count }, (_, n) => [addressOf(n * 977), book(BigInt(n))] as const))
			await at.store.commit(commitOf({ checkpoint: blockOf(100), books }))
			await at.store.commit(commitOf({ checkpoint: blockOf(101), books: new Map([[addressOf(977), book(101n)]]) }))
			const kept = new Map([...books, [addressOf(977), book(101n)]])
			expect((await readState(await (await at.reopened()).network('ethereum')))?.books).toEqual(kept)
		})

		test('behavior: an announcement of the same id takes the place of the one before', async () => {
			await at.store.commit(
				commitOf({ checkpoint: blockOf(100), settled: blockOf(90), announcements: [announcementOf('a', 95)] }),
			)
			const made = await at.store.commit(commitOf({ announcements: [announcementOf('a', 97, 1)] }))
			expect(await readState(made)).toEqual(await readState(await at.store.network('ethereum')))
			expect((await at.store.network('ethereum'))?.announcements).toEqual(new Map([['a', announcementOf('a', 97, 1)]]))
		})

		test('behavior: announcements stay until a commit forgets their blocks', async () => {
			const announcements = [announcementOf('below', 94), announcementOf('at', 95), announcementOf('above', 96)]
			await at.store.commit(commitOf({ checkpoint: blockOf(100), settled: blockOf(90), announcements }))
			await at.store.commit(commitOf({ settled: blockOf(99) }))
			expect((await at.store.network('ethereum'))?.announcements.size).toBe(3)
			await at.store.commit(commitOf({ forgetTo: 95n }))
			expect([...((await (await at.reopened()).network('ethereum'))?.announcements.keys() ?? [])]).toEqual(['above'])
		})

		test('behavior: the head and source of the last poll are in the summary, until the next one', async () => {
			await at.store.commit(commitOf({ checkpoint: blockOf(100) }))
			expect((await at.store.summary()).networks.get('ethereum')?.seen).toBeUndefined()
			await at.store.commit(commitOf({ seen: { head: 107, source: 'trace_block' } }))
			await at.store.commit(commitOf({ settled: blockOf(95) }))
			const again = await at.reopened()
			expect((await again.summary()).networks.get('ethereum')?.seen).toEqual({ head: 107, source: 'trace_block' })
		})

		test('behavior: a checkpoint that is taken back below the settled block takes that along', async () => {
			await at.store.commit(commitOf({ checkpoint: blockOf(100), settled: blockOf(90) }))
			await at.store.commit(commitOf({ checkpoint: blockOf(80) }))
			expect((await at.store.network('ethereum'))?.settled).toEqual(blockOf(80))
		})

		test('behavior: numbers and amounts of any size come back exactly', async () => {
			const huge = { number: 2n ** 63n + 1n, hash: blockOf(1).hash }
			await at.store.commit(commitOf({ checkpoint: huge }))
			expect((await (await at.reopened()).network('ethereum'))?.checkpoint).toEqual(huge)
		})

		test('behavior: deliveries are appended in order, and an id that is there is not added again', async () => {
			await at.store.commit(commitOf({ checkpoint: blockOf(1), deliveries: [deliveryOf('a'), deliveryOf('b')] }))
			const changed = deliveryOf('a', { createdAtMs: 5 })
			await at.store.commit(
				commitOf({ checkpoint: blockOf(2), deliveries: [changed, deliveryOf('c'), deliveryOf('c')] }),
			)
			expect(await at.store.deliveries()).toEqual([deliveryOf('a'), deliveryOf('b'), deliveryOf('c')])
			expect(ids(await (await at.reopened()).deliveries())).toEqual(['a', 'b', 'c'])
		})

		test('behavior: gaps are kept until they are closed; suspected ones are in no summary', async () => {
			const two = gapOf(90, { addresses: [addressOf(1), addressOf(2)] })
			const gaps = [gapOf(95), two, gapOf(99, { openedAtMs: null })]
			await at.store.commit(commitOf({ checkpoint: blockOf(100), gaps: byNumber(gaps) }))
			const after = await at.reopened()
			expect((await after.network('ethereum'))?.gaps).toEqual(byNumber(gaps))
			expect((await after.summary()).networks.get('ethereum')?.gaps).toEqual([two, gapOf(95)])

			const changed = gapOf(95, { reason: 'another “reason” \u{1f40b}' })
			const change = new Map([...byNumber([changed]), [90n, null] as const, [99n, null] as const])
			const made = await at.store.commit(commitOf({ gaps: change }))
			expect(made.gaps).toEqual(byNumber([changed]))
			await at.store.commit(commitOf({ checkpoint: blockOf(101) }))
			expect((await (await at.reopened()).network('ethereum'))?.gaps).toEqual(byNumber([changed]))
			await at.store.commit(commitOf({ gaps: new Map([[95n, null]]) }))
			expect((await (await at.reopened()).network('ethereum'))?.gaps).toEqual(new Map())
		})

		test('behavior: a decision about open gaps is kept, even when a poll writes earlier ones', async () => {
			const gaps = [gapOf(90), gapOf(95), gapOf(99, { openedAtMs: null })]
			await at.store.commit(commitOf({ checkpoint: blockOf(100), gaps: byNumber(gaps) }))
			const numbers = [90n, 95n, 90n, 99n, 7n]
			expect(await at.store.markGaps('ethereum', numbers, { act: 'accept', atMs: 5_000 })).toBe(2)
			expect(await at.store.markGaps('ethereum', [95n], { act: 'accept', atMs: 6_000 })).toBe(1)
			expect(await at.store.markGaps('ethereum', [95n], { act: 'retry', atMs: 7_000 })).toBe(1)
			expect(await at.store.markGaps('elsewhere', [95n], { act: 'retry', atMs: 7_000 })).toBe(0)
			const one = gapOf(90, { acceptedAtMs: 5_000 })
			const two = gapOf(95, { acceptedAtMs: 5_000, wantedAtMs: 7_000 })
			expect((await at.store.network('ethereum'))?.gaps).toEqual(byNumber([one, two, gapOf(99, { openedAtMs: null })]))
			expect((await at.store.summary()).networks.get('ethereum')?.gaps).toEqual([one, two])

			const wider = gapOf(95, { addresses: [addressOf(1)] })
			const told = gapOf(90, { acceptedAtMs: 5_000, isAcceptanceAnnounced: true })
			await at.store.commit(commitOf({ gaps: byNumber([wider, told]) }))
			const after = (await (await at.reopened()).network('ethereum'))?.gaps
			expect(after?.get(95n)).toEqual({ ...two, addresses: [addressOf(1)] })
			expect(after?.get(90n)).toEqual(told)
			// Another block in its place is another matter.
			const hash = blockOf(1).hash
			await at.store.commit(commitOf({ gaps: byNumber([gapOf(95, { block: { number: 95n, hash } })]) }))
			expect((await at.store.network('ethereum'))?.gaps.get(95n)?.acceptedAtMs).toBeUndefined()
		})

		test('behavior: announcements of a gap are remembered until it is closed', async () => {
			const announcements = [announcementOf('a', 90), announcementOf('b', 91)]
			await at.store.commit(commitOf({ checkpoint: blockOf(100), gaps: byNumber([gapOf(91)]), announcements }))
			await at.store.commit(commitOf({ forgetTo: 95n }))
			expect([...((await at.store.network('ethereum'))?.announcements.keys() ?? [])]).toEqual(['b'])
			await at.store.commit(commitOf({ gaps: new Map([[91n, null]]) }))
			await at.store.commit(commitOf({ forgetTo: 95n }))
			expect((await at.store.network('ethereum'))?.announcements.size).toBe(0)
		})

		test('error: another chain id is refused, and nothing of the step is kept', async () => {
			await at.store.commit(commitOf({ checkpoint: blockOf(100) }))
			const step = commitOf({ chainId: 5, checkpoint: blockOf(101), deliveries: [deliveryOf('a')] })
			await expect(at.store.commit(step)).rejects.toMatchObject({
				reason: 'mismatch',
				message: expect.stringMatching(/'ethereum' is of chain 1, but it now says chain 5/),
			})
			expect((await at.store.network('ethereum'))?.checkpoint).toEqual(blockOf(100))
			expect(await at.store.deliveries()).toEqual([])
		})

		test('error: a first step without a checkpoint is refused', async () => {
			await expect(at.store.commit(commitOf({ deliveries: [deliveryOf('a')] }))).rejects.toThrow(StateError)
			expect(await at.store.deliveries()).toEqual([])
		})
	})

	describe('enrol', () => {
		const backfill: Backfill = { id: 'b1', span: { from: 10n, to: 50n }, addresses: [addressOf(1)] }
		const other: Backfill = { id: 'b2', span: { from: 1n, to: 5n }, addresses: [addressOf(2)] }

		beforeEach(async () => {
			await at.store.commit(commitOf({ checkpoint: blockOf(100) }))
		})

		test('default: coverage and backfills are there, also after a restart', async () => {
			const left = coverageOf(5, { leftAt: 90n, missed: [{ from: 1n, to: 4n }] })
			const covered = new Map([
				[addressOf(1), coverageOf(101)],
				[addressOf(2), left],
			])
			const made = await at.store.enrol('ethereum', { covered, backfills: [backfill, other] })
			expect(await readState(made)).toEqual(await readState(await at.store.network('ethereum')))
			const state = await (await at.reopened()).network('ethereum')
			expect(state?.covered).toEqual(covered)
			expect(state?.backfills).toEqual([backfill, other])
			expect((await at.store.summary()).networks.get('ethereum')?.backfills).toEqual([backfill, other])
		})

		test('behavior: changed coverage takes the place of the ones before, others stay', async () => {
			await at.store.enrol('ethereum', { covered: new Map([[addressOf(1), coverageOf(1)]]), backfills: null })
			const change = new Map([[addressOf(1), coverageOf(1, { leftAt: 99n })]]).set(addressOf(2), coverageOf(7))
			await at.store.enrol('ethereum', { covered: change, backfills: null })
			expect((await at.store.network('ethereum'))?.covered).toEqual(change)
		})

		test('behavior: null leaves the backfills, a list replaces them', async () => {
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [backfill, other] })
			await at.store.enrol('ethereum', { covered: new Map([[addressOf(3), coverageOf(1)]]), backfills: null })
			expect((await at.store.network('ethereum'))?.backfills).toEqual([backfill, other])
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [other] })
			expect((await at.store.network('ethereum'))?.backfills).toEqual([other])
		})

		test('behavior: a backfill shrinks as it comes on, and is gone at its end', async () => {
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [backfill] })
			const made = await at.store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 29n } }))
			const rest = { ...backfill, span: { from: 30n, to: 50n } }
			expect(made.backfills).toEqual([rest])
			expect((await (await at.reopened()).network('ethereum'))?.backfills).toEqual([rest])
			await at.store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 49n } }))
			const lastBlock = { ...backfill, span: { from: 50n, to: 50n } }
			expect((await at.store.network('ethereum'))?.backfills).toEqual([lastBlock])
			await at.store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 50n } }))
			expect((await at.store.network('ethereum'))?.backfills).toEqual([])
			expect((await (await at.reopened()).network('ethereum'))?.backfills).toEqual([])
		})

		test('behavior: a backfill enrolled again continues where it was', async () => {
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [backfill] })
			await at.store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 29n } }))
			// As someone saw it who looked before that commit.
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [backfill, other] })
			const rest = { ...backfill, span: { from: 30n, to: 50n } }
			expect((await at.store.network('ethereum'))?.backfills).toEqual([rest, other])
		})

		test('behavior: a new backfill under the id of a finished one is scanned from its beginning', async () => {
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [backfill] })
			await at.store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 50n } }))
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [backfill] })
			expect((await (await at.reopened()).network('ethereum'))?.backfills).toEqual([backfill])
		})

		test('behavior: a backfill that gets another address is scanned from its beginning', async () => {
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [backfill] })
			await at.store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 29n } }))
			const wider = { ...backfill, addresses: [addressOf(1), addressOf(9)] }
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [wider] })
			expect((await at.store.network('ethereum'))?.backfills).toEqual([wider])
		})

		test('behavior: a backfill that begins earlier than before is scanned from its new beginning', async () => {
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [backfill] })
			await at.store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 29n } }))
			const longer = { ...backfill, span: { from: 9n, to: 50n } }
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [longer] })
			expect((await at.store.network('ethereum'))?.backfills).toEqual([longer])
		})

		test('behavior: a backfill that begins later than it had come begins there', async () => {
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [backfill] })
			await at.store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 29n } }))
			const shorter = { ...backfill, span: { from: 40n, to: 50n } }
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [shorter] })
			expect((await at.store.network('ethereum'))?.backfills).toEqual([shorter])
		})

		test('behavior: progress never goes back', async () => {
			await at.store.enrol('ethereum', { covered: new Map(), backfills: [backfill] })
			await at.store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 29n } }))
			await at.store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 19n } }))
			expect((await at.store.network('ethereum'))?.backfills).toEqual([{ ...backfill, span: { from: 30n, to: 50n } }])
		})

		test('behavior: progress of a backfill that is gone is passed over', async () => {
			await at.store.commit(commitOf({ checkpoint: blockOf(101), backfill: { id: 'gone', scannedTo: 29n } }))
			expect((await at.store.network('ethereum'))?.checkpoint).toEqual(blockOf(101))
			expect((await at.store.network('ethereum'))?.backfills).toEqual([])
		})

		test('error: a network without a checkpoint is refused', async () => {
			await expect(at.store.enrol('base', { covered: new Map(), backfills: [] })).rejects.toThrow(StateError)
		})
	})
}
