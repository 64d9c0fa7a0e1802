/** Creates and migrates the tables. */

import { StateError } from '../../../errors.js'
import type { Ask, Database } from './database.js'
import { mustBeOurs } from './trust.js'

/**
 * The names are those of version 0.1.0 and stay, because instances of two versions may share a database during an
 * upgrade: `told` holds announcements, `cover` coverage (`owed`: missed), `lane` queues; `ceded` means that a lease was
 * released.
 *
 * Step n migrates from version n to version n + 1 and never changes. Block numbers and amounts are `numeric`, because
 * they may exceed 64 bits. Times in milliseconds are by the database's clock; see `skew.ts`.
 */
const STEPS: readonly string[] = [
	`
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
		-- The revision at which covers or definitions of backfills last changed.
		coverage_revision bigint not null
	);
	-- The right to poll a network. Its row stays when no instance has it, so that the epoch keeps growing.
	create table tracewatch.lease (
		network text primary key,
		owner text not null,
		epoch bigint not null,
		expires timestamptz not null,
		-- Its owner gave it back, being unable to poll.
		ceded boolean not null default false,
		-- Another instance asked for it and did not get it.
		wanted boolean not null default false
	);
	create table tracewatch.told (
		network text not null,
		id text not null,
		seq bigint generated always as identity,
		block_number numeric not null,
		block_hash text not null,
		content json not null,
		primary key (network, id)
	);
	create table tracewatch.cover (
		network text not null,
		address text not null,
		since numeric not null,
		first numeric not null,
		left_at numeric,
		owed json,
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
	create table tracewatch.lane (
		lane text primary key,
		claimed_by text,
		claimed_until timestamptz,
		-- Grows with every claim, and so tells a late answer of an earlier claimer.
		claim bigint not null default 0
	);
	create table tracewatch.delivery (
		-- Far apart, so that what is taken apart finds room between its neighbours.
		seq bigint generated always as identity (increment by 1000) primary key,
		id text not null unique,
		lane text not null,
		receiver text not null,
		created_at_ms bigint not null,
		status text not null,
		attempts int not null,
		next_attempt_at_ms bigint not null,
		last_error json,
		held_by text,
		-- How many it tells.
		alerts int not null,
		alone boolean not null,
		-- All that never changes: recipient, message and the like.
		content json not null
	);
	create index delivery_pending on tracewatch.delivery (lane, seq) where status = 'pending';
	create index delivery_status on tracewatch.delivery (receiver, status);
	create table tracewatch.total (
		receiver text primary key,
		delivered bigint not null,
		last_delivered_at_ms bigint
	);
	`,
	// Here were tables for books and their code (below) that were never released; the last step creates the present ones.
	'',
	// Code of the last failure; null in rows of version 0.1.0.
	'alter table tracewatch.delivery add column last_error_code text',
	`
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
	`,
	`
	-- Blocks that could not be read, as src/state/gap.ts writes them; null where there are none.
	alter table tracewatch.network add column gaps json;
	`,
	`
	create table tracewatch.payee (
		network text not null,
		address text not null,
		-- Whom it has paid: address and amount, with commas between, the latest last.
		paid text not null,
		primary key (network, address)
	);
	`,
	'',
	'create table tracewatch.kept (name text primary key, content json not null)',
	'',
	'',
	`
	do $$ begin
		if exists (select from pg_views where schemaname = 'tracewatch' and viewname = 'book') then
			drop view tracewatch.book, tracewatch.book_sheet;
			drop function tracewatch.brought_up_to_date(), tracewatch.brought_up_to_date_again();
			-- An earlier program that is still running reads the network again, and fails there.
			drop table tracewatch.sheet;
			update tracewatch.network set revision = revision + 1;
		end if;
	end $$;
	drop table if exists tracewatch.book;
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
		primary key (network, address)
	) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
	`,
	`
	-- Of core/outbox/urgency.ts, lower is sent first. What stands here already goes first, in its order.
	alter table tracewatch.delivery add column rank smallint not null default 0;
	drop index tracewatch.delivery_pending;
	create index delivery_order on tracewatch.delivery (lane, rank, seq) where status = 'pending';
	`,
	`
	-- The auditor's position, as src/state/auditState.ts writes it; null: it stands at the checkpoint.
	alter table tracewatch.network add column audit json;
	`,
	`
	-- No later block is known to have moved the address; null: not known.
	alter table tracewatch.book add column moved_at numeric;
	`,
	`
	-- Books with unproved movements, of which status names some.
	create index book_waiting on tracewatch.book (network, address) where moved <> 0;
	`,
	`
	-- Watches that have code, as src/state/contractText.ts writes them.
	create table tracewatch.contract (
		network text not null,
		address text not null,
		content json not null,
		primary key (network, address)
	);
	`,
	// Of `Refused` in src/model/delivery.ts; null: never refused.
	'alter table tracewatch.delivery add column refused_since_ms bigint, add column refusals int',
]

