/** The room keeps a state in PostgreSQL. This file creates the tables. */

import { StateError } from '../../errors.js'
import { FORMAT, otherFormat } from '../stateFormat.js'
import type { Ask, Database } from './database.js'
import { mustBeOurs } from './trust.js'

/** Several programs have a state in one database, each under a `name`. A change raises `FORMAT`. */
const TABLES = `
	create table tracewatch.version (version int not null);
	create table tracewatch.head (
		name text primary key,
		-- The instance that may write, until \`expires\`; the epoch grows with each other one.
		owner text not null,
		epoch bigint not null,
		expires timestamptz not null,
		-- Number of the last line.
		seq bigint not null,
		-- The snapshot that a load starts from, and the last line that it holds; empty: there is none.
		snapshot text not null,
		snapshot_seq bigint not null
	);
	create table tracewatch.journal (
		name text not null,
		seq bigint not null,
		-- Names the write, so that one whose answer was lost is recognised.
		batch text not null,
		line text not null,
		primary key (name, seq)
	);
	create table tracewatch.snapshot (
		name text not null,
		id text not null,
		part int not null,
		data text not null,
		primary key (name, id, part)
	);
	-- What has left the outbox.
	create table tracewatch.history (
		name text not null,
		seq bigint not null,
		ended_at_ms bigint not null,
		row text not null,
		primary key (name, seq)
	);
	create index history_ended on tracewatch.history (name, ended_at_ms);
	-- The last good watchlists.
	create table tracewatch.kept (name text not null, key text not null, content json not null, primary key (name, key));
	insert into tracewatch.version values (${FORMAT})`

/** Advisory lock for schema changes; an arbitrary number. */
const LOCK = 7_274_635_108_214
const PATIENCE = `set local lock_timeout = '2min'; set local statement_timeout = '10min'`

/** Creates the tables; instances that start together do it once. Throws StateError `format` or `disk`. */
export async function prepareTables({ ask, host, transact }: Database): Promise<void> {
	if (await hasTables(ask, host)) return
	await transact(async (ask) => {
		await ask(PATIENCE)
		await ask('select pg_advisory_xact_lock($1)', [LOCK])
		// Another instance may have done it meanwhile.
		if (await hasTables(ask, host)) return
		await mustHoldAnyText(ask)
		await ask('create schema if not exists tracewatch')
		await mustBeOurs(ask, host)
		await ask(TABLES)
	})
}

/**
 * False when this database has no state of tracewatch. Throws StateError `format` when it is another version's, and
 * `mismatch` when the schema belongs to another program.
 */
export async function hasTables(ask: Ask, host: string): Promise<boolean> {
	await mustBeOurs(ask, host)
	// Reads the catalogue's rows, because to_regclass may use what this connection cached before it waited for the lock.
	const [found] = await ask<{ there: boolean }>(
		`select exists (select from pg_tables where schemaname = 'tracewatch' and tablename = 'version') as there`,
	)
	if (!found?.there) return false
	const [row] = await ask<{ version: number }>('select version from tracewatch.version')
	// A restore makes the tables first, and fills this one last.
	if (row === undefined) return false
	if (row.version === FORMAT) return true
	throw otherFormat(`the database at ${host}`, row.version, 'database')
}

async function mustHoldAnyText(ask: Ask): Promise<void> {
	const [row] = await ask<{ server_encoding: string }>('show server_encoding')
	if (row === undefined || ['UTF8', 'SQL_ASCII'].includes(row.server_encoding)) return
	throw new StateError(
		'mismatch',
		`the database keeps text as ${row.server_encoding}, which cannot hold every label: make one with encoding UTF8`,
	)
}
