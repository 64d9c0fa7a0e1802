/** Creates the tables. */

import { StateError } from '../../../errors.js'
import { FORMAT, otherFormat } from '../../stateFormat.js'
import type { Ask, Database } from './database.js'
import { mustBeOurs } from './trust.js'

/**
 * Block numbers and amounts are `numeric`, because they may exceed 64 bits. Times in milliseconds are by the database's
 * clock; see `skew.ts`. A change raises `FORMAT`.
 */
const TABLES = `
	create table tracewatch.version (version int not null);
	create table tracewatch.network (
		name text primary key,
		chain_id bigint not null,
		checkpoint_number numeric not null,
		checkpoint_hash text not null,
		settled_number numeric not null,
		settled_hash text not null,
		updated_at_ms bigint not null,
		-- What the last poll saw beside; null before the first.
		seen jsonb,
		-- Grows with every change of this network; an instance that knows the state of one number need not read it again.
		revision bigint not null,
		-- The revision at which coverage or definitions of backfills last changed.
		coverage_revision bigint not null,
		-- Blocks that could not be read, as src/state/gap.ts writes them; null where there are none.
		gaps json,
		-- The auditor's position, as src/state/auditState.ts writes it; null: it is at the checkpoint.
		audit json
	);
	-- The right to poll a network. Its row stays when no instance has it, so that the epoch keeps growing.
	create table tracewatch.lease (
		network text primary key,
		owner text not null,
		epoch bigint not null,
		expires timestamptz not null,
		-- Its owner gave it back, being unable to poll.
		released boolean not null default false,
		-- Another instance asked for it and did not get it.
		wanted boolean not null default false
	);
	create table tracewatch.announcement (
		network text not null,
		id text not null,
		seq bigint generated always as identity,
		block_number numeric not null,
		block_hash text not null,
		content json not null,
		primary key (network, id)
	);
	create table tracewatch.coverage (
		network text not null,
		address text not null,
		since numeric not null,
		first numeric not null,
		left_at numeric,
		missed json,
		primary key (network, address)
	);
	create table tracewatch.backfill (
		network text not null,
		token text not null,
		id text not null,
		place int not null,
		first numeric not null,
		last numeric not null,
		-- Next block to be scanned; null before the first was.
		next numeric,
		addresses text[] not null,
		primary key (network, token)
	);
	-- The deliveries of one receiver and recipient, taken by one instance at a time.
	create table tracewatch.queue (
		queue text primary key,
		claimed_by text,
		claimed_until timestamptz,
		-- Grows with every claim, and so tells a late answer of an earlier claimer.
		claim bigint not null default 0
	);
	create table tracewatch.delivery (
		-- Far apart, so that what is taken apart finds room between its neighbours.
		seq bigint generated always as identity (increment by 1000) primary key,
		id text not null unique,
		queue text not null,
		receiver text not null,
		created_at_ms bigint not null,
		status text not null,
		attempts int not null,
		next_attempt_at_ms bigint not null,
		last_error json,
		last_error_code text,
		held_by text,
		-- How many it tells.
		alerts int not null,
		alone boolean not null,
		-- Of core/outbox/urgency.ts, lower is sent first.
		rank smallint not null,
		-- Of \`Refused\` in src/model/delivery.ts; null: never refused.
		refused_since_ms bigint,
		refusals int,
		-- All that never changes: recipient, message and the like.
		content json not null
	);
	create index delivery_order on tracewatch.delivery (queue, rank, seq) where status = 'pending';
	create index delivery_status on tracewatch.delivery (receiver, status);
	create table tracewatch.total (
		receiver text primary key,
		delivered bigint not null,
		last_delivered_at_ms bigint
	);
	-- What has left the outbox.
	create table tracewatch.history (
		seq bigint generated always as identity primary key,
		ended_at_ms bigint not null,
		result text not null,
		id text not null,
		receiver text not null,
		created_at_ms bigint not null,
		attempts int not null,
		last_error json,
		answer json,
		content json not null
	);
	create index history_ended on tracewatch.history (ended_at_ms);
	create table tracewatch.payee (
		network text not null,
		address text not null,
		-- Whom it has paid: address and amount, with commas between, the latest last.
		paid text not null,
		primary key (network, address)
	);
	create table tracewatch.kept (name text primary key, content json not null);
	create table tracewatch.book (
		network text not null,
		address text not null,
		-- Last block at which balance and movements were seen to agree, and the balance after it, in wei.
		block numeric not null,
		balance numeric not null,
		-- What moved in the blocks after it that were scanned, in wei.
		moved numeric not null,
		-- Mark of its code, 16 hex digits; empty: it has none; null: not known.
		code text,
		-- No later block is known to have moved the address; null: not known.
		moved_at numeric,
		primary key (network, address)
	) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
	-- Books with unproved movements, of which status names some.
	create index book_waiting on tracewatch.book (network, address) where moved <> 0;
	-- Watches that have code, as src/state/contractText.ts writes them.
	create table tracewatch.contract (
		network text not null,
		address text not null,
		content json not null,
		primary key (network, address)
	);
	insert into tracewatch.version values (${FORMAT})`

/** Advisory lock for schema changes and imports of a state; an arbitrary number. */
const LOCK = 7_274_635_108_214
/** Others that wait for the lock make no tables, or import a state. */
const PATIENCE = `set local lock_timeout = '2min'; set local statement_timeout = '10min'`

/** Creates the tables; instances that start together do it once. Throws StateError `format` or `disk`. */
export async function prepareTables({ ask, host, transact }: Database): Promise<void> {
	if (await hasTables(ask, host)) return
	await transact(async (ask) => {
		await ask(PATIENCE)
		await lockSchema(ask)
		// Another instance may have done it meanwhile.
		if (await hasTables(ask, host)) return
		await mustHoldAnyText(ask)
		await ask('create schema if not exists tracewatch')
		await mustBeOurs(ask, host)
		await ask(TABLES)
	})
}

/** Waits for the lock, and holds it until the end of the transaction. */
export async function lockSchema(ask: Ask): Promise<void> {
	await ask('select pg_advisory_xact_lock($1)', [LOCK])
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
	if (row?.version === FORMAT) return true
	throw otherFormat(`the database at ${host}`, row?.version ?? 'unknown', 'database')
}

async function mustHoldAnyText(ask: Ask): Promise<void> {
	const [row] = await ask<{ server_encoding: string }>('show server_encoding')
	if (row === undefined || ['UTF8', 'SQL_ASCII'].includes(row.server_encoding)) return
	throw new StateError(
		'mismatch',
		`the database keeps text as ${row.server_encoding}, which cannot hold every label: make one with encoding UTF8`,
	)
}
