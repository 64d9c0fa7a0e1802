/** The tables, made and brought up to date by the program itself. */

import { StateError } from '../../errors.js'
import { rowsToSheets } from './bookSheets.js'
import type { Ask, Database } from './database.js'
import { toShorterMarks } from './shorterMarks.js'
import { mustBeOurs } from './trust.js'

/**
 * The names are those of version 0.1.0, and stay, since instances of two versions may share a database while it is
 * upgraded: `told` holds announcements, `cover` coverage (`owed`: missed), `lane` queues; `ceded` says that a lease was
 * released.
 *
 * Step n leads from version n to version n + 1; what stands here never changes any more. Block numbers and amounts are
 * `numeric`, since they may be larger than 64 bits. Times in milliseconds are by the database's clock; see `skew.ts`.
 */
const STEPS: readonly (string | ((ask: Ask) => Promise<void>))[] = [
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
		-- Grows with every change of this network; whoever knows the state of one number need not read it again.
		revision bigint not null,
		-- The revision at which covers or definitions of backfills last changed.
		coverage_revision bigint not null
	);
	-- The right to poll a network. Its row stays when nobody has it, so that the epoch goes on growing.
	create table tracewatch.lease (
		network text primary key,
		owner text not null,
		epoch bigint not null,
		expires timestamptz not null,
		-- Its owner gave it back, being unable to poll.
		ceded boolean not null default false,
		-- Another asked for it in vain.
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
	`
	create table tracewatch.book (
		network text not null,
		address text not null,
		-- Last block at which balance and movements were seen to agree, and the balance after it, in wei.
		block numeric not null,
		balance numeric not null,
		-- What moved in the blocks after it that were scanned, in wei.
		moved numeric not null,
		primary key (network, address)
	);
	`,
	// Why a delivery failed last, for code to compare; null where 0.1.0 wrote it down.
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
	// Mark of the code of an address, 16 hex digits; empty: it has none; null: not known.
	'alter table tracewatch.book add column code text',
	'create table tracewatch.kept (name text primary key, content json not null)',
	// A row of their own took books six times as much. `book` is a view from here on, which refuses older programs.
	rowsToSheets,
	// And `book_sheet` is one from here on.
	toShorterMarks,
]

/** Held while tables are made or changed, or a whole state is brought in; any number that nobody else uses. */
const LOCK = 7_274_635_108_214
/** Changing a large table may take its time. */
const PATIENCE = `set local lock_timeout = '2min'; set local statement_timeout = '10min'`

/**
 * Makes the tables or brings them up to date; instances that start together do it once. Throws StateError `newer` or
 * `disk`.
 */
export async function prepareSchema(database: Database): Promise<void> {
	if ((await schemaVersion(database.ask, database.host)) === STEPS.length) return
	await database.transact(async (ask) => {
		await ask(PATIENCE)
		await lockSchema(ask)
		const found = await schemaVersion(ask, database.host)
		if (found === null) {
			await mustHoldAnyText(ask)
			await ask('create schema if not exists tracewatch')
			// Somebody may have been quicker since we looked.
			await mustBeOurs(ask, database.host)
			await ask('create table tracewatch.version (version int not null)')
			await ask('insert into tracewatch.version values (0)')
		}
		for (const step of STEPS.slice(found ?? 0)) await (typeof step === 'string' ? ask(step) : step(ask))
		await ask('update tracewatch.version set version = $1', [STEPS.length])
	})
}

/** Throws StateError `mismatch` where the tables of this version are to be brought up to date first. */
export function mustBeCurrent(version: number, host: string): void {
	if (version === STEPS.length) return
	throw new StateError(
		'mismatch',
		`the tables of tracewatch in the database at ${host} are those of an earlier version, and nothing was changed. ` +
			'Start this version with them once, or use the earlier one',
	)
}

/** Waits until nobody else makes tables or brings in a state; until the end of the transaction. */
export async function lockSchema(ask: Ask): Promise<void> {
	await ask('select pg_advisory_xact_lock($1)', [LOCK])
}

/**
 * Null when there is no state of tracewatch in this database. Throws StateError `newer`, and `mismatch` when it is
 * somebody else's.
 */
export async function schemaVersion(ask: Ask, host: string): Promise<number | null> {
	await mustBeOurs(ask, host)
	// By the catalogue's rows: to_regclass may go by what this connection saw before it waited for the lock.
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
