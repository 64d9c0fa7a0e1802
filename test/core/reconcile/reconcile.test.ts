import { describe, expect, test } from 'vitest'
import { deliveriesOf as deliverySteps } from '../../../src/core/outbox/posting.js'
import { rankOf } from '../../../src/core/outbox/urgency.js'
import { type Difference, openQuestions, reconcile, type Sight } from '../../../src/core/reconcile/reconcile.js'
import { finish } from '../../../src/core/steps.js'
import type { Alert, ChainEvent } from '../../../src/model/alert.js'
import type { BlockRef } from '../../../src/model/chain.js'
import type { Hash } from '../../../src/model/glossary.js'
import type { Announcement } from '../../../src/model/state.js'
import { address, alert, blockRef, digest, hash } from '../build.js'

type Located = ReadonlyMap<Hash, BlockRef | null>
const answersOf = (transaction: Located) => ({ transaction, header: new Map([[10n, null]]), reading: new Map() })
const compare = (known: ReadonlyMap<string, Announcement>, seen: Sight, located: Located) =>
	finish(reconcile(known, seen, answersOf(located)))
const missing = (known: ReadonlyMap<string, Announcement>, seen: Sight) =>
	finish(openQuestions(known, seen, answersOf(new Map()))).map(({ entry }) => entry)
const deliveriesOf = (...args: Parameters<typeof deliverySteps>) => finish(deliverySteps(...args))
const announcementOf = (id: string, block: BlockRef, revision = 0): Announcement => ({
	id,
	block,
	txHash: hash(0xabc),
	alerts: [alert(id)],
	status: revision % 2 === 0 ? 'announced' : 'retracted',
	revision,
})
const book = (...entries: readonly Announcement[]) => new Map(entries.map((entry) => [entry.id, entry]))
/** As `alert` of build.ts tells it. */
const event = (block: BlockRef, valueWei = 1n, to = address(2)): ChainEvent => ({
	kind: 'transfer',
	frameType: 'call',
	from: address(1),
	to,
	valueWei,
	txHash: hash(0xabc),
	txIndex: 0,
	traceAddress: [],
	trace: 'root',
	block,
	initiator: null,
})
type Present = Record<string, BlockRef | ChainEvent>
const sight = (from: number, to: number, alerts: readonly Alert[], present: Present): Sight => ({
	span: { from: BigInt(from), to: BigInt(to) },
	alerts,
	judges: () => true,
	present: new Map(Object.entries(present).map(([id, one]) => [id, 'kind' in one ? one : event(one)])),
})

