/** A state that is taken out of its database, as by an operator who drops it to restore it from a dump. */
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { StateError } from '../../../src/errors.js'
import { openStore } from '../../../src/state/open.js'
import { standingClock } from '../../support/standingClock.js'
import { blockOf, commitOf, deliveryOf } from '../samples.js'
import { openPgStore } from './pgStore.js'
import { startServer } from './server.js'

const server = await startServer()
afterAll(() => server?.stop())

const options = { clock: standingClock, leaseMs: 300_000 }

describe.skipIf(server === null)('a state that vanished', () => {
	if (server === null) return

	test.each([
		['with its schema', 'alter schema tracewatch rename to away', 'alter schema away rename to tracewatch'],
		[
			'with its row',
			'create table away as select * from tracewatch.head; delete from tracewatch.head',
			'insert into tracewatch.head select * from away; drop table away',
		],
		[
			'and left an empty row',
			`create table away as select * from tracewatch.head;
			update tracewatch.head set seq = 0, owner = '', epoch = 0, expires = '-infinity'`,
			'delete from tracewatch.head; insert into tracewatch.head select * from away; drop table away',
		],
		[
			'and whose tables are made, and not filled yet',
			'create table away as select * from tracewatch.version; delete from tracewatch.version',
			'insert into tracewatch.version select * from away; drop table away',
		],
	])('behavior: %s is waited for by the instance that stands by', async (_, drop, restore) => {
		const url = await server.fresh('stood')
		const sql = (text: string) => server.sql(text, [], 'stood')
		const holder = await openPgStore(url, options)
		await holder.commit(commitOf({ checkpoint: blockOf(3), deliveries: [deliveryOf('a')] }))
		const waits: (StateError | null)[] = []
		const onWait = async (away: StateError | null) => {
			waits.push(away)
			if (waits.length === 1) await sql(drop)
			if (waits.length !== 2) return
			await sql(restore)
			await holder.close()
		}
		const standBy = { signal: new AbortController().signal, onWait }
		const next = await openStore({ kind: 'postgres', url }, { clock: standingClock, standBy })
		expect((await next.deliveries()).map(({ id }) => id)).toEqual(['a'])
		expect((await next.network('ethereum'))?.checkpoint).toEqual(blockOf(3))
		await next.close()
		const isGone = {
			reason: 'disk',
			message: expect.stringMatching(/^the database at \S+ no longer holds the state.*restart/),
		}
		expect(waits).toMatchObject([null, isGone])
	})

	test('default: an instance that stood by while no state had begun begins one', async () => {
		const url = await server.fresh('begun')
		const holder = await openPgStore(url, options)
		const standBy = { signal: new AbortController().signal, onWait: () => holder.close() }
		const next = await openStore({ kind: 'postgres', url }, { clock: standingClock, standBy })
		await next.commit(commitOf({ checkpoint: blockOf(1) }))
		await next.close()
	})

	test('behavior: the instance that has it goes on once it is back', async () => {
		const url = await server.fresh('held')
		const sql = (text: string) => server.sql(text, [], 'held')
		const lost: string[] = []
		const store = await openPgStore(url, { ...options, onLost: ({ message }) => lost.push(message) })
		onTestFinished(() => store.close())
		const commit = (number: number) => store.commit(commitOf({ checkpoint: blockOf(number) }))
		await commit(1)
		await sql('alter schema tracewatch rename to away')
		await expect(commit(2)).rejects.toMatchObject({
			reason: 'disk',
			message: expect.stringContaining('its tables are gone'),
		})
		await sql('alter schema away rename to tracewatch')
		await sql('create table away as select * from tracewatch.head; delete from tracewatch.head')
		await expect(commit(2)).rejects.toMatchObject({
			reason: 'disk',
			message: expect.stringContaining('no longer holds the state'),
		})
		// As an instance that was restarted meanwhile, and stopped before its first commit, leaves one.
		await sql(`insert into tracewatch.head select name, '', 1, expires, 0, '', 0 from away`)
		await expect(commit(2)).rejects.toMatchObject({ reason: 'disk' })
		await sql('delete from tracewatch.head; insert into tracewatch.head select * from away')
		await commit(2)
		expect(lost).toEqual([])
		// A dump of an instance before this one.
		await sql(`update tracewatch.head set owner = 'before', epoch = 0`)
		await expect(commit(3)).rejects.toMatchObject({ reason: 'lost' })
		expect(lost).toEqual([expect.stringContaining('older state than this instance has written')])
	})
})