/** Advisory lock for schema changes and imports of a state; an arbitrary number. */
const LOCK = 7_274_635_108_214
/** A change of a large table may take long. */
const PATIENCE = `set local lock_timeout = '2min'; set local statement_timeout = '10min'`

/** Creates or migrates the tables; instances that start together do it once. Throws StateError `newer` or `disk`. */
export async function prepareSchema(database: Database): Promise<void> {
	if ((await schemaVersion(database.ask, database.host)) === STEPS.length) return
	await database.transact(async (ask) => {
		await ask(PATIENCE)
		await lockSchema(ask)
		const found = await schemaVersion(ask, database.host)
		if (found === null) {
			await mustHoldAnyText(ask)
			await ask('create schema if not exists tracewatch')
			// Another instance may have done it meanwhile.
			await mustBeOurs(ask, database.host)
			await ask('create table tracewatch.version (version int not null)')
			await ask('insert into tracewatch.version values (0)')
		}
		for (const step of STEPS.slice(found ?? 0)) if (step !== '') await ask(step)
		await ask('update tracewatch.version set version = $1', [STEPS.length])
	})
}

/** Throws StateError `mismatch` if the tables must be migrated first. */
export function mustBeCurrent(version: number, host: string): void {
	if (version === STEPS.length) return
	throw new StateError(
		'mismatch',
		`the tables of tracewatch in the database at ${host} are those of an earlier version, and nothing was changed. ` +
			'Start this version with them once, or use the earlier one',
	)
}

/** Waits for the lock, and holds it until the end of the transaction. */
export async function lockSchema(ask: Ask): Promise<void> {
	await ask('select pg_advisory_xact_lock($1)', [LOCK])
}

/**
 * Null when this database has no state of tracewatch. Throws StateError `newer`, and `mismatch` when the schema belongs
 * to another program.
 */
export async function schemaVersion(ask: Ask, host: string): Promise<number | null> {
	await mustBeOurs(ask, host)
	// Reads the catalogue's rows, because to_regclass may use what this connection cached before it waited for the lock.
	const [found] = await ask<{ there: boolean }>(
		`select exists (select from pg_tables where schemaname = 'tracewatch' and tablename = 'version') as there`,
	)
	if (!found?.there) return null
	const [row] = await ask<{ version: number }>('select version from tracewatch.version')
	const version = row?.version ?? 0
	if (version <= STEPS.length) return version
	throw new StateError(
		'newer',
		`the state in the database at ${host} was made by a newer tracewatch (version ${version} of its tables; ` +
			`this program knows up to ${STEPS.length}). Nothing was changed. Install the newer program again, ` +
			'or put back the backup made before upgrading.',
	)
}

async function mustHoldAnyText(ask: Ask): Promise<void> {
	const [row] = await ask<{ server_encoding: string }>('show server_encoding')
	if (row === undefined || ['UTF8', 'SQL_ASCII'].includes(row.server_encoding)) return
	throw new StateError(
		'mismatch',
		`the database keeps text as ${row.server_encoding}, which cannot hold every label: make one with encoding UTF8`,
	)
}