describe('compare', () => {
	test('an event that was not announced is news', () => {
		const { news, announcements, retracted } = compare(
			book(),
			sight(10, 10, [alert('x')], { x: blockRef(10) }),
			new Map(),
		)
		expect(news.map(({ revision }) => revision)).toEqual([0])
		expect(announcements.map(({ id, revision }) => [id, revision])).toEqual([['x', 0]])
		expect(retracted).toEqual([])
	})

	test('behavior: an event that was reported and still stands causes no message', () => {
		const known = book(announcementOf('x', blockRef(10)))
		expect(compare(known, sight(10, 10, [alert('x')], { x: blockRef(10) }), new Map())).toEqual({
			news: [],
			retracted: [],
			announcements: [],
		})
	})

	test('behavior: an event that left the chain is retracted once', () => {
		const known = book(announcementOf('x', blockRef(10)))
		const gone = compare(known, sight(9, 12, [], {}), new Map([[hash(0xabc), null]]))
		expect(gone.retracted.map(({ id, revision }) => [id, revision])).toEqual([['x', 1]])
		const after = book(...gone.announcements)
		expect(missing(after, sight(9, 12, [], {}))).toEqual([])
		expect(compare(after, sight(9, 12, [], {}), new Map()).retracted).toEqual([])
	})

	test('behavior: a transaction mined again in another block of the span is no news', () => {
		const known = book(announcementOf('x', blockRef(10)))
		const difference = compare(known, sight(9, 12, [alert('x')], { x: blockRef(11, 1) }), new Map())
		expect([difference.news, difference.retracted]).toEqual([[], []])
		expect(difference.announcements.map(({ block }) => block)).toEqual([blockRef(11, 1)])
	})

	test('behavior: a transaction that moved to a later block waits for that block', () => {
		const known = book(announcementOf('x', blockRef(10)))
		const moved = compare(known, sight(9, 12, [], {}), new Map([[hash(0xabc), blockRef(15)]]))
		expect(moved.retracted).toEqual([])
		expect(moved.announcements.map(({ block }) => block)).toEqual([blockRef(15)])
	})

	test.each([11, 12])(
		'behavior: a transaction that stands in block %s of blocks 9 to 12 but no longer does this is retracted',
		(number) => {
			const known = book(announcementOf('x', blockRef(10)))
			const difference = compare(known, sight(9, 12, [], {}), new Map([[hash(0xabc), blockRef(number)]]))
			expect(difference.retracted).toHaveLength(1)
		},
	)

	test.each([
		['proved by balances', 'in its block', { proved: true }, blockRef(10), 0],
		['proved by balances', 'in another block', { proved: true }, blockRef(11), 1],
		['not proved', 'in its block', {}, blockRef(10), 1],
	] as const)(
		'behavior: an event %s that a look lacks, its transaction %s',
		(_proof, _place, proof, block, retracted) => {
			const known = book({ ...announcementOf('x', blockRef(10)), ...proof })
			const difference = compare(known, sight(9, 12, [], {}), new Map([[hash(0xabc), block]]))
			expect(difference.retracted).toHaveLength(retracted)
		},
	)

	test.each([
		['the same block: nothing is said', blockRef(10), []],
		['another block: it is sent again', blockRef(10, 1), [2]],
	] as const)('behavior: an event that balances refuted is shown by %s', (_, block, revisions) => {
		const known = book({ ...announcementOf('x', blockRef(10), 1), proved: true })
		const shown = alert('x', { blockHash: block.hash })
		const { news } = compare(known, sight(9, 12, [shown], { x: block }), new Map())
		expect(news.map(({ revision }) => revision)).toEqual(revisions)
	})

	test('behavior: an event that comes back after its retraction is sent again, as the next revision', () => {
		const known = book(announcementOf('x', blockRef(10), 1))
		const difference = compare(known, sight(11, 11, [alert('x')], { x: blockRef(11) }), new Map())
		expect(difference.news.map(({ revision }) => revision)).toEqual([2])
	})

	test('behavior: an event that the rules no longer want, but that is there, is not withdrawn', () => {
		const known = book(announcementOf('x', blockRef(10)))
		expect(compare(known, sight(10, 10, [], { x: blockRef(10) }), new Map()).retracted).toEqual([])
	})

	test.each([
		['another amount', event(blockRef(10, 1), 2n), { valueWei: '2' }],
		['another side', event(blockRef(11, 1), 1n, address(3)), { to: address(3) }],
		['another amount of the same block, as another endpoint tells it', event(blockRef(10), 2n), { valueWei: '2' }],
	])('behavior: %s than was announced is retracted and announced anew', (_name, now, other) => {
		const part = { ...other, blockNumber: Number(now.block.number), blockHash: now.block.hash }
		const known = announcementOf('x', blockRef(10))
		const { news, retracted, announcements } = compare(
			book(known),
			sight(9, 12, [alert('x', part)], { x: now }),
			new Map(),
		)
		expect(retracted).toEqual([{ ...known, status: 'retracted', revision: 1 }])
		expect(news).toEqual([{ alerts: [alert('x', part)], revision: 2, before: known.alerts }])
		expect(announcements).toEqual([
			{ ...known, alerts: [alert('x', part)], block: now.block, status: 'announced', revision: 2 },
		])
	})

	test('behavior: another amount that the rules no longer want is retracted', () => {
		const known = announcementOf('x', blockRef(10))
		const { news, retracted, announcements } = compare(
			book(known),
			sight(9, 12, [], { x: event(blockRef(10, 1), 2n) }),
			new Map(),
		)
		expect([news, retracted]).toEqual([[], [{ ...known, status: 'retracted', revision: 1 }]])
		expect(announcements).toEqual(retracted)
	})

	test('behavior: an event whose amount the balances proved is not replaced by another amount from a trace', () => {
		const known: Announcement = { ...announcementOf('x', blockRef(10)), proved: true }
		const now = event(blockRef(10), 2n)
		expect(compare(book(known), sight(9, 12, [alert('x', { valueWei: '2' })], { x: now }), new Map())).toEqual({
			news: [],
			retracted: [],
			announcements: [],
		})
	})

	test('behavior: a proved event has another amount in the block that replaced its own: it is sent anew', () => {
		const known: Announcement = { ...announcementOf('x', blockRef(10)), proved: true }
		const now = event(blockRef(10, 1), 2n)
		const again = alert('x', { valueWei: '2', blockHash: now.block.hash })
		const { news, retracted } = compare(book(known), sight(9, 12, [again], { x: now }), new Map())
		expect([retracted.map(({ id }) => id), news.map(({ revision }) => revision)]).toEqual([['x'], [2]])
	})

	test('behavior: addresses are the same in any spelling', () => {
		const spelt = alert('x', { from: address(1).toUpperCase(), to: address(2).toUpperCase() })
		const known = { ...announcementOf('x', blockRef(10)), alerts: [spelt] }
		expect(compare(book(known), sight(9, 12, [spelt], { x: blockRef(10, 1) }), new Map()).retracted).toEqual([])
	})

	test('behavior: entries outside the span are left alone', () => {
		const known = book(announcementOf('x', blockRef(8)), announcementOf('y', blockRef(13)))
		expect(missing(known, sight(9, 12, [], {}))).toEqual([])
	})
})

