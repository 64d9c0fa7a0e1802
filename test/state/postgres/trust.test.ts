import { afterAll, describe, expect, test } from 'vitest'
import type { Log } from '../../../src/model/ports.js'
import { isInClear } from '../../../src/state/postgres/database.js'
import { peekPostgres } from '../../../src/state/postgres/pgJournal.js'
import { silent } from '../../support/silent.js'
import { standingClock } from '../../support/standingClock.js'
import { openPgStore } from './pgStore.js'
import { startServer } from './server.js'

const server = await startServer()
afterAll(() => server?.stop())

const options = { clock: standingClock, leaseMs: 30_000 }

describe.skipIf(server === null)('a database that others may create in', () => {
	if (server === null) return
	const { sql } = server
	let count = 0

	/** An empty database of the superuser, with a role of ours and one of someone else that may both create in it. */
	async function shared() {
		count += 1
		const name = server?.named(`shared${count}`) ?? ''
		await server?.fresh(name)
		for (const role of ['ours', 'theirs']) {
			await sql(
				`do $$ begin create role ${role} login password 'pw'; exception when duplicate_object then null; end $$`,
			)
			await sql(`grant create on database ${name} to ${role}`)
		}
		const ours = `postgres://ours:pw@127.0.0.1:${server?.port}/${name}`
		/** As someone else. */
		const act = (text: string) => sql(`set role theirs; ${text}; reset role`, [], name)
		return { name, ours, act }
	}

	const refused = { reason: 'mismatch', message: expect.stringContaining('belongs to theirs') }

	test('default: ours is made and opened again, with the rights of a plain role', async () => {
		const { ours } = await shared()
		await (await openPgStore(ours, options)).close()
		await (await openPgStore(ours, options)).close()
	})

	test('error: the schema was made by another role first', async () => {
		const { ours, act } = await shared()
		await act('create schema tracewatch; grant all on schema tracewatch to public')
		await expect(openPgStore(ours, options)).rejects.toMatchObject(refused)
	})

	test('error: a table of another role, with a trigger or policy that would run as us, is not even read', async () => {
		const { name, ours, act } = await shared()
		await act(`create schema tracewatch; grant all on schema tracewatch to public;
			create table tracewatch.loot (who text); grant all on tracewatch.loot to public;
			create table tracewatch.version (version int);
			create function tracewatch.steal() returns boolean language plpgsql as $$
				begin insert into tracewatch.loot values (current_user); return true; end $$;
			create policy p on tracewatch.version using (tracewatch.steal());
			alter table tracewatch.version enable row level security;
			insert into tracewatch.version values (1); grant all on tracewatch.version to public`)
		await expect(openPgStore(ours, options)).rejects.toMatchObject(refused)
		await expect(peekPostgres(ours)).rejects.toMatchObject(refused)
		expect(await sql('select who from tracewatch.loot', [], name)).toEqual([])
	})

	test('error: a trigger of another role on a table of ours', async () => {
		const { name, ours, act } = await shared()
		await (await openPgStore(ours, options)).close()
		await sql('grant usage on schema tracewatch to theirs; grant trigger on tracewatch.journal to theirs', [], name)
		await act(`create schema theirs; create function theirs.run() returns trigger
			language plpgsql as $$ begin return new; end $$;
			create trigger t before insert on tracewatch.journal for each row execute function theirs.run()`)
		await expect(openPgStore(ours, options)).rejects.toMatchObject(refused)
	})

	test('error: others may create in the schema', async () => {
		const { name, ours } = await shared()
		await (await openPgStore(ours, options)).close()
		await sql('grant create on schema tracewatch to public', [], name)
		await expect(openPgStore(ours, options)).rejects.toMatchObject({
			reason: 'mismatch',
			message: expect.stringContaining('everybody'),
		})
	})
})

test.each([
	['postgres://u:p@db.example/x', true],
	['postgres://u:p@db.example/x?sslmode=prefer', false],
	['postgres://u:p@db.example/x?sslmode=allow', false],
	['postgres://u:p@db.example/x?sslmode=verify-full&sslmode=disable', true],
	['postgres://u:p@db.example/x?sslmode=disable&sslrootcert=ca.pem', true],
	['postgres://u:p@db.example/x?sslrootcert=ca.pem', false],
	['postgres://u:p@10.0.0.1/x?sslmode=disable', true],
	['postgres://u:p@db.example/x?sslmode=require', false],
	['postgres://u:p@db.example/x?sslmode=verify-full', false],
	['postgres://u:p@db.example/x?ssl=true', false],
	['postgres://u@db.example/x', true],
	['postgres://u:p@localhost/x', false],
	['postgres://u:p@127.0.0.1/x', false],
	['postgres://u:p@[::1]/x', false],
	['postgres://u:p@/x?host=/run/postgresql', false],
	['postgres://u:p@localhost/x?host=db.example', true],
])('%s: without TLS to another machine: %s', (url, isClear) => {
	expect(isInClear(url)).toBe(isClear)
})

test.each([
	['', 1],
	['?sslmode=verify-full', 0],
])('behavior: without TLS the remedy is named (%s)', async (query, times) => {
	const said: string[] = []
	const log: Log = { ...silent, warn: (_facts, message) => void said.push(message), child: () => log }
	const url = `postgres://u:p@database.invalid/x${query}`
	await expect(openPgStore(url, { ...options, log })).rejects.toMatchObject({ name: 'StateError' })
	expect(said.filter((line) => line.includes('without TLS') && line.includes('sslmode=verify-full'))).toHaveLength(
		times,
	)
})
