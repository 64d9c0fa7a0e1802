import { inspect } from 'node:util'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { StateError } from '../../../src/errors.js'
import { openStore } from '../../../src/state/open.js'
import { peekPostgres } from '../../../src/state/postgres/pgJournal.js'
import { standingClock } from '../../support/standingClock.js'
import { addressOf, blockOf, commitOf, coverageOf, deliveryOf } from '../samples.js'
import { openPgStore } from './pgStore.js'
import { PASSWORD, startOwnServer, startServer } from './server.js'

const server = await startServer()
afterAll(() => server?.stop())

const options = { clock: standingClock, leaseMs: 30_000 }

async function refusal(url: string): Promise<StateError> {
	const error = await openPgStore(url, options).then(
		() => null,
		(thrown: unknown) => thrown,
	)
	if (!(error instanceof StateError)) throw new Error('a StateError was expected', { cause: error })
	for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)])
		expect(inspect(error, { depth: 9 })).not.toContain(secret)
	return error
}

describe.skipIf(server === null)('a database', () => {
	if (server === null) return
	const host = `127.0.0.1:${server.port}`

	test.each([
		[
			'of another port',
			() => server.url().replace(`:${server.port}`, ':1'),
			/127\.0\.0\.1:1: the connection was refused: start it.* \(ECONN/,
		],
		[
			'of an unknown host',
			() => server.url().replace('127.0.0.1', 'no-such-host.invalid'),
			/no-such-host\.invalid:\d+: .*host/,
		],
		[
			'with a wrong password',
			() => server.url().replace(/:[^:@]*@/, ':wrong@'),
			/refuses the user or the password: correct .* and restart \(28P01\)/,
		],
		[
			'that takes no writes',
			() => `${server.url()}?options=-c%20default_transaction_read_only%3Don`,
			/is read-only.*: let it take writes, or name the primary .* and restart \(25006\)/,
		],
		['that is not there', () => server.url('nowhere'), /there is no such database; create it first \(3D000\)/],
		[
			'whose certificate is not there',
			() => `${server.url()}?sslmode=verify-full&sslrootcert=/no/such/ca.pem`,
			/the file \/no\/such\/ca\.pem that its URL names: it does not exist/,
		],
	])('error: %s', async (_, url, words) => {
		expect(await refusal(url())).toMatchObject({ reason: 'disk', message: expect.stringMatching(words) })
	})

	test('error: each sslmode but disable is TLS or nothing, and none makes the library print a warning', async () => {
		const warnings: string[] = []
		const note = ({ message }: Error) => void warnings.push(message)
		process.on('warning', note)
		onTestFinished(() => void process.off('warning', note))
		for (const mode of ['verify-full', 'allow', 'prefer', 'require', 'verify-ca', 'no-verify'])
			expect((await refusal(`${server.url()}?sslmode=${mode}`)).message).toMatch(
				/cannot reach .*it offers no TLS: switch/,
			)
		await (await openPgStore(`${await server.fresh('plain')}?sslmode=disable`, options)).close()
		expect(warnings).toEqual([])
	})

	test('error: a user without rights', async () => {
		await server.fresh('guarded')
		const guest = server.named('guest')
		await server.sql(`create role ${guest} login password 'CANARY-pw'`)
		const error = await refusal(server.url('guarded').replace(/tester:[^@]*@/, `${guest}:CANARY-pw@`))
		expect(error.message).toMatch(
			new RegExp(`^cannot use the state in the database at ${host}: this user may not .*CREATE`),
		)
		expect(inspect(error, { depth: 9 })).not.toContain('CANARY')
	})

	test('error: a user that has too many connections is not named', async () => {
		const busy = server.named('busy')
		await server.sql(`create role ${busy} login password 'CANARY-pw' connection limit 0`)
		const error = await refusal(server.url().replace(/tester:[^@]*@/, `${busy}:CANARY-pw@`))
		expect(error.message).toBe(`cannot reach the state in the database at ${host}: it has too many connections (53300)`)
	})

	test('error: text in an encoding that cannot hold every label', async () => {
		await server.sql(`create database ${server.named('latin')} encoding 'LATIN1' template template0`)
		expect(await refusal(server.url('latin'))).toMatchObject({
			reason: 'mismatch',
			message: expect.stringContaining('UTF8'),
		})
	})

	test('default: of instances that start at once on an empty database one has it', async () => {
		const url = await server.fresh('together')
		const opened = await Promise.allSettled(
			Array.from({ length: 6 }, () => openPgStore(url, { ...options, owner: 'one' })),
		)
		const stores = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
		expect(stores).toHaveLength(1)
		for (const one of opened)
			if (one.status === 'rejected')
				expect(one.reason).toMatchObject({
					reason: 'locked',
					message: `the state in the database at ${host} is in use by another instance (one)`,
				})
		await Promise.all(stores.map((store) => store.close()))
		// What is given back is free at once.
		await (await openPgStore(url, options)).close()
	})

	test('behavior: an instance standing by says so, ends when stopped, and takes over from one that ends', async () => {
		const place = { kind: 'postgres', url: await server.fresh('waiting') } as const
		const holder = await openPgStore(place.url, options)
		await holder.commit(commitOf({ checkpoint: blockOf(3) }))
		const stop = new AbortController()
		const stopped = openStore(place, {
			clock: standingClock,
			standBy: { signal: stop.signal, onWait: () => stop.abort() },
		})
		await expect(stopped).rejects.toMatchObject({ name: 'AbortError' })
		const { signal } = new AbortController()
		let waits = 0
		const next = openStore(place, {
			clock: standingClock,
			standBy: { signal, onWait: () => void (++waits === 1 && holder.close()) },
		})
		const store = await next
		expect((await store.network('ethereum'))?.checkpoint).toEqual(blockOf(3))
		expect(waits).toBeGreaterThan(0)
		await store.close()
	})

	test('default: programs of other names have states of their own', async () => {
		const url = await server.fresh('named')
		const [one, eu] = [await openPgStore(url, options), await openPgStore(`${url}?name=eu`, options)]
		await one.commit(commitOf({ checkpoint: blockOf(1) }))
		await eu.commit(commitOf({ checkpoint: blockOf(2) }))
		expect((await one.network('ethereum'))?.checkpoint).toEqual(blockOf(1))
		for (const store of [one, eu]) await store.close()
		expect((await peekPostgres(`${url}?name=eu`))?.whole.networks.get('ethereum')?.checkpoint).toEqual(blockOf(2))
	})

	test('default: a look makes nothing, and sees what others write', async () => {
		const url = await server.fresh('looked')
		expect(await peekPostgres(url)).toBeNull()
		expect(await server.sql(`select from pg_namespace where nspname = 'tracewatch'`, [], 'looked')).toEqual([])
		const store = await openPgStore(url, options)
		await store.commit(commitOf({ checkpoint: blockOf(5), deliveries: [deliveryOf('a')] }))
		const seen = await peekPostgres(url)
		expect([...(seen?.whole.deliveries.values() ?? [])]).toEqual(await store.deliveries())
		expect(seen?.isHeld).toBe(true)
		expect(seen?.whole.networks.get('ethereum')?.checkpoint).toEqual(blockOf(5))
		await store.close()
	})

	test('behavior: cut connections are made anew, and what was asked is done', async () => {
		const url = await server.fresh('cut')
		const store = await openPgStore(url, options)
		for (let number = 1; number <= 20; number++) {
			await server.cutAll()
			await store.commit(commitOf({ checkpoint: blockOf(number), deliveries: [deliveryOf(`d${number}`)] }))
		}
		expect((await store.network('ethereum'))?.checkpoint).toEqual(blockOf(20))
		expect(await store.deliveries()).toHaveLength(20)
		await store.close()
	})

	test('behavior: an acknowledged write is on disk, even where the database is set not to wait for it', async () => {
		const url = await server.fresh('careless')
		await server.sql(`alter database ${server.named('careless')} set synchronous_commit = off`)
		await server.sql(`alter database ${server.named('careless')} set default_transaction_isolation = 'serializable'`)
		const store = await openPgStore(url, options)
		// What a commit runs under is told by the commit itself.
		await server.sql(
			`create table seen (commit text, isolation text);
			create function note() returns trigger language plpgsql as $$ begin
				insert into public.seen
					values (current_setting('synchronous_commit'), current_setting('transaction_isolation'));
				return new; end $$;
			create trigger note after insert on tracewatch.journal execute function note()`,
			[],
			'careless',
		)
		await store.commit(commitOf({ checkpoint: blockOf(1), deliveries: [deliveryOf('a')] }))
		expect(await server.sql('select distinct * from seen', [], 'careless')).toEqual([
			{ commit: 'on', isolation: 'read committed' },
		])
		await store.close()
	})

	test('behavior: the work of a poll on the database does not grow with the number of watches', async () => {
		// What the files beside this one write goes into the same log of a server.
		const own = await startOwnServer()
		onTestFinished(() => own.stop())
		const url = await own.fresh('size')
		// What the database tidies by itself, a minute after so many rows, is no work of a poll.
		await own.sql('alter system set autovacuum = off')
		await own.sql('select pg_reload_conf()')
		await expect.poll(() => own.sql('show autovacuum')).toEqual([{ autovacuum: 'off' }])
		const store = await openPgStore(url, options)
		await store.commit(commitOf({ checkpoint: blockOf(0) }))

		async function written(polls: number): Promise<number> {
			const at = async () =>
				Number((await own.sql<{ at: string }>(`select pg_current_wal_insert_lsn() - '0/0' as at`))[0]?.at)
			await own.sql('checkpoint')
			// The first change of a page after a checkpoint writes all of that page.
			for (let warm = 0; warm < 2; warm++) await store.commit(commitOf({ checkpoint: blockOf(1) }))
			const before = await at()
			for (let poll = 0; poll < polls; poll++) {
				await store.commit(commitOf({ checkpoint: blockOf(2 + poll) }))
			}
			return ((await at()) - before) / polls
		}

		const few = await written(50)
		const covered = new Map(Array.from({ length: 5_000 }, (_, index) => [addressOf(index), coverageOf(index)]))
		await store.enrol('ethereum', { covered, backfills: null })
		const many = await written(50)
		expect((await store.network('ethereum'))?.covered.size).toBe(5_000)
		expect(few).toBeLessThan(2_000)
		expect(many).toBeLessThan(few * 1.5)
		await store.close()
	})
})