describe('deliveriesOf', () => {
	const posting = { recipientsOf: (name: string) => (name === 'mail' ? ['a@x', 'b@x'] : null), nowMs: 5, digest }
	const difference = (alerts: readonly Alert[]) => ({
		news: [{ alerts, revision: 0 }],
		retracted: [],
		announcements: [],
	})

	test('an alert becomes one delivery for each receiver, and for each recipient of a mail', () => {
		const rows = deliveriesOf(difference([alert('x', {}, ['mail', 'hook'])]), posting)
		expect(rows.map(({ receiver, recipient }) => [receiver, recipient])).toEqual([
			['mail', 'a@x'],
			['mail', 'b@x'],
			['hook', null],
		])
		expect(new Set(rows.map(({ id }) => id)).size).toBe(3)
		for (const row of rows) {
			expect(row.id).toMatch(/^msg_[0-9a-f]{32}$/)
			expect(row.message.data.deliveryId).toBe(row.id)
		}
	})

	test('behavior: the same alert gives the same ids at any time', () => {
		const ids = (nowMs: number) => deliveriesOf(difference([alert('x')]), { ...posting, nowMs }).map(({ id }) => id)
		expect(ids(1)).toEqual(ids(2))
	})

	test('behavior: a corrected alert is sent under no better rank than its retraction', () => {
		const incoming = alert('x', { direction: 'in' })
		const theft = alert('x', { direction: 'out' })
		const gone = (revision: number, one: Alert) => ({ ...announcementOf('x', blockRef(10), revision), alerts: [one] })
		const ranksOf = (all: Difference) => [...new Set(deliveriesOf(all, posting).map(rankOf))]
		const none = { news: [], retracted: [], announcements: [] }
		expect(ranksOf({ ...none, news: [{ alerts: [theft], revision: 0 }] })).toEqual([1])
		expect(ranksOf({ ...none, retracted: [gone(1, theft)] })).toEqual([1])
		expect(ranksOf({ ...none, retracted: [gone(1, incoming)] })).toEqual([3])
		const again = (revision: number, before: Alert) => ({ alerts: [theft], revision, before: [before] })
		expect(ranksOf({ ...none, news: [again(2, theft)] })).toEqual([1])
		expect(ranksOf({ ...none, news: [again(2, incoming)] })).toEqual([3])
		// Nothing says any more under which rank the alert before it was sent.
		expect(ranksOf({ ...none, retracted: [gone(3, theft)] })).toEqual([3])
		expect(ranksOf({ ...none, news: [again(4, theft)] })).toEqual([3])
	})

	test('behavior: a corrected alert comes after its own retraction, and before those of other alerts', () => {
		const [first, second] = [alert('x', {}, ['hook', 'mail']), alert('x', { valueWei: '2' }, ['hook'])]
		const gone = { ...announcementOf('x', blockRef(10), 1), alerts: [first] }
		const other = { ...announcementOf('y', blockRef(10), 1), alerts: [alert('y', {}, ['hook'])] }
		const news = [{ alerts: [second], revision: 2 }]
		const rows = deliveriesOf({ news, retracted: [other, gone], announcements: [] }, posting)
		const said = rows.map(({ receiver, message: { type, data } }) => [type, data.id, receiver])
		expect(said).toEqual([
			['alert.removed', 'x', 'hook'],
			['alert.removed', 'x', 'mail'],
			['alert.removed', 'x', 'mail'],
			['alert.transfer', 'x', 'hook'],
			['alert.removed', 'y', 'hook'],
		])
		expect(new Set(rows.map(({ id }) => id)).size).toBe(5)
	})

	test('behavior: a removal answers the delivery that it takes back, under an id of its own', () => {
		const [first] = deliveriesOf(difference([alert('x', {}, ['hook'])]), posting)
		const announcements = { ...announcementOf('x', blockRef(10), 1), alerts: [alert('x', {}, ['hook'])] }
		const [removal] = deliveriesOf({ news: [], retracted: [announcements], announcements: [] }, posting)
		expect(removal?.message.type).toBe('alert.removed')
		expect(removal?.answers).toBe(first?.id)
		expect(removal?.id).not.toBe(first?.id)
	})
})
